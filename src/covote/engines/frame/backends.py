"""What narwhals leaves to each library: small tables on the frame's side, results as arrays, plans as text."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.stable.v2.typing import IntoFrame
from numpy.typing import NDArray

Column = NDArray[Any] | list[Any]
Work = Callable[[nw.LazyFrame[Any]], nw.LazyFrame[Any]]


def opened(frame: IntoFrame) -> nw.LazyFrame[Any]:
    """Any frame that narwhals knows, lazy."""
    known = nw.from_native(frame)
    return known if isinstance(known, nw.LazyFrame) else known.lazy()


def beside(frame: nw.LazyFrame[Any], columns: Mapping[str, Column], like: Mapping[str, Any]) -> nw.LazyFrame[Any]:
    """A small table in the library (and session, and connection) of `frame`; `like` gives the types of its keys.

    >>> import duckdb
    >>> votes = opened(duckdb.connect().sql("select 'x' as item"))
    >>> beside(votes, {"item": ["x"], "weight": [0.5]}, {}).to_native().fetchall()
    [('x', 0.5)]

    Columns of small integers stay small: joins and groups on them take half the time.
    """
    small_integers = {n: nw.Int32 for n, c in columns.items() if isinstance(c, np.ndarray) and _fits(c)}
    plain = {name: list(c.tolist() if isinstance(c, np.ndarray) else c) for name, c in columns.items()}
    native: Any = frame.to_native()
    kind = frame.implementation
    if kind.is_duckdb():
        table: Any = _duckdb(native, plain)
    elif kind.is_spark_like():
        table = _spark(native, plain)
    elif kind.is_dask():
        import dask.dataframe as dd
        import pandas as pd

        table = dd.from_pandas(pd.DataFrame(plain), npartitions=1)
    elif kind.is_ibis():
        import ibis  # type: ignore[import-not-found,unused-ignore]

        table = ibis.memtable([dict(zip(plain, row, strict=True)) for row in zip(*plain.values(), strict=True)])
    else:
        table = nw.from_dict(plain, backend=kind).to_native()
    types = {**small_integers, **like}
    small = opened(table)
    return small.with_columns(nw.col(name).cast(dtype) for name, dtype in types.items()) if types else small


def _fits(column: NDArray[Any]) -> bool:
    """Whether these are integers of at most 32 bits."""
    return column.dtype.kind == "i" and int(np.abs(column).max(initial=0)) < 2**31


def _duckdb(relation: Any, columns: Mapping[str, list[Any]]) -> Any:
    """A relation on the connection of `relation`, which is only reachable through a query of its own."""
    arrays = {name: _array(column) for name, column in columns.items()}
    assert arrays
    return relation.query("covote_source", "select * from arrays")


def _array(column: list[Any]) -> NDArray[Any]:
    if all(isinstance(value, (int, float, np.number)) for value in column):
        return np.array(column)
    out = np.empty(len(column), dtype=object)
    out[:] = column
    return out


def _spark(frame: Any, columns: Mapping[str, list[Any]]) -> Any:
    """A Spark frame marked for broadcasting: it goes to the answers, they stay where they are."""
    return frame.sparkSession.createDataFrame(list(zip(*columns.values(), strict=True)), list(columns)).hint(
        "broadcast"
    )


def fenced(frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """The same frame, evaluated before anything that is done with it.

    DuckDB's planner would otherwise join answers with answers before it gives them their codes, and group twice as
    many pairs as there are.
    """
    if not frame.implementation.is_duckdb():
        return frame
    native: Any = frame.to_native()
    return opened(native.query("covote_fence", "WITH f AS MATERIALIZED (FROM covote_fence) FROM f"))


def row_by_row(frame: nw.LazyFrame[Any], work: Work) -> nw.LazyFrame[Any]:
    """`work(frame)`, where `work` looks at one row at a time.

    Dask is told so: its planner takes seconds over long chains of columns that a partition computes in no time.
    """
    if not frame.implementation.is_dask():
        return work(frame)

    def on_partition(part: Any) -> Any:
        return work(nw.from_native(part).lazy()).collect().to_native()

    native: Any = frame.to_native()
    return opened(native.map_partitions(on_partition, meta=on_partition(native._meta)))


def fetched(frame: nw.LazyFrame[Any]) -> dict[str, NDArray[Any]]:
    """Run a plan whose result is small: its columns as arrays."""
    native: Any = frame.to_native()
    if frame.implementation.is_duckdb():
        return dict(native.fetchnumpy())
    if frame.implementation.is_spark_like():
        return _fetched_from_spark(native)
    collected = frame.collect()
    return {name: collected[name].to_numpy() for name in collected.columns}


def _fetched_from_spark(frame: Any) -> dict[str, NDArray[Any]]:
    try:
        table = frame.toArrow()
    except ImportError:  # PyArrow is optional for PySpark; rows are slower, and as good
        rows = frame.collect()
        return {name: np.array([row[i] for row in rows]) for i, name in enumerate(frame.columns)}
    return {name: table.column(name).to_numpy() for name in table.column_names}


def plan_text(frame: nw.LazyFrame[Any]) -> str:
    """The library's own account of how it would run the plan."""
    native: Any = frame.to_native()
    kind = frame.implementation
    if kind.is_duckdb() or kind.is_polars():
        return str(native.explain())
    if kind.is_dask():
        return str(native.expr.tree_repr())
    if hasattr(native, "explain"):
        with contextlib.redirect_stdout(io.StringIO()) as text:
            native.explain()
        return text.getvalue()
    return f"{kind} runs each step at once on {type(native).__name__}."
