"""`python -m benchmarks.accuracy`: every data set in the data folders x every method -> tables of docs/default.md and
docs/how-to-choose.md.

Error counts ties as fractions; items without truth are left out; an annotator who answers an item twice has its
majority, or the first of a tie. Log-loss raises probabilities to at least 1e-6; calibration error has 15 bins of
confidence.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks import leave_out, situations
from benchmarks.drawn_crowds import drawn_table
from covote import METHODS
from covote.datasets import KNOWN, dataset_names, load_dataset
from covote.engines.memory import MemoryEngine
from covote.errors import CovoteError
from covote.estimators.auto import Auto
from covote.estimators.dawid_skene import DawidSkene, MajorityVote
from covote.default.labelling_functions import one_sided_share
from covote.score import calibration_error, error_rate, log_loss

DOCS = Path(__file__).parent.parent / "docs"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
VOTES, SMOOTHED, PLAIN = "majority-vote", "smoothed votes", "plain Dawid-Skene"


@dataclass(frozen=True)
class Result:
    """One method on one data set."""

    error: float  # percent
    log_loss: float
    calibration: float
    seconds: float


def crowds(names=None):
    """The data sets that hold answers of a crowd, by name."""
    found = [n for n in dataset_names() if n not in KNOWN or KNOWN[n].kind != "uci"]
    out = {}
    for name in names or found:
        try:
            out[name] = load_dataset(name)
        except CovoteError as error:
            print(f"{name}: skipped, {error}")
    return out


def estimators(only=None):
    """Fresh estimators by name: the default first, then every method, then the two references."""
    made = {"auto": Auto(), **{name: METHODS[name] for name in METHODS if name != "auto"}}
    made[SMOOTHED] = MajorityVote()
    made[PLAIN] = DawidSkene(init="majority", smoothing=1e-6, diagonal=0.0)
    return {name: one for name, one in made.items() if only is None or name in only}


def smoothed(shares, annotations):
    """Vote shares with one vote more, spread over the classes."""
    n, K = np.diff(annotations.offsets)[:, None], shares.shape[1]
    return (shares * n + 1 / K) / (n + 1)


def measure(name, estimator, data):
    """Fit and score; None where the method does not apply."""
    truth = data.truth_codes
    start = time.perf_counter()
    try:
        fitted = estimator.fit(data.annotations)
    except CovoteError:
        return None
    seconds = time.perf_counter() - start
    p = fitted.posterior_
    if name == SMOOTHED:
        p = smoothed(p, data.annotations.annotations)
    return Result(100 * error_rate(p, truth), log_loss(p, truth), calibration_error(p, truth), seconds)


def measure_all(data, only=None):
    results = {}
    for name, one in estimators(only).items():
        for crowd, loaded in data.items():
            results[name, crowd] = measure(name, replace(one), loaded)
        print(name, *(f"{r.error:.1f}" if (r := results[name, c]) else "-" for c in data), flush=True)
    return results


def one_sided(data):
    """Names of the crowds of labelling functions: most answers come from annotators who give one label or none."""
    return [
        n for n, d in data.items() if one_sided_share(MemoryEngine(d.annotations.annotations).label_counts()) >= 0.5
    ]


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def cell(result, field, digits, best=None):
    if result is None:
        return "-"
    text = f"{getattr(result, field):.{digits}f}"
    return f"**{text}**" if best is not None and getattr(result, field) <= best + 1e-12 else text


def by_set(results, data, methods, field, digits):
    rows = []
    for crowd in data:
        found = [results[m, crowd] for m in methods]
        best = min(getattr(r, field) for r in found if r is not None)
        rows.append([crowd, *(cell(r, field, digits, best) for r in found)])
    return table(["set", *methods], rows)


def ranks(results, data, methods, field):
    """Mean rank of every method over the sets it runs on; equal values share their ranks."""
    total = {m: [] for m in methods}
    for crowd in data:
        value = {m: getattr(r, field) for m in methods if (r := results[m, crowd]) is not None}
        for m, v in value.items():
            total[m].append(
                1
                + sum(o < v - 1e-9 for o in value.values())
                + 0.5 * (sum(abs(o - v) <= 1e-9 for o in value.values()) - 1)
            )
    return {m: float(np.mean(r)) if r else float("nan") for m, r in total.items()}


def summary(results, data, methods):
    rules = one_sided(data)
    several = [c for c in data if c not in rules]
    rank = ranks(results, data, [m for m in methods if m not in (SMOOTHED, PLAIN)], "error")
    rows = []
    for m in methods:
        ran = [c for c in data if results[m, c] is not None]
        against = {c: results[m, c].error - results[VOTES, c].error for c in ran}
        worst = max(against, key=against.get)
        whole = all(c in ran for c in several)
        mean = f"{np.mean([results[m, c].error for c in several]):.2f}" if whole else "-"
        rows.append(
            [m, mean, *(cell(results[m, c], "error", 1) for c in rules), f"{against[worst]:+.1f} ({worst})"]
            + [f"{rank[m]:.1f}" if m in rank else "-", f"{np.mean([results[m, c].log_loss for c in ran]):.3f}"]
            + [f"{np.mean([results[m, c].calibration for c in ran]):.3f}", f"{len(ran)} of {len(data)}"]
            + [f"{sum(results[m, c].seconds for c in ran):.1f}"]
        )
    head = ["method", f"mean error over {len(several)}", *rules, "worst against majority vote", "mean rank"]
    return table([*head, "log-loss", "calibration error", "runs on", "seconds"], rows)


def bars(results, data):
    """The default against what was asked of it."""
    rules = one_sided(data)
    several = [c for c in data if c not in rules]
    auto = {c: results["auto", c] for c in data}
    mean = np.mean([auto[c].error for c in several])
    worst = max(data, key=lambda c: auto[c].error - results[VOTES, c].error)
    better = sum(auto[c].log_loss < results[SMOOTHED, c].log_loss for c in data)
    unsure = [c for c in data if results[PLAIN, c].calibration > 0.1]
    beaten = [c for c in unsure if auto[c].calibration >= results[PLAIN, c].calibration]
    gap = auto[worst].error - results[VOTES, worst].error
    ece = np.mean([r.calibration for r in auto.values()])
    votes = all(auto[c].error <= results[VOTES, c].error for c in rules)
    rows = [
        [f"mean error over the {len(several)} sets of several labels an annotator", "at most 16.6", f"{mean:.2f}", mean <= 16.6],
        ["labelling functions", "at or below majority vote", "both" if votes else "not both", votes],
        ["worst case against majority vote", "at most +1.0", f"{gap:+.2f} ({worst})", gap <= 1.0],
        ["log-loss below that of smoothed vote shares", "16 of 19 sets", f"{better} of {len(data)}", better >= 16],
        ["mean calibration error", "at most 0.05", f"{ece:.3f}", ece <= 0.05],
        [f"calibration error below plain Dawid-Skene's where that is over 0.1 ({len(unsure)} sets)", "all", f"all but {', '.join(beaten)}" if beaten else "all", not beaten],
    ]  # fmt: skip
    return table(["check", "bar", "measured", "met"], [[*map(str, r[:3]), "yes" if r[3] else "**no**"] for r in rows])


def page(results, data, left_out):
    methods = list(dict.fromkeys(m for m, _ in results))
    shown = ["auto", VOTES, SMOOTHED, PLAIN, *(m for m in methods if m.endswith("-ds") or m == "minmax-entropy")]
    shown = [m for m in dict.fromkeys(shown) if m in methods]
    named = [m for m in methods if m not in (SMOOTHED, PLAIN)]
    parts = [
        "### Against the bars", bars(results, data),
        "### All methods", summary(results, data, methods),
        "### Error in percent, by set", by_set(results, data, named, "error", 2),
        "### Log-loss, by set", by_set(results, data, shown, "log_loss", 3),
        "### Calibration error, by set", by_set(results, data, shown, "calibration", 3),
    ]  # fmt: skip
    return "\n\n".join([*parts, *left_out, "### Crowds that are drawn", drawn_table()])


def write(path, text):
    """Replace what is between the markers."""
    old = path.read_text()
    before, rest = old.split(BEGIN)
    path.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}")


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description=__doc__)
    parser.add_argument("--sets", nargs="*", help="data sets; all that the data folders hold by default")
    parser.add_argument("--methods", nargs="*", help="methods; all by default")
    parser.add_argument("--write", action="store_true", help="write the tables into the two pages")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    data = crowds(chosen.sets)
    results = measure_all(data, chosen.methods)
    if not chosen.write:
        print(summary(results, data, list(dict.fromkeys(m for m, _ in results))))
        return
    rules, named = one_sided(data), [m for m in dict.fromkeys(m for m, _ in results) if m not in (SMOOTHED, PLAIN)]
    write(DOCS / "how-to-choose.md", situations.page(results, data, rules, named))
    write(DOCS / "default.md", page(results, data, leave_out.tables(data, rules)))
    print(f"Written: {DOCS / 'default.md'}, {DOCS / 'how-to-choose.md'}")


if __name__ == "__main__":
    main()
