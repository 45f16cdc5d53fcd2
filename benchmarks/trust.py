"""What the diagnosis claims, measured on drawn crowds whose truth is known, and how long it takes on real ones.

Run: python -m benchmarks.trust [valley] [copies] [quiet] [coverage] [times]

valley: crowds of the paper's case 2 with shares 1/6, 2/3, 1/6, fitted by MultiSPA-KL, whose optimum is not unique there.
Says how often the diagnosis tells, how much of the true error lies in the flat directions it reports (3 of 152
dimensions), and whether the parameters it names as most free are those that are most wrong. copies: nine judges of
which six take the answer of the first with some probability. quiet: independent crowds, and how many raise an alarm
or are said to hold copies. coverage: how often 90 % intervals hold the truth, for
crowds from thick to thin. times: the AMT sets, in seconds.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from covote.annotations import Annotations, Vocabulary, load
from covote.datasets import dataset_path
from covote.diagnosis import Diagnosis, diagnose_crowd
from covote.diagnosis.flatness import flat_space
from covote.diagnosis.freedom import curvature_of
from covote.engines.memory import MemoryEngine
from covote.estimators.base import Aggregator
from covote.estimators.bootstrapped import intervals_of
from covote.estimators.diagnosed import diagnose
from covote.estimators.registry import make
from covote.intervals import skill, spammer_score
from covote.methods.multispa import multispa
from covote.methods.multispa_kl import multispa_kl
from covote.model import Model
from covote.score import match_classes
from covote.simulate import Crowd, draw, paper_model


def valley(seeds: int = 20, n_items: int = 10_000, answering: float = 0.5) -> dict[str, float]:
    rows = [valley_crowd(seed, n_items, answering) for seed in range(seeds)]
    found = {key: float(np.median([row[key] for row in rows])) for key in rows[0] if key not in _COUNTED}
    return found | {key: float(sum(row[key] for row in rows)) for key in _COUNTED} | {"seeds": seeds}


_COUNTED = ("told", "pulled", "told_or_pulled", "em_identified")


def valley_crowd(seed: int, n_items: int, answering: float) -> dict[str, float]:
    truth = paper_model("case2", prior=[1 / 6, 2 / 3, 1 / 6], seed=seed)
    engine = MemoryEngine(draw(truth, n_items, answering=answering, seed=seed).annotations, threads=1)
    counts = engine.pair_counts()
    start = multispa(counts).model
    assert start is not None
    fitted = multispa_kl(counts, start).model
    assert fitted is not None
    model = match_classes(truth, fitted)
    found = diagnose_crowd(engine, model)
    space = flat_space(counts, model.floored())
    flat = np.concatenate([space.prior, space.confusion.reshape(len(space.prior), -1)], axis=1)[: space.n_flat]
    error = np.concatenate([truth.prior - model.prior, (truth.confusion - model.confusion).ravel()])
    inside = np.linalg.lstsq(flat.T, error, rcond=None)[0] @ flat
    step = curvature_of(engine, space, model.floored()).pull[: space.n_flat] @ flat
    reach = np.abs(flat).max(axis=0)  # how far each parameter goes along the flat directions
    told = found.identifiability.from_pairs.verdict.value != "identified"
    pulled = any("flat valley" in f.title for f in found.findings)
    return {
        "told": told,
        "pulled": pulled,
        "told_or_pulled": told or pulled,
        "em_identified": found.verdict.value == "identified",
        "prior_error": float(np.abs(truth.prior - model.prior).max()),
        "share_in_flat": float(inside @ inside / (error @ error)),
        "pull_cosine": float(step @ inside / np.linalg.norm(step) / np.linalg.norm(inside)),
        "rank_correlation": _rank_correlation(reach, np.abs(error)),
        "lift": _named_error(found, truth, model) / float(np.abs(error).mean()),
    }


def _rank_correlation(a: np.ndarray, b: np.ndarray) -> float:
    ranks = np.stack([np.argsort(np.argsort(x)) for x in (a, b)])
    return float(np.asarray(np.corrcoef(ranks))[0, 1])


def _named_error(found: Diagnosis, truth: Model, model: Model) -> float:
    """Mean error of the parameters that the diagnosis lists as most free."""
    sizes = []
    for move in found.identifiability.from_pairs.largest_moves:
        klass = model.classes.index(move.klass)
        if move.annotator is None:
            sizes.append(abs(truth.prior[klass] - model.prior[klass]))
        else:
            m, label = model.annotators.index(move.annotator), model.classes.index(move.label)
            sizes.append(abs(truth.confusion[m, label, klass] - model.confusion[m, label, klass]))
    return float(np.mean(sizes))


def copied_crowd(
    n_classes: int,
    fidelity: float,
    seed: int,
    *,
    n_items: int = 1500,
    answering: float = 1.0,
    noise: bool = False,
    even: bool = False,
) -> Annotations:
    """Nine judges, right in 60 to 85 % of a class; judges 1 to 6 take the answer of judge 0 in a share `fidelity`.

    Elsewhere they answer by themselves, or with `noise` at random; of all answers a share `answering` is kept. `even`
    judges know all classes alike.
    """
    rng = np.random.default_rng(seed)
    accuracy = rng.uniform(0.6, 0.85, (9, 1 if even else n_classes)) * np.ones(n_classes)
    rest = (1 - accuracy) / (n_classes - 1)
    confusion = rest[:, None, :] + (accuracy - rest)[:, None, :] * np.eye(n_classes)
    model = Model(np.full(n_classes, 1 / n_classes), confusion, tuple(range(n_classes)), tuple(range(9)))
    a = draw(model, n_items, seed=seed).annotations
    table = np.zeros((n_items, 9), int)
    table[a.item, a.annotator] = a.label
    for m in range(1, 7):
        taken = rng.random(n_items) < fidelity
        own = rng.integers(n_classes, size=n_items) if noise else table[:, m]
        table[:, m] = np.where(taken, table[:, 0], own)
    item, annotator = np.nonzero(rng.random(table.shape) < answering)
    return Annotations.from_codes(item, annotator, table[item, annotator], annotators=Vocabulary(range(9)))


def copies(seeds: int = 10) -> Iterator[dict[str, object]]:
    plain: list[dict[str, Any]] = [
        {"n_classes": k, "fidelity": f} for k in (2, 3, 4) for f in (0.6, 0.7, 0.8, 0.9, 0.95)
    ]
    half = [{"n_classes": k, "fidelity": 0.8, "n_items": 1000, "answering": 0.5} for k in (2, 3, 4)]
    blind = [{"n_classes": k, "fidelity": 0.8, "noise": True} for k in (2, 3, 4)]
    even = [{"n_classes": k, "fidelity": 0.8, "n_items": 1000, "noise": True, "even": True} for k in (2, 3, 4)]
    for options in (*plain, *half, *blind, *even):
        found = [diagnose(copied_crowd(**options, seed=s)).dependence for s in range(seeds)]
        votes = np.array([d.effective_votes for d in found])
        yield options | {
            "crowds": seeds,
            "votes": [round(float(v), 2) for v in (votes.min(), votes.max())],
            "between_2_and_5": int(((votes >= 2) & (votes <= 5)).sum()),
            "group_named": sum([g.annotators for g in d.groups] == [tuple(range(7))] for d in found),
        }


def quiet(crowds: int = 250) -> dict[str, int]:
    """Crowds of 5 to 12 independent annotators, two to five classes, 300 items."""
    alarms = groups = 0
    for seed in range(crowds):
        rng = np.random.default_rng(seed)
        M, K = int(rng.integers(5, 13)), int(rng.integers(2, 6))
        accuracy = rng.uniform(0.55, 0.85, (M, K))
        rest = (1 - accuracy) / (K - 1)
        confusion = rest[:, None, :] + (accuracy - rest)[:, None, :] * np.eye(K)
        model = Model(np.full(K, 1 / K), confusion, tuple(range(K)), tuple(range(M)))
        found = diagnose(draw(model, 300, answering=rng.uniform(0.5, 1.0), seed=seed).annotations).dependence
        alarms += any(p.adjusted < 0.05 for p in found.pairs)
        groups += bool(found.groups)
    return {"crowds": crowds, "alarms": alarms, "with_groups": groups}


def thin_crowd(n_annotators: int, n_classes: int, n_items: int, labels: int, seed: int) -> tuple[Crowd, Model]:
    """Each item answered by `labels` annotators, some of whom answer ten times as often as others."""
    rng = np.random.default_rng(seed)
    right = rng.uniform(0.5, 0.95, (n_annotators, n_classes))
    wrong = rng.dirichlet(np.ones(n_classes - 1), size=(n_annotators, n_classes))
    confusion = np.zeros((n_annotators, n_classes, n_classes))
    for k in range(n_classes):
        confusion[:, np.arange(n_classes) != k, k] = wrong[:, k] * (1 - right[:, k, None])
        confusion[:, k, k] = right[:, k]
    model = Model(
        rng.dirichlet(np.full(n_classes, 5.0)), confusion, tuple(range(n_classes)), tuple(range(n_annotators))
    )
    crowd = draw(model, n_items, seed=seed)
    activity = 10 ** rng.uniform(0, 1, n_annotators)
    order = np.argsort(-np.log(rng.random((n_items, n_annotators))) / activity, axis=1)[:, :labels]
    keep = np.zeros((n_items, n_annotators), bool)
    np.put_along_axis(keep, order, values=True, axis=1)
    a = crowd.annotations
    kept = keep[a.item, a.annotator]
    thinned = Annotations.from_codes(
        a.item[kept], a.annotator[kept], a.label[kept], items=a.items, annotators=a.annotators, classes=a.classes
    )
    return Crowd(thinned, crowd.truth, model), model


QUANTITIES = ("confusion", "prior", "accuracy", "bits", "spammer_score", "skill", "class_shares", "error")
BY_ANSWERS = ((1, 4), (5, 9), (10, 19), (20, 49), (50, 10**9))


def coverage(
    n_annotators: int, n_classes: int, n_items: int, labels: int, *, seeds: int = 60, replicates: int = 60
) -> dict[str, float]:
    """How often the intervals hold the truth: every quantity, and accuracy by the answers of the annotator."""
    hits: dict[str, list[float]] = {}
    for seed in range(seeds):
        crowd, truth = thin_crowd(n_annotators, n_classes, n_items, labels, seed)
        estimator = make("multispa-ds", threads=1).fit(crowd.annotations)
        found = intervals_of(estimator, replicates=replicates, seed=seed)
        true = truths(crowd, truth, estimator)
        for name in QUANTITIES:
            r = getattr(found, name)
            hits.setdefault(name, []).extend(np.ravel((true[name] >= r.low) & (true[name] <= r.high)))
        answers = np.bincount(crowd.annotations.annotator, minlength=n_annotators)
        inside = (true["accuracy"] >= found.accuracy.low) & (true["accuracy"] <= found.accuracy.high)
        for low, high in BY_ANSWERS:
            name = f"accuracy, {low} to {high} answers" if high < 10**9 else f"accuracy, {low} answers or more"
            hits.setdefault(name, []).extend(inside[(answers >= low) & (answers <= high)])
    return {name: round(float(np.mean(values)), 3) for name, values in hits.items() if len(values)}


def truths(crowd: Crowd, truth: Model, estimator: Aggregator) -> dict[str, np.ndarray]:
    order = np.argsort([truth.classes.index(c) for c in estimator.model_.classes])
    assert np.array_equal(order, np.arange(len(order)))
    return {
        "confusion": truth.confusion,
        "prior": truth.prior,
        "accuracy": truth.accuracy,
        "bits": truth.informativeness,
        "spammer_score": spammer_score(truth),
        "skill": skill(truth),
        "class_shares": np.bincount(crowd.truth, minlength=truth.n_classes) / len(crowd.truth),
        "error": np.asarray((estimator.posterior_.argmax(axis=1) != crowd.truth).mean()),
    }


def times() -> Iterator[dict[str, object]]:
    for name in ("bluebird", "rte", "dog", "web", "trec"):
        yield {"set": name} | timed(load(str(dataset_path(name) / "crowd.txt")).annotations)
    for n_classes, n_annotators, n_items in ((30, 40, 400), (3, 20_000, 20_000), (3, 100, 600_000)):
        crowd = drawn_thinly(n_classes, n_annotators, n_items)
        yield {"set": f"{n_classes} classes drawn"} | timed(crowd, intervals=False)


def drawn_thinly(n_classes: int, n_annotators: int, n_items: int) -> Annotations:
    """Five answers an item, right in three of four."""
    rng = np.random.default_rng(0)
    item, annotator = np.repeat(np.arange(n_items), 5), rng.integers(n_annotators, size=5 * n_items)
    once = np.unique(item * n_annotators + annotator, return_index=True)[1]
    item, annotator = item[once], annotator[once]
    guess = rng.integers(n_classes, size=len(item))
    label = np.where(rng.random(len(item)) < 0.75, rng.integers(n_classes, size=n_items)[item], guess)
    return Annotations.from_codes(item, annotator, label)


def timed(crowd: Annotations, *, intervals: bool = True) -> dict[str, object]:
    """Seconds of the second diagnosis, the first having compiled what it needs, and of the intervals."""
    diagnose(crowd)
    begin = time.perf_counter()
    found = diagnose(crowd)
    middle = time.perf_counter()
    if intervals:
        intervals_of(make("multispa-ds").fit(crowd))
    return {
        "annotators": crowd.n_annotators,
        "answers": crowd.n_labels,
        "verdict": found.verdict.value,
        "votes": round(found.dependence.effective_votes, 1),
        "diagnosis_s": round(middle - begin, 2),
        "intervals_s": round(time.perf_counter() - middle, 2) if intervals else None,
    }


def main() -> None:
    shapes = {"8 annotators": (8, 2, 200, 6), "40 annotators": (40, 2, 200, 5), "120 annotators": (120, 3, 400, 5)}
    parts: dict[str, Callable[[], Iterable[object]]] = {
        "valley": lambda: [valley()],
        "copies": copies,
        "quiet": lambda: [quiet()],
        "coverage": lambda: ({"crowd": name} | coverage(*shape) for name, shape in shapes.items()),
        "times": times,
    }
    for name in sys.argv[1:] or parts:
        begin = time.perf_counter()
        for row in parts[name]():
            print(json.dumps(row), flush=True)
        print(f"# {name}: {time.perf_counter() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
