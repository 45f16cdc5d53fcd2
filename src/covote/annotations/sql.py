"""The columns of a `Source` -> codes and distinct values; DuckDB does the work, so no row becomes a Python object."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations.columns import ROLES, Long
from covote.annotations.encode import Coded, check_finite, encode_integers
from covote.annotations.native import IntArray
from covote.annotations.repeats import lost_id
from covote.annotations.source import Source, fetch_join
from covote.annotations.stored import StoredColumn, identifier, new_table
from covote.annotations.value import NO_CODE
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
            # isnan() is false throughout a Parquet file whose statistics leave out NaN, as PyArrow's do
            return f"({self.sql} IS NOT NULL AND (isfinite({self.sql}) OR isinf({self.sql})))"
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
    labels = None if is_integer(label) else _vocabulary(source, label, label)
    if labels is not None and len(labels) > _LISTED:
        return _encode_joined(source, (item, annotator, label), labels, in_order=in_order)
    if not (is_integer(item) and is_integer(annotator)):
        return _encode_joined(source, (item, annotator, label), labels, in_order=in_order)
    _check_ids(source, (item, annotator), label)
    found = fetch_in_order(source, [item, annotator, label], {label.name: labels} if labels else {}, label.present)
    return found[0], found[1], found[2]


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


def is_integer(column: Column) -> bool:
    return column.type in _INTEGERS or column.type == "BOOLEAN"


def fetch_in_order(
    source: Source, columns: Sequence[Column], lists: dict[str, StoredColumn], condition: str
) -> list[Coded]:
    """Codes of columns that are integers or have few values, without a join, so that rows keep their order."""
    spans = spans_of(source, [column for column in columns if column.name not in lists], condition)
    set_lists(source, lists)
    parts = [code_of(c, lists.get(c.name), spans.get(c.name, (0, 0))) for c in columns]
    query = ", ".join(f"{part} AS c{position}" for position, part in enumerate(parts))
    arrays = source.con.execute(f"SELECT {query} FROM source WHERE {condition}").fetchnumpy()  # noqa: S608
    out = []
    for position, column in enumerate(columns):
        array = arrays.pop(f"c{position}")
        if column.name in lists:
            out.append(Coded(array, lists[column.name]))
        else:
            out.append(_from_shifted(array, column, spans[column.name]))
    return out


def set_lists(source: Source, lists: dict[str, StoredColumn]) -> None:
    """Keep each vocabulary as a list, for `code_of`."""
    for table in {values.table for values in lists.values()}:
        source.con.execute(f"SET VARIABLE list_{table} = (SELECT list(value ORDER BY code) FROM {table})")  # noqa: S608


def code_of(column: Column, values: StoredColumn | None, span: tuple[int, int], missing: int = NO_CODE) -> str:
    """SQL for small integers that stand for the values of a column; `missing` where there is no label."""
    if values is not None:
        place = f"coalesce(list_position(getvariable('list_{values.table}'), {column.sql}) - 1, {missing})"
        return f"{place}::{_smallest(len(values))}"
    low, high = span
    if high - low >= 2**31:
        return column.sql
    wide = "UBIGINT" if column.type == "UBIGINT" else "BIGINT"
    shifted = f"({column.sql}::{wide} - {low}::{wide})::BIGINT"
    return f"coalesce({shifted}, {missing})::{_smallest(high - low + 1)}"


def _smallest(codes: int) -> str:
    """The SQL type that holds so many codes, and their number itself."""
    return "TINYINT" if codes < 2**7 else "SMALLINT" if codes < 2**15 else "INTEGER"


def spans_of(source: Source, columns: Sequence[Column], condition: str) -> dict[str, tuple[int, int]]:
    """Least and greatest value of integer columns."""
    if not columns:
        return {}
    parts = ", ".join(f"min({column.sql}), max({column.sql})" for column in columns)
    row = [int(x or 0) for x in source.rows(f"SELECT {parts} FROM source WHERE {condition}")[0]]  # noqa: S608
    return {column.name: (row[2 * i], row[2 * i + 1]) for i, column in enumerate(columns)}


def _from_shifted(array: Any, column: Column, span: tuple[int, int]) -> Coded:
    """Integers less the least of them (-1: missing), or as they are when their range is vast -> codes."""
    low, high = span
    if high - low >= 2**31:
        absent = np.ma.getmaskarray(array)
        coded = encode_integers(np.ma.getdata(array))
        return coded if not absent.any() else Coded(np.where(absent, NO_CODE, coded.codes), coded.values).compact()
    if column.role == "label" and high - low < 2**20:  # labels are sorted later, so their range will do
        return Coded(array, integers_of(column, span)).compact()
    coded = encode_integers(array)
    if len(coded.values) and coded.values.min() < 0:
        coded = coded.keep(coded.values >= 0)
    return Coded(coded.codes, _add(coded.values, low, _dtype(column)))


def integers_of(column: Column, span: tuple[int, int]) -> NDArray[Any]:
    """All integers from the least to the greatest, in the type of the column."""
    low, high = span
    return _add(np.arange(high - low + 1), low, _dtype(column))


def _dtype(column: Column) -> np.dtype[Any]:
    return np.dtype(_INTEGERS.get(column.type, np.bool_))


def _add(shifted: IntArray, low: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    # unsigned 64 bits wrap around, so the sum is right for every integer type
    total = shifted.astype(np.uint64)
    total += np.uint64(low % 2**64)
    return total.view(dtype) if dtype.itemsize == total.itemsize else total.astype(dtype)


def _vocabulary(source: Source, column: Column, label: Column) -> StoredColumn:
    """The distinct values of a column in the rows with a label, in order of first appearance, as a table."""
    table = distinct(source, column, label.present)
    value = replace(column, name="value")
    lost = source.rows(f"SELECT min(first) FROM {table} WHERE NOT {value.present}")[0][0]  # noqa: S608
    if lost is not None:
        raise InputError(lost_id(column.role, lost))
    if column.type in ("FLOAT", "DOUBLE"):
        check_finite([v for (v,) in source.rows(f"SELECT value FROM {table} WHERE isinf(value) LIMIT 1")], column.role)  # noqa: S608
    return StoredColumn(source.con, table, json_text=column.json_text)


def distinct(source: Source, column: Column, condition: str) -> str:
    """A new table (value, code, first): first is the row, from 1, where a value appears first, and code its rank."""
    table = new_table()
    source.con.execute(f"""
        CREATE TABLE {table} AS
        SELECT value, (row_number() OVER (ORDER BY first) - 1)::INTEGER AS code, first FROM (
            SELECT value, min(number) AS first FROM (
                SELECT {column.sql} AS value, {condition} AS wanted, row_number() OVER () AS number FROM source)
            WHERE wanted GROUP BY value)
        ORDER BY code""")  # noqa: S608
    return table


def _check_ids(source: Source, columns: Sequence[Column], label: Column) -> None:
    """Raise when a row has a label but no id; the row is looked for only when there is one."""
    counts = ", ".join(f"count(*) FILTER (WHERE NOT {column.present})" for column in columns)
    lost = source.rows(f"SELECT {counts} FROM source WHERE {label.present}")[0]  # noqa: S608
    for column, count in zip(columns, lost, strict=True):
        if count:
            first = source.rows(f"""
                SELECT min(number) FROM (
                    SELECT {label.present} AND NOT {column.present} AS lost, row_number() OVER () AS number FROM source)
                WHERE lost""")[0][0]  # noqa: S608
            raise InputError(lost_id(column.role, first))


def _encode_joined(
    source: Source, columns: tuple[Column, Column, Column], labels: StoredColumn | None, *, in_order: bool
) -> tuple[Coded, Coded, Coded]:
    """Codes by joining each column with its distinct values; the rows come in any order unless asked otherwise."""
    label = columns[2]
    stored = [_vocabulary(source, column, label) for column in columns[:2]]
    stored.append(labels if labels is not None else _vocabulary(source, label, label))
    picked = ", ".join(f"{column.sql} AS c{i}" for i, column in enumerate(columns))
    joins = " ".join(f"JOIN {values.table} AS v{i} ON s.c{i} = v{i}.value" for i, values in enumerate(stored))
    number, inner = (", number", ", row_number() OVER () AS number") if in_order else ("", "")
    query = f"""
        SELECT v0.code AS c0, v1.code AS c1, v2.code AS c2 {number}
        FROM (SELECT {picked} {inner} FROM source) AS s {joins}"""  # noqa: S608
    arrays = fetch_join(source.con, query)
    order = np.argsort(arrays.pop("number")) if in_order else slice(None)
    coded = (Coded(arrays.pop(f"c{i}")[order], _values(source, columns[i], stored[i])) for i in range(3))
    item, annotator, answer = coded
    return item, annotator, answer


def _values(source: Source, column: Column, stored: StoredColumn) -> Any:
    if not is_integer(column):
        return stored
    return source.con.execute(f"SELECT value FROM {stored.table} ORDER BY code").fetchnumpy()["value"]  # noqa: S608
