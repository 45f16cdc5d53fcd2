"""What the report costs: data sets in; seconds and sizes of pages out."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.measure import seconds

SETS = ("bluebird", "rte", "dog", "web", "trec")


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
