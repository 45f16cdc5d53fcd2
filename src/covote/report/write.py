"""A fitted estimator and what else is known in, the files of the report out."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations import Truth, load_truth
from covote.estimators.base import Aggregator
from covote.estimators.compare import compare as run_methods
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
    compare: bool | Iterable[str] = False,
    **extras: Any,
) -> Report:
    """Write the page to `path` (None: no page) and, on request, every chart as SVG and PNG into the folder `figures`.

    `truth` is whatever `covote.load_truth` takes, or class codes of the items. `compare` runs other methods on the same
    answers: those named, or with True all. `extras` are further fields of `Extras`.
    """
    codes = truth_codes(estimator, truth)
    names = None if compare is True else list(compare or ())
    trials = run_methods(estimator.loaded_, truth=codes, methods=names) if names is None or names else []
    facts = collect(estimator, method, Extras(truth=codes, comparison=trials, **extras))
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
