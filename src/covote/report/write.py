"""A fitted estimator and what else is known in, the files of the report out."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations import Truth, load_truth
from covote.estimators.base import Aggregator
from covote.output import write_text
from covote.report.charts import charts
from covote.report.collect import Extras, collect
from covote.report.draw import write_figures
from covote.report.facts import Facts
from covote.report.page import page


@dataclass(frozen=True)
class Report:
    """A report that was written: its files, and all it shows."""

    files: tuple[Path, ...]
    facts: Facts = field(repr=False)


def write_report(
    estimator: Aggregator,
    path: str | os.PathLike[str] | None,
    *,
    method: str | None = None,
    truth: Any = None,
    figures: str | os.PathLike[str] | None = None,
    **extras: Any,
) -> Report:
    """Write the page to `path` (None: no page) and, on request, every chart as SVG and PNG into the folder `figures`.

    `truth` is whatever `covote.load_truth` takes, or class codes of the items; `extras` are the fields of `Extras`.
    """
    facts = collect(estimator, method, Extras(truth=truth_codes(estimator, truth), **extras))
    files: list[Path] = []
    if path is not None:
        write_text(Path(path), page(facts))
        files.append(Path(path))
    if figures is not None:
        files += write_figures(charts(facts).values(), Path(figures))
    return Report(tuple(files), facts)


def truth_codes(estimator: Aggregator, truth: Any) -> NDArray[np.int64] | None:
    """Class codes of the items: -1 where the truth does not know them."""
    if truth is None or (isinstance(truth, np.ndarray) and truth.dtype.kind == "i" and truth.ndim == 1):
        return truth
    known = truth if isinstance(truth, Truth) else load_truth(truth)
    return known.codes(estimator.loaded_.annotations)
