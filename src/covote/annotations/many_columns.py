"""Tables of very many columns, one per annotator -> their codes, in time and memory that grow with the cells.

A text file is read by Python's own `csv`, anything else by DuckDB in blocks of columns: DuckDB holds 2,048 values of
every column that a query names, whatever the number of rows.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any

import numpy as np

from covote.annotations.encode import Coded
from covote.annotations.files import DataFile, reading, start_of
from covote.annotations.native import IntArray
from covote.annotations.stored import StoredColumn, literal, new_table
from covote.annotations.text import Layout
from covote.annotations.value import NO_CODE
from covote.errors import FileError

MANY = 64
"""Tables of more columns are read here; rows of so many columns are never packed into one integer."""

CELLS = 2**20
"""Cells that are handled at a time."""


class _Numbers(dict[str, int]):
    """Codes of texts, by first appearance; -1 for the empty text."""

    def __missing__(self, text: str) -> int:
        code = self[text] = len(self) - 1
        return code


@dataclass(frozen=True)
class TextTable:
    """Text files with the layout of each, whose rows are read one after the other."""

    con: Any
    files: Sequence[tuple[DataFile, Layout]]

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(name for _, layout in self.files for name in layout.names))

    def rows(self, file: DataFile, layout: Layout) -> Iterator[list[str]]:
        """The rows of a file below its header; empty lines are skipped."""
        with reading(file.shown):
            lines = csv.reader(_lines(file, self.con), delimiter=layout.delimiter, strict=True)
            rows = (row for row in lines if row)
            for row in islice(rows, int(layout.header), None):
                if len(row) != len(layout.names):
                    found = f"line {lines.line_num}, has {len(row)} columns, {len(layout.names)} are expected"
                    msg = f"{start_of(file.shown)}, {found}. Correct the line, or pass delimiter=."
                    raise FileError(msg)
                yield row

    def cells(self, names: Sequence[str], limit: int | None = None) -> list[Coded]:
        """The named columns of the first `limit` rows of each file, or of all, coded with one list of texts."""
        known = _Numbers({"": NO_CODE})
        blocks = [np.empty((0, len(names)), np.int16)]
        for file, layout in self.files:
            place = {name: position for position, name in enumerate(layout.names)}
            here = [position for position, name in enumerate(names) if name in place]
            picked = [place[names[position]] for position in here]
            rows = islice(self.rows(file, layout), limit)
            while batch := list(islice(rows, max(CELLS // len(layout.names), 1))):
                texts = chain.from_iterable([row[column] for column in picked] for row in batch)
                codes = np.fromiter(map(known.__getitem__, texts), np.int32, len(batch) * len(picked))
                block = np.full((len(batch), len(names)), NO_CODE, np.int16 if len(known) < 2**15 else np.int32)
                block[:, here] = codes.reshape(len(batch), len(picked))
                blocks.append(block)
        columns = np.ascontiguousarray(np.concatenate(blocks).T)  # (columns, rows)
        del known[""]
        values = list(known)
        return [Coded(column, values) for column in columns]

    def keep(self, names: Sequence[str], path: Path) -> None:
        """Write a few columns to a file without header."""
        with open(path, "w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
            for file, layout in self.files:
                place = {name: position for position, name in enumerate(layout.names)}
                picked = [place.get(name) for name in names]
                rows = self.rows(file, layout)
                writer.writerows(["" if column is None else row[column] for column in picked] for row in rows)


def _lines(file: DataFile, con: Any) -> Iterable[str]:
    if file.compression != "zstd":
        stream = gzip.open(file.path) if file.compression == "gzip" else open(file.path, "rb")  # noqa: SIM115
        with io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
            yield from text
        return
    with con.cursor() as cursor:
        cursor.execute(lines_query(file.path))
        while found := cursor.fetchmany(1000):
            yield from ((line or "") + "\n" for (line,) in found)


def lines_query(path: str) -> str:
    """The query for the lines of a text file packed by Zstandard."""
    return (
        f"SELECT line FROM read_csv({literal(path)}, auto_detect = false, header = false, delim = '\\1', "  # noqa: S608
        "quote = '', escape = '', columns = {'line': 'VARCHAR'}, compression = 'zstd', parallel = false, "
        f"max_line_size = {2**25})"
    )


def in_groups(kinds: Sequence[Any], size: int) -> Iterator[tuple[Any, list[int]]]:
    """Positions of one kind each, at most `size` at a time.

    >>> list(in_groups("aaba", 2))
    [('a', [0, 1]), ('a', [3]), ('b', [2])]
    """
    order = sorted(range(len(kinds)), key=lambda position: str(kinds[position]))
    for kind, group in groupby(order, key=lambda position: kinds[position]):
        positions = list(group)
        for start in range(0, len(positions), size):
            yield kind, positions[start : start + size]


def encode_together(
    kinds: Sequence[Any], rows: int, encode: Callable[[Any, list[int]], Coded | list[Coded]]
) -> list[Coded]:
    """Codes of columns of several kinds: `encode` codes the columns at some positions, laid end to end, at once."""
    out: dict[int, Coded] = {}
    for kind, positions in in_groups(kinds, max(CELLS // max(rows, 1), 1)):
        coded = encode(kind, positions)
        if isinstance(coded, Coded):
            coded = [Coded(codes, coded.values) for codes in coded.codes.reshape(len(positions), rows)]
        out.update(zip(positions, coded, strict=True))
    return [out[position] for position in range(len(kinds))]


def labels_in(source: Any, columns: Sequence[Any]) -> StoredColumn:
    """The distinct labels of columns of one type, as one table."""
    table = new_table()
    listed = ", ".join(f"CASE WHEN {column.present} THEN {column.sql} END" for column in columns)
    source.con.execute(f"""
        CREATE TABLE {table} AS
        SELECT value, (row_number() OVER () - 1)::INTEGER AS code
        FROM (SELECT DISTINCT value FROM (SELECT unnest([{listed}]) AS value FROM source) WHERE value IS NOT NULL)""")  # noqa: S608
    return StoredColumn(source.con, table, json_text=columns[0].json_text)


def used_codes(codes: IntArray, values: int) -> IntArray:
    """The codes that occur, -1 left out.

    >>> used_codes(np.array([2, -1, 0, 2]), 3).tolist()
    [0, 2]
    """
    seen = np.zeros(values + 1, dtype=bool)
    seen[codes] = True
    return np.flatnonzero(seen[:-1])
