"""Past answers of annotators: a table of annotator, class, label, count in, counts by name out."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from covote.errors import InputError

COLUMNS = ("annotator", "class", "label", "count")
_SYNONYMS = {"annotator": ("worker",), "class": ("true_label", "truth"), "label": (), "count": ("n",)}


@dataclass(frozen=True, eq=False)
class History:
    """How often an annotator gave a label to items of a class, before the answers at hand."""

    counts: Mapping[tuple[Hashable, Hashable, Hashable], float]  # (annotator, class, label)

    @property
    def classes(self) -> tuple[Hashable, ...]:
        """All classes and labels named, in order of appearance."""
        return tuple(dict.fromkeys(name for _, klass, label in self.counts for name in (klass, label)))


def read_history(table: Any) -> History:
    """Read a frame with these columns, rows of four values, or a mapping from (annotator, class, label) to a count.

    >>> read_history([("ann", "cat", "dog", 2), ("ann", "cat", "dog", 1)]).counts
    {('ann', 'cat', 'dog'): 3.0}
    """
    if isinstance(table, History):
        return table
    counts: dict[tuple[Hashable, Hashable, Hashable], float] = {}
    for row in _rows(table):
        if len(row) != 4:
            msg = f"A row of history has {len(row)} values, expected annotator, class, label, count."
            raise InputError(msg)
        annotator, klass, label, count = row
        number = _number(count)
        counts[annotator, klass, label] = counts.get((annotator, klass, label), 0.0) + number
    return History(counts)


def _rows(table: Any) -> list[tuple[Any, ...]]:
    if isinstance(table, Mapping):
        return [(*key, count) for key, count in table.items()]
    if not hasattr(table, "columns"):
        return [tuple(row) for row in table]
    import narwhals.stable.v2 as nw

    frame = nw.from_native(table)
    names = [_column(frame.collect_schema().names(), wanted) for wanted in COLUMNS]
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return list(zip(*(eager[name].to_list() for name in names), strict=True))


def _column(found: list[str], wanted: str) -> str:
    for name in (wanted, *_SYNONYMS[wanted]):
        if name in found:
            return name
    msg = f"History has no column '{wanted}'. Its columns are: {', '.join(found)}. Name them {', '.join(COLUMNS)}."
    raise InputError(msg)


def _number(count: Any) -> float:
    try:
        number = float(count)
    except (TypeError, ValueError):
        number = float("nan")
    if not isfinite(number) or number < 0:
        msg = f"A count of history is {count!r}, expected a number from 0 on."
        raise InputError(msg)
    return number
