"""Measurements in, tidy rows out: mean and standard error over trials, beside the paper's number."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from importlib.resources import files
from io import StringIO
from typing import Any

from covote.experiments.run import Measured

METRICS = {"error": "error_percent", "error_named": "error_percent", "mse": "mse", "seconds": "seconds"}
"""What is measured, and how the paper's tables call it."""


@dataclass(frozen=True)
class Row:
    """One number of an experiment. Errors are in percent, times in seconds."""

    experiment: str
    panel: str
    dataset: str
    level: float | None  # probability of answering, or number of annotators; None: averaged, or there is none
    method: str
    metric: str  # error, error_named, mse or seconds
    mean: float | None
    standard_error: float | None  # over trials
    low: float | None  # 90 % interval of an error on real data
    high: float | None
    trials: int
    paper: float | None
    failure: str = ""

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        return None if self.mean is None or self.paper is None else self.mean - self.paper


def tidy(
    experiment: str,
    measured: Iterable[Measured],
    metrics: Sequence[str],
    *,
    name: Callable[[Measured], str] = lambda m: m.unit.crowd.dataset,
    over_levels: bool = False,
    paper: bool = True,
) -> list[Row]:
    """One row for each panel, data set, level, method and metric.

    `name` gives the data set's name in the table; with `over_levels` the levels are averaged too (the runtime
    tables). `paper=False` leaves the paper's numbers out, where the protocol is not the paper's.
    """
    groups: dict[tuple[str, str, float | None, str], list[Measured]] = {}
    for m in measured:
        level = None if over_levels else m.unit.crowd.level
        groups.setdefault((m.unit.panel, name(m), level, m.method), []).append(m)
    return [
        _row(experiment, key, metric, group, published(experiment, metric, *key[1:]) if paper else None)
        for metric in metrics
        for key, group in groups.items()
    ]


def _row(experiment: str, key: Any, metric: str, group: list[Measured], paper: float | None) -> Row:
    panel, dataset, level, method = key
    scale = 100.0 if metric.startswith("error") else 1.0
    found = [getattr(m.measurement, metric) for m in group]
    values = [scale * v for v in found if v is not None and math.isfinite(v)]
    mean = sum(values) / len(values) if values else None
    failure = next((m.measurement.failure for m in group if m.measurement.failure), "")
    ends: list[float | None] = [None, None]
    if metric == "error" and len(group) == 1:  # over trials, their spread says more than an interval
        found_ends = (group[0].measurement.low, group[0].measurement.high)
        ends = [None if end is None else scale * end for end in found_ends]
    return Row(
        experiment,
        panel,
        dataset,
        level,
        method,
        metric,
        mean,
        _standard_error(values),
        ends[0],
        ends[1],
        len(values),
        paper,
        failure,
    )


def _standard_error(values: Sequence[float]) -> float | None:
    n = len(values)
    if n < 2:
        return None
    mean = sum(values) / n
    return math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1) / n)


def published(experiment: str, metric: str, dataset: str, level: float | None, method: str) -> float | None:
    """The paper's number, or None where it gives none.

    >>> published("amt", "error", "web", None, "multispa-kl")
    14.58
    """
    return _paper().get((experiment, METRICS[metric], dataset, level, method)) if metric != "error_named" else None


@lru_cache(maxsize=1)
def _paper() -> dict[tuple[str, str, str, float | None, str], float]:
    text = files("covote.experiments").joinpath("paper.csv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {
        (r["table"], r["metric"], r["dataset"], float(r["level"]) if r["level"] else None, r["method"]): float(
            r["value"]
        )
        for r in csv.DictReader(lines)
    }


def to_csv(rows: Iterable[Row]) -> str:
    """The rows as CSV text with a header, numbers in full."""
    out = StringIO()
    writer = csv.DictWriter(out, [*(f.name for f in fields(Row)), "difference"], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({**asdict(row), "difference": row.difference})
    return out.getvalue()
