"""`python -m benchmarks.cost`: what the default costs beside one Dawid-Skene fit, in the same process, in turns."""

from __future__ import annotations

import warnings

from benchmarks.crowds import Crowd, annotations
from benchmarks.markdown import table
from benchmarks.measure import alternately

CROWDS = (
    Crowd(200_000),
    Crowd(111_111, annotators=9, classes=2, answers=9),
    Crowd(1_000_000, annotators=200),
    Crowd(555_556, annotators=9, classes=3, answers=9),
)


def default_cost():
    """Seconds of the default and of one Dawid-Skene fit from votes, answers in memory, to labels; best of three."""
    from covote.estimators.auto import Auto
    from covote.estimators.dawid_skene import DawidSkene

    rows = []
    for crowd in CROWDS:
        answers, _ = annotations(crowd)
        works = {
            "auto": lambda a=answers: Auto().fit(a).codes_,
            "one": lambda a=answers: DawidSkene(init="majority").fit(a).codes_,
        }
        best = alternately(works)
        rows.append({"labels": crowd.labels, "annotators": crowd.annotators, "classes": crowd.classes, **best})
    return rows


def tables():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = default_cost()
    rows = [
        [
            f"{r['labels']:,}",
            r["annotators"],
            r["classes"],
            f"{r['auto']:.2f}",
            f"{r['one']:.2f}",
            f"{r['auto'] / r['one']:.1f}",
        ]
        for r in found
    ]
    head = ["answers", "annotators", "classes", "auto, seconds", "one Dawid-Skene fit, seconds", "ratio"]
    return ["### Cost", "Answers in memory, to labels; best of three, in turns.", table(head, rows)]


if __name__ == "__main__":
    print("\n\n".join(tables()))
