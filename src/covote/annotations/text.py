"""The first lines of a text table -> its delimiter, its column names, and whether they stand in the first line."""

from __future__ import annotations

import csv
import io
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from covote.annotations.columns import find
from covote.errors import ColumnError

DELIMITERS = "\t,;| "
_HEADERLESS = {2: ("item", "label"), 3: ("item", "annotator", "label")}
_ROLES = ("item", "annotator", "label", "truth")


@dataclass(frozen=True)
class Layout:
    """How a text table is written."""

    delimiter: str
    names: tuple[str, ...]
    header: bool  # whether the first line holds the names


def sniff(
    head: str,
    *,
    delimiter: str | None = None,
    columns: Sequence[str] | None = None,
    given: Iterable[Hashable] = (),
    width: int = 3,
) -> Layout:
    r"""Tell the layout of a text table from its first lines.

    Names in the first line are believed when two of them are recognised or given, or one that does not come again
    below. A table of `width` columns without such names, whose first line looks like data (a number, or a
    value that comes again in its column), has no header.

    >>> sniff("7\tann\tcat\n7\tbob\tdog\n")
    Layout(delimiter='\t', names=('item', 'annotator', 'label'), header=False)
    """
    delimiter = delimiter or _find_delimiter(head)
    rows = _parse(head, delimiter)
    first = tuple(name.strip() for name in rows[0]) if rows else ()
    if columns is not None:
        if first and len(first) != len(columns):
            msg = (
                f"columns= names {len(columns)} columns, but the first line has {len(first)}. "
                "Name every column, in order."
            )
            raise ColumnError(msg)
        return Layout(delimiter, tuple(columns), header=first == tuple(columns))
    if _has_header(rows, first, set(given), width):
        return Layout(delimiter, _distinct(first), header=True)
    return Layout(delimiter, _HEADERLESS[width], header=False)


def _has_header(rows: list[list[str]], first: tuple[str, ...], given: set[Hashable], width: int) -> bool:
    known = {name for role in _ROLES if (name := find(first, role, {})) is not None} | (given & set(first))
    again = {name for name, below in zip(first, zip(*rows[1:], strict=False), strict=False) if name in below}
    if len(known) >= 2 or known - again:
        return True
    return len(first) != width or not (again or any(_is_number(value) for value in first))


def _find_delimiter(head: str) -> str:
    best, best_score = ",", (False, False, 0)
    for delimiter in DELIMITERS:
        rows = _parse(head, delimiter)
        widths = {len(row) for row in rows}
        if rows and max(widths) > 1:
            names = [name.strip() for name in rows[0]]
            known = sum(find(names, role, {}) is not None for role in _ROLES)
            even = len(widths) == 1
            score = (known >= 2, even, len(rows[0]) if even else 0)
            if score > best_score:
                best, best_score = delimiter, score
    return best


def _parse(head: str, delimiter: str) -> list[list[str]]:
    """At most 200 rows; a row that cannot be parsed ends the look, DuckDB will say what is wrong with it."""
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(head, newline=None), delimiter=delimiter[0]):
            if row:
                rows.append(row)
            if len(rows) == 200:
                break
    except csv.Error:
        pass
    return rows


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Names made distinct by a number where the file repeats one, as DuckDB's own reader does."""
    out: dict[str, None] = {}
    counts: dict[str, int] = {}
    for position, name in enumerate(names):
        new, count = name or f"column{position}", counts.get(name, 1)
        while new in out:
            new, count = f"{name}_{count}", count + 1
        out[new], counts[name] = None, count
    return tuple(out)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
