"""What the default and the report cost: crowds in; seconds, ratios and sizes of pages out."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.crowds import Crowd, annotations
from benchmarks.measure import alternately, seconds

CROWDS = (
    Crowd(400_000),
    Crowd(1_000_000, annotators=200),
    Crowd(200_000, annotators=40, classes=2, answers=9),
    Crowd(500_000, annotators=9, classes=3, answers=9),
)
SETS = ("bluebird", "rte", "dog", "web", "trec")


def default_cost():
    """Seconds of the default and of one Dawid-Skene fit, answers in memory, to labels."""
    from covote.estimators.auto import Auto
    from covote.estimators.dawid_skene import DawidSkene

    rows = []
    for crowd in CROWDS:
        answers, _ = annotations(crowd)
        best = alternately(
            {"auto": lambda a=answers: Auto().fit(a).codes_, "one": lambda a=answers: DawidSkene().fit(a).codes_}
        )
        rows.append({"labels": crowd.labels, "annotators": crowd.annotators, "classes": crowd.classes, **best})
    return rows


def report_pages():
    """Size of the page and seconds after the fit, for the sets of the paper."""
    from covote import load_dataset
    from covote.estimators.registry import make

    rows = []
    with tempfile.TemporaryDirectory(prefix="covote-bench-") as folder:
        for name in SETS:
            fit = make("multispa-ds").fit(load_dataset(name).annotations)
            place = Path(folder) / f"{name}.html"
            taken, _ = seconds(lambda f=fit, p=place: f.report(p), 1)
            rows.append({"set": name, "bytes": place.stat().st_size, "seconds": taken})
    return rows
