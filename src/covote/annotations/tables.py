"""Columns -> a table of the user's own kind, with ids and labels in the types they came in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from covote.annotations.encode import Coded
from covote.annotations.native import take, to_list
from covote.annotations.stored import StoredColumn, identifier, literal


def make_table(kind: str, key: str, ids: Any, columns: Mapping[str, Any], *, origin: Any = None) -> Any:
    """A table with the column of ids and those given; a mapping from id to value for the kind "mapping".

    A given column is a sequence, an array, or `Coded` (codes and the values they stand for). `origin` is the
    DuckDB relation the ids came from.

    >>> make_table("mapping", "item", ["x", "y"], {"label": Coded(np.array([1, 0]), ["cat", "dog"])})
    {'x': 'dog', 'y': 'cat'}
    """
    if kind == "mapping":
        given = [to_list(decode(column)) for column in columns.values()]
        rows = given[0] if len(given) == 1 else zip(*given, strict=True)
        return dict(zip(to_list(ids), rows, strict=True))
    if kind in ("file", "duckdb"):
        return _relation(key, ids, columns, origin)
    decoded = {key: ids, **{name: decode(column) for name, column in columns.items()}}
    if kind == "pandas":
        import pandas as pd

        return pd.DataFrame({name: _pandas(column) for name, column in decoded.items()})
    if kind == "pyarrow":
        import pyarrow as pa

        return pa.table({name: _arrow(column) for name, column in decoded.items()})
    import polars as pl

    frame = pl.DataFrame([_polars(name, column) for name, column in decoded.items()])
    return frame.lazy() if kind == "polars-lazy" else frame


def decode(column: Any) -> Any:
    """The values of a `Coded` column in their own kind; any other column as it is."""
    if not isinstance(column, Coded):
        return column
    if isinstance(column.values, StoredColumn):
        return take(column.values.tolist(), column.codes)
    return take(column.values, column.codes)


def _pandas(column: Any) -> Any:
    import pandas as pd

    if isinstance(column, (list, tuple)) and any(isinstance(value, (tuple, list)) for value in column):
        column = _objects(column)
    return pd.Series(column)


def _polars(name: str, column: Any) -> Any:
    import polars as pl

    if isinstance(column, pl.Series):
        return column.alias(name)
    try:
        return pl.Series(name, column)
    except (TypeError, pl.exceptions.PolarsError):  # values of several kinds
        return pl.Series(name, column, dtype=pl.Object)


def _arrow(column: Any) -> Any:
    import pyarrow as pa

    return column if isinstance(column, (pa.Array, pa.ChunkedArray)) else pa.array(column)


def _relation(key: str, ids: Any, columns: Mapping[str, Any], origin: Any) -> Any:
    """A relation on the user's connection if there is one, else on the connection that holds the ids.

    DuckDB finds the arrays in the variable `given`, by its name.
    """
    given: dict[str, Any]
    if origin is None and isinstance(ids, StoredColumn):
        value = "value->>'$'" if ids.json_text else "value"
        given, parts = {}, [f"{value} AS {identifier(key)}"]
        frame = f"{ids.table} POSITIONAL JOIN given" if columns else ids.table
    else:
        cast = f"::{ids.type}" if isinstance(ids, StoredColumn) else ""
        given, parts = {"c_id": _scannable(ids)}, [f"c_id{cast} AS {identifier(key)}"]
        frame = "given"
    for number, (name, column) in enumerate(columns.items()):
        sql, given[f"c{number}"] = expression(f"c{number}", column)
        parts.append(f"{sql} AS {identifier(name)}")
    query = f"SELECT {', '.join(parts)} FROM {frame}"  # noqa: S608
    if origin is not None:
        return origin.query("covote_rows", query)
    from covote.annotations.source import connect

    con = ids.con if isinstance(ids, StoredColumn) else connect()
    return con.sql(query)


def expression(place: str, column: Any) -> tuple[str, Any]:
    """How SQL reads a column, and the array it reads."""
    if not isinstance(column, Coded):
        return place, _scannable(column)
    values = to_list(column.values)
    if all(isinstance(value, str) for value in values):  # text is looked up by DuckDB
        listed = ", ".join(map(literal, values))
        return f"list_extract([{listed}]::VARCHAR[], {place} + 1)", column.codes.astype(np.int32)
    cast = f"::{column.values.type}" if isinstance(column.values, StoredColumn) else ""
    return place + cast, _scannable(column.values)[column.codes]


def _scannable(column: Any) -> Any:
    """An array that DuckDB can scan."""
    if isinstance(column, np.ndarray) and column.dtype.kind not in "U":
        return np.ascontiguousarray(column)
    values = to_list(column)
    kinds = {type(value) for value in values}
    return np.array(values) if kinds in ({int}, {float}, {bool}) else _objects(values)


def _objects(values: Sequence[Any]) -> Any:
    out = np.empty(len(values), dtype=object)
    for position, value in enumerate(values):
        out[position] = value
    return out
