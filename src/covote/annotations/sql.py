"""The columns of a `Source` -> codes and distinct values; DuckDB does the work, so no row becomes a Python object."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from covote.annotations.columns import ROLES, Long, Wide
from covote.annotations.encode import Coded, check_finite, encode_integers
from covote.annotations.native import IntArray, to_list
from covote.annotations.repeats import lost_id
from covote.annotations.source import Source
from covote.annotations.stored import StoredColumn, identifier, new_table
from covote.annotations.wide import SMALL, check_cells
from covote.errors import InputError

_INTEGERS: dict[str, type[np.integer[Any]]] = {
    "TINYINT": np.int8, "SMALLINT": np.int16, "INTEGER": np.int32, "BIGINT": np.int64,
    "UTINYINT": np.uint8, "USMALLINT": np.uint16, "UINTEGER": np.uint32, "UBIGINT": np.uint64,
}  # fmt: skip
_LISTED = 64
"""Up to this many distinct values are coded by their place in a list, which keeps the rows in order; more by a join."""


@dataclass(frozen=True)
class Column:
    """A column of the source."""

    role: str
    name: str
    type: str
    json_text: bool = False

    @property
    def sql(self) -> str:
        return identifier(self.name)

    @property
    def present(self) -> str:
        """The condition that a row has a value here."""
        if self.json_text:
            return f"({self.sql} IS NOT NULL AND {self.sql} NOT IN ('null', '\"\"'))"
        if self.type == "VARCHAR":
            return f"({self.sql} IS NOT NULL AND {self.sql} <> '')"
        if self.type in ("FLOAT", "DOUBLE"):
            return f"({self.sql} IS NOT NULL AND NOT isnan({self.sql}))"
        return f"({self.sql} IS NOT NULL)"


def columns_of(source: Source, names: Sequence[Any], roles: Sequence[str]) -> list[Column]:
    """The named columns with their types."""
    texts = [str(name) for name in names]
    source.use(texts)
    out = []
    for role, name, kind in zip(roles, texts, source.types(texts), strict=True):
        if kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION")):
            msg = f"Column '{name}' holds lists or records. Ids and labels must be strings, numbers or dates."
            raise InputError(msg)
        out.append(Column(role, name, kind, json_text=name in source.json_text))
    return out


def encode_long(source: Source, long: Long, *, in_order: bool) -> tuple[Coded, Coded, Coded]:
    """Item, annotator and label of the rows that have a label; `in_order` asks for the rows in their own order."""
    item, annotator, label = columns_of(source, (long.item, long.annotator, long.label), ROLES)
    labels = None if _is_integer(label) else _vocabulary(source, label, label)
    if labels is not None and len(labels) > _LISTED:
        return _encode_joined(source, (item, annotator, label), labels, in_order=in_order)
    if not (_is_integer(item) and _is_integer(annotator)):
        return _encode_joined(source, (item, annotator, label), labels, in_order=in_order)
    for column in (item, annotator):
        _check_ids(source, column, label)
    found = _fetch_in_order(source, [item, annotator, label], {label.name: labels} if labels else {}, label.present)
    return found[0], found[1], found[2]


def encode_wide(source: Source, wide: Wide) -> tuple[Coded, list[Coded]]:
    """Items of the rows, and the label codes of each annotator's column."""
    names = [name for name in (wide.item, *wide.annotators) if name is not None]
    columns = columns_of(
        source, names, ["item"] * (len(names) - len(wide.annotators)) + ["label"] * len(wide.annotators)
    )
    cells = columns[-len(wide.annotators) :]
    if not wide.sure:
        _check_sample(source, cells)
    lists = {c.name: StoredColumn(source.con, t, json_text=c.json_text) for c, t in _cell_labels(source, cells).items()}
    coded = _fetch_in_order(source, cells, lists, "true")
    if not wide.sure:
        check_cells([to_list(column.values) for column in coded], wide.annotators)
    if wide.item is None:
        rows = np.arange(len(coded[0].codes))
        return Coded(rows, rows), coded
    return _encode_items(source, columns[0]), coded


def fetch_values(source: Source, names: Sequence[str]) -> list[tuple[Any, ...]]:
    """The rows of these columns as Python values."""
    columns = columns_of(source, names, names)
    rows = source.rows(f"SELECT {', '.join(column.sql for column in columns)} FROM source")  # noqa: S608
    if not source.json_text:
        return rows
    texts = [column.json_text for column in columns]
    return [
        tuple(json.loads(v) if text and v is not None else v for v, text in zip(row, texts, strict=True))
        for row in rows
    ]


def _is_integer(column: Column) -> bool:
    return column.type in _INTEGERS or column.type == "BOOLEAN"


def _fetch_in_order(
    source: Source, columns: Sequence[Column], lists: dict[str, StoredColumn], condition: str
) -> list[Coded]:
    """Codes of columns that are integers or have few values, without a join, so that rows keep their order."""
    whole = [column for column in columns if column.name not in lists]
    spans = _spans(source, whole, condition)
    parts = []
    for position, column in enumerate(columns):
        if column.name in lists:
            expression = f"list_position({_as_list(lists[column.name])}, {column.sql})::USMALLINT"
        else:
            expression = _shifted(column, *spans[column.name])
        parts.append(f"{expression} AS c{position}")
    arrays = source.con.execute(f"SELECT {', '.join(parts)} FROM source WHERE {condition}").fetchnumpy()  # noqa: S608
    out = []
    for position, column in enumerate(columns):
        array = arrays.pop(f"c{position}")
        if column.name in lists:
            codes = np.asarray(np.ma.filled(array, 0)).astype(np.int16) - np.int16(1)
            out.append(Coded(codes, lists[column.name]))
        else:
            out.append(_from_shifted(array, column, spans[column.name][0]))
    return out


def _as_list(values: StoredColumn) -> str:
    return f"(SELECT list(value ORDER BY code) FROM {values.table})"  # noqa: S608


def _spans(source: Source, columns: Sequence[Column], condition: str) -> dict[str, tuple[int, int]]:
    """Least and greatest value of integer columns."""
    if not columns:
        return {}
    parts = ", ".join(f"min({column.sql}), max({column.sql})" for column in columns)
    row = [int(x or 0) for x in source.rows(f"SELECT {parts} FROM source WHERE {condition}")[0]]  # noqa: S608
    return {column.name: (row[2 * i], row[2 * i + 1]) for i, column in enumerate(columns)}


def _shifted(column: Column, low: int, high: int) -> str:
    """The column less its least value, in the smallest type that holds it, since memory is what large tables cost."""
    if column.type == "BOOLEAN":
        return f"{column.sql}::UTINYINT"
    if high - low >= 2**32:
        return column.sql
    wide = "UBIGINT" if column.type == "UBIGINT" else "BIGINT"
    small = "UTINYINT" if high - low < 2**8 else "USMALLINT" if high - low < 2**16 else "UINTEGER"
    return f"({column.sql}::{wide} - {low}::{wide})::{small}"


def _from_shifted(array: Any, column: Column, low: int) -> Coded:
    absent = np.ma.getmaskarray(array) if np.ma.is_masked(array) else None
    coded = encode_integers(np.ma.getdata(array))
    if column.type == "BOOLEAN":
        coded = replace(coded, values=coded.values.astype(bool))
    elif coded.values.dtype != _INTEGERS[column.type] or low:
        shift = 0 if array.dtype == _INTEGERS[column.type] and array.dtype.itemsize == 8 else low
        values = coded.values.astype(np.uint64) + np.uint64(shift % 2**64)
        coded = replace(coded, values=values.astype(_INTEGERS[column.type]))
    return coded if absent is None else Coded(np.where(absent, -1, coded.codes), coded.values).compact()


def _vocabulary(source: Source, column: Column, label: Column) -> StoredColumn:
    """The distinct values of a column, in order of first appearance, as a table."""
    table = new_table()
    source.con.execute(f"""
        CREATE TABLE {table} AS
        SELECT value, (row_number() OVER (ORDER BY first) - 1)::INTEGER AS code, first FROM (
            SELECT {column.sql} AS value, min(row) AS first
            FROM (SELECT *, row_number() OVER () AS row FROM source) WHERE {label.present} GROUP BY {column.sql})
        ORDER BY code""")  # noqa: S608
    if column.type in ("FLOAT", "DOUBLE"):
        check_finite([v for (v,) in source.rows(f"SELECT value FROM {table} WHERE isinf(value) LIMIT 1")], column.role)  # noqa: S608
    return StoredColumn(source.con, table, json_text=column.json_text)


def _check_ids(source: Source, column: Column, label: Column) -> None:
    lost = source.rows(f"""
        SELECT min(row) FROM (SELECT *, row_number() OVER () AS row FROM source)
        WHERE {label.present} AND NOT {column.present}""")[0][0]  # noqa: S608
    if lost is not None:
        raise InputError(lost_id(column.role, lost))


def _encode_joined(
    source: Source, columns: tuple[Column, Column, Column], labels: StoredColumn | None, *, in_order: bool
) -> tuple[Coded, Coded, Coded]:
    """Codes by joining each column with its distinct values; the rows come in any order unless asked otherwise."""
    label = columns[2]
    for column in columns[:2]:
        _check_ids(source, column, label)
    stored = [_vocabulary(source, column, label) for column in columns[:2]]
    stored.append(labels if labels is not None else _vocabulary(source, label, label))
    joins = " ".join(
        f"JOIN {values.table} AS v{i} ON s.{column.sql} = v{i}.value"
        for i, (column, values) in enumerate(zip(columns, stored, strict=True))
    )
    number = ", row_number() OVER () AS row" if in_order else ""
    arrays = source.con.execute(f"""
        SELECT v0.code AS c0, v1.code AS c1, v2.code AS c2 {", row" if in_order else ""}
        FROM (SELECT * {number} FROM source) AS s {joins}""").fetchnumpy()  # noqa: S608
    order = np.argsort(arrays.pop("row")) if in_order else slice(None)
    coded = (Coded(arrays.pop(f"c{i}")[order], _values(source, columns[i], stored[i])) for i in range(3))
    item, annotator, answer = coded
    return item, annotator, answer


def _values(source: Source, column: Column, stored: StoredColumn) -> Any:
    if not _is_integer(column):
        return stored
    return source.con.execute(f"SELECT value FROM {stored.table} ORDER BY code").fetchnumpy()["value"]  # noqa: S608


def _check_sample(source: Source, cells: Sequence[Column]) -> None:
    """Refuse a long table with unknown names by its first rows, before its ids are counted."""
    rows = source.rows(f"SELECT {', '.join(c.sql for c in cells)} FROM source LIMIT 1000")  # noqa: S608
    labels = [{value for value in column if value is not None} for column in zip(*rows, strict=True)]
    if len(set().union(*labels)) > SMALL:
        check_cells(labels, [c.name for c in cells])


def _cell_labels(source: Source, cells: Sequence[Column]) -> dict[Column, str]:
    """A table of the distinct labels of each column that does not hold integers."""
    texts = [column for column in cells if not _is_integer(column)]
    if not texts:
        return {}
    parts = ", ".join(
        f"list(DISTINCT {column.sql}) FILTER (WHERE {column.present}) AS c{i}" for i, column in enumerate(texts)
    )
    gathered = new_table()
    source.con.execute(f"CREATE TABLE {gathered} AS SELECT {parts} FROM source")  # noqa: S608
    tables = {}
    for i, column in enumerate(texts):
        tables[column] = new_table()
        source.con.execute(f"""
            CREATE TABLE {tables[column]} AS
            SELECT value, (row_number() OVER () - 1)::INTEGER AS code FROM (SELECT unnest(c{i}) AS value FROM {gathered})""")  # noqa: S608
    return tables


def _encode_items(source: Source, item: Column) -> Coded:
    """Item codes of all rows of a wide table, in order."""
    if _is_integer(item):
        return _fetch_in_order(source, [item], {}, "true")[0]
    everything = replace(item, name=item.name)
    table = new_table()
    source.con.execute(f"""
        CREATE TABLE {table} AS
        SELECT value, (row_number() OVER (ORDER BY first) - 1)::INTEGER AS code FROM (
            SELECT {everything.sql} AS value, min(row) AS first
            FROM (SELECT *, row_number() OVER () AS row FROM source) WHERE {item.present} GROUP BY value)
        ORDER BY code""")  # noqa: S608
    arrays = source.con.execute(f"""
        SELECT coalesce(v.code, -1) AS code, row FROM (SELECT {item.sql} AS value, row_number() OVER () AS row FROM source) s
        LEFT JOIN {table} v ON s.value = v.value""").fetchnumpy()  # noqa: S608
    codes: IntArray = np.empty(len(arrays["code"]), dtype=np.int32)
    codes[arrays["row"] - 1] = arrays["code"]
    return Coded(codes, StoredColumn(source.con, table, json_text=item.json_text))
