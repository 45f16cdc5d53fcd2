"""Do intervals of rates hold what they promise? Drawn panels and real crowds in, coverage and widths as a table out.

`python -m benchmarks.rate [drawn] [real] [systems] [model]`; real crowds are read from COVOTE_DATA. A random part of the truth
serves as gold, many times over; the aim is the share among all items with truth. Nothing is tuned on the real crowds.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import numpy as np

import covote
from covote.annotations import Annotations, Vocabulary, load_truth
from covote.rates import Items, Settings
from covote.rates.estimate import UNKNOWN
from covote.rates.measure import compare, share_of

WAYS = ("gold", "corrected", "stratified")


def draw_panel(rng, *, items=1500, share=0.5, skills=(0.9, 0.85, 0.8)):
    """Answers of independent judges, and the truth (0 or 1)."""
    truth = (rng.random(items) < share).astype(np.int64)
    right = rng.random((items, len(skills))) < np.array(skills)
    return np.where(right, truth[:, None], 1 - truth[:, None]), truth


def panels():
    """Drawn panels by name: excellent, good, weak and single judges; shares from rare to common."""
    judges = {
        "excellent": (0.96, 0.95, 0.94, 0.93, 0.92),
        "good": (0.9, 0.85, 0.8),
        "weak": (0.7, 0.65, 0.6),
        "one judge": (0.85,),
    }
    for name, skills in judges.items():
        for share in (0.1, 0.3, 0.5, 0.8):
            yield f"{name}, share {share}", skills, share


def probability_of(table, code):
    """Pr(class) of every item, fitted without gold."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return covote.aggregate(table).posterior_[:, code]


def coverage(probability, truth, n, settings, *, draws, rng):
    """{way: (coverage, mean width)} over random gold subsets of size n, and of the published estimate."""
    aim = truth.mean()
    held, width, counted = (dict.fromkeys((*WAYS, "published"), 0.0) for _ in range(3))
    for _ in range(draws):
        gold = np.full(len(truth), UNKNOWN)
        chosen = rng.choice(len(truth), n, replace=False)
        gold[chosen] = truth[chosen]
        share = share_of(Items(probability, gold), settings)
        for way in held:
            e = share.estimate if way == "published" else getattr(share, way)
            held[way] += e.low - 1e-12 <= aim <= e.high + 1e-12
            width[way] += e.width
            counted[way] += 1
    return {way: (held[way] / counted[way], width[way] / counted[way]) for way in held}


def drawn(draws=400, sizes=(50, 150), seed=0):
    """Rows (name, n, {way: (coverage, width)}) of drawn panels."""
    rng = np.random.default_rng(seed)
    for name, skills, share in panels():
        table, truth = draw_panel(rng, share=share, skills=skills)
        probability = probability_of(table, 1)
        for n in sizes:
            yield name, n, coverage(probability, truth, n, Settings(), draws=draws, rng=rng)


def read_crowd(folder):
    """Answers to items with truth, and the truth, of a folder of labels.csv and truth.csv."""
    a = covote.load(str(folder / "labels.csv"), duplicates="first").annotations
    truth = load_truth(str(folder / "truth.csv")).codes(a)
    keep = np.flatnonzero((truth >= 0) & (np.diff(a.offsets) > 0))
    place = np.full(a.n_items, -1)
    place[keep] = np.arange(len(keep))
    inside = place[a.item] >= 0
    small = Annotations.from_codes(
        place[a.item[inside]],
        a.annotator[inside],
        a.label[inside],
        items=Vocabulary(np.arange(len(keep))),
        annotators=a.annotators,
        classes=a.classes,
    )
    return small, truth[keep]


def real(draws=400, sizes=(50, 150), seed=0, names=None):
    """The same of the crowds in the data folder; the positive class is the commonest one."""
    rng = np.random.default_rng(seed)
    for folder in sorted((Path(os.environ["COVOTE_DATA"]) / "dev").iterdir()):
        if names is not None and folder.name not in names:
            continue
        answers, truth = read_crowd(folder)
        code = int(np.bincount(truth).argmax())
        if len(truth) < 2 * min(sizes):
            continue
        probability = probability_of(answers, code)
        for n in sizes:
            if 2 * n <= len(truth):
                positive = (truth == code).astype(np.int64)
                yield folder.name, n, coverage(probability, positive, n, Settings(), draws=draws, rng=rng)


def systems(draws=400, seed=0):
    """Rows (name, n, {"difference": (coverage, width)}) of two systems on the same inputs, gold chosen by input."""
    rng = np.random.default_rng(seed)
    for sampled in (False, True):
        for likeness in (0.0, 0.7):
            for n in (50, 150):
                held = width = loose = 0.0
                for _ in range(draws):
                    both, aim = _two_systems(rng, 600, n, likeness, sampled=sampled)
                    plain = [Items(i.probability, i.gold) for i in both]
                    s = Settings(sampled=sampled)
                    shares = [share_of(i, s) for i in both]
                    d = compare("A", "B", *both, *shares, s)
                    held += d.low <= aim <= d.high
                    width += d.high - d.low
                    unpaired = compare("A", "B", *plain, *shares, s)
                    loose += unpaired.high - unpaired.low
                name = f"{'sampled' if sampled else 'these items'}, likeness {likeness}"
                yield name, n, {"difference": (held / draws, width / draws), "not paired": (np.nan, loose / draws)}


def _two_systems(rng, inputs, n, likeness, *, sampled):
    """Items of two systems whose outcomes are alike with this chance; judges right in 80 % of the items."""
    luck = rng.random(inputs)
    alike = rng.random(inputs) < likeness
    own = [np.where(alike, luck, rng.random(inputs)) for _ in range(2)]
    truths = [(u < share).astype(np.int64) for u, share in zip(own, (0.7, 0.6), strict=True)]
    chosen = rng.choice(inputs, n, replace=False)
    both = []
    for truth in truths:
        answer = np.where(rng.random(inputs) < 0.8, truth, 1 - truth)
        gold = np.full(inputs, UNKNOWN)
        gold[chosen] = truth[chosen]
        both.append(Items(np.where(answer == 1, 0.85, 0.25), gold, np.arange(inputs)))
    return both, 0.1 if sampled else truths[0].mean() - truths[1].mean()


def model(draws=15, seed=0):
    """Rows (name, 0, {"model": (coverage, width)}) of fresh drawn panels without any gold."""
    rng = np.random.default_rng(seed)
    for name, skills, share in panels():
        held = width = 0.0
        for _ in range(draws if len(skills) > 2 else 1):
            table, truth = draw_panel(rng, items=800, share=share, skills=skills)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = covote.rate(table, positive=1, method="majority-vote")
            held += found.low <= truth.mean() <= found.high
            width += found.high - found.low
        count = draws if len(skills) > 2 else 1
        yield name, 0, {"model": (held / count, width / count)}


def show(title, rows):
    """Print a table and its means."""
    rows = list(rows)
    ways = list(rows[0][2])
    print(f"## {title}: coverage (width) of 90 % intervals")
    print(f"{'crowd':<28} {'gold':>4}  " + "  ".join(f"{w:>14}" for w in ways))
    for name, n, found in rows:
        print(f"{name:<28} {n:>4}  " + "  ".join(f"{found[w][0]:6.3f} ({found[w][1]:.3f})" for w in ways))
    means = {w: (np.mean([f[w][0] for *_, f in rows]), np.mean([f[w][1] for *_, f in rows])) for w in ways}
    print(f"{'mean':<28} {'':>4}  " + "  ".join(f"{means[w][0]:6.3f} ({means[w][1]:.3f})" for w in ways))
    if "published" in ways:
        c = np.array([f["published"][0] for *_, f in rows])
        ratio = np.array([f["published"][1] / f["gold"][1] for *_, f in rows])
        print(f"published: {np.mean(c < 0.86):.0%} of rows below 0.86, {np.mean(c > 0.94):.0%} above 0.94; width / gold alone: "
              f"mean {ratio.mean():.2f}, largest {ratio.max():.2f}, at most 2/3 in {np.mean(ratio <= 2 / 3):.0%} of rows\n")  # fmt: skip


def main():
    parts = {"drawn": drawn, "real": real, "systems": systems, "model": model}
    for name in sys.argv[1:] or parts:
        show(name, parts[name]())


if __name__ == "__main__":
    main()
