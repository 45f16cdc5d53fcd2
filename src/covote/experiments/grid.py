"""Tidy rows and a layout in, a table of text out: methods down, data sets across, ours beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from covote.experiments.experiment import GridLayout
from covote.experiments.rows import Row
from covote.experiments.settings import REFERENCES

MINUS = "\N{MINUS SIGN}"
_SHORT = {
    "not applicable": "n/a",
    "failed": "failed",
    "not in this version of covote": "missing",
    "no crowd": "no data",
}


@dataclass(frozen=True)
class Cell:
    """One number as text; empty texts where there is none."""

    ours: str
    spread: str = ""  # standard error over trials, or the interval
    paper: str = ""
    difference: str = ""
    best: bool = False  # the least of the column, references aside
    failure: str = ""


@dataclass(frozen=True)
class Column:
    """A data set, at one level where there are several."""

    dataset: str
    level: str  # e.g. "p = 0.5"


@dataclass(frozen=True)
class Grid:
    """A table ready to be printed."""

    title: str
    about: str
    columns: tuple[Column, ...]
    lines: tuple[tuple[str, tuple[Cell | None, ...]], ...]  # (method, a cell a column)

    @property
    def has_paper(self) -> bool:
        return any(cell.paper for _, cells in self.lines for cell in cells if cell)

    @property
    def failures(self) -> tuple[str, ...]:
        """A sentence for each reason why there is no number, with where it happened."""
        places: dict[tuple[str, str], list[str]] = {}
        for method, cells in self.lines:
            for column, cell in zip(self.columns, cells, strict=True):
                if cell is not None and cell.failure:
                    places.setdefault((method, cell.failure), []).append(f"{column.dataset} {column.level}".strip())
        return tuple(f"{method} on {', '.join(where)}: {why}" for (method, why), where in places.items())


def build_grid(rows: Sequence[Row], layout: GridLayout) -> Grid:
    """Lay out the rows of the layout's panel and metric, in the order in which they come."""
    chosen = [
        r
        for r in rows
        if (r.panel, r.metric) == (layout.panel, layout.metric) and (r.level is None or not layout.averaged)
    ]
    places = list(dict.fromkeys((r.dataset, r.level) for r in chosen))
    methods = list(dict.fromkeys(r.method for r in chosen))
    found = {(r.method, r.dataset, r.level): r for r in chosen}
    least = {place: _least([r for r in chosen if (r.dataset, r.level) == place], layout) for place in places}
    lines = tuple(
        (m, tuple(_cell(found[m, *p], layout, least[p]) if (m, *p) in found else None for p in places)) for m in methods
    )
    columns = tuple(Column(d, "" if level is None else f"{layout.variable} = {level:g}") for d, level in places)
    return Grid(layout.title, layout.about, columns, lines)


def _cell(row: Row, layout: GridLayout, least: str) -> Cell:
    ours = number(row.mean, layout)
    if not ours:
        return Cell(short_failure(row.failure), paper=number(row.paper, layout), failure=row.failure)
    difference = row.difference
    return Cell(
        ours,
        spread=_spread(row, layout),
        paper=number(row.paper, layout),
        difference="" if difference is None else _signed(difference, layout),
        best=ours == least and row.method not in REFERENCES,
        failure=row.failure,
    )


def _least(rows: Sequence[Row], layout: GridLayout) -> str:
    values = [r.mean for r in rows if r.mean is not None and r.method not in REFERENCES]
    return number(min(values), layout) if values else ""


def _spread(row: Row, layout: GridLayout) -> str:
    if row.low is not None and row.high is not None:
        return f"{number(row.low, layout)} to {number(row.high, layout)}"
    return f"± {number(row.standard_error, layout)}" if row.standard_error is not None else ""


def number(value: float | None, layout: GridLayout) -> str:
    """The value with the layout's digits; nothing for None."""
    return "" if value is None else f"{layout.scale * value:.{layout.digits}f}"


def _signed(value: float, layout: GridLayout) -> str:
    text = number(abs(value), layout)
    sign = "" if float(text) == 0 else "+" if value > 0 else MINUS
    return f"{sign}{text}"


def short_failure(failure: str) -> str:
    """A word for a table cell.

    >>> short_failure("not applicable: KOS needs two classes.")
    'n/a'
    """
    return next((word for start, word in _SHORT.items() if failure.startswith(start)), "")
