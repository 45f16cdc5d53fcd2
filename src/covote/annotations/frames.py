"""A column of a pandas, Polars or PyArrow table -> codes and distinct values, and columns -> a table of that kind."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from covote.annotations.encode import Coded, check_finite, encode_integers, encode_objects, is_missing, without
from covote.annotations.value import NO_CODE
from covote.errors import InputError


def kind_of(table: Any) -> str | None:
    """ "pandas", "polars", "polars-lazy", "pyarrow", "duckdb", "other" (any narwhals frame), or None if it is no frame."""
    import narwhals.stable.v2 as nw
    from narwhals.stable.v2 import dependencies as known

    if known.is_pandas_dataframe(table):
        return "pandas"
    if known.is_polars_dataframe(table):
        return "polars"
    if known.is_polars_lazyframe(table):
        return "polars-lazy"
    if known.is_pyarrow_table(table):
        return "pyarrow"
    if known.is_duckdb_relation(table):
        return "duckdb"
    native = nw.from_native(table, pass_through=True)
    return "other" if isinstance(native, (nw.DataFrame, nw.LazyFrame)) else None


def names_of(table: Any, kind: str) -> list[Hashable]:
    """The column names."""
    if kind == "pyarrow":
        return list(table.column_names)
    return list(table.columns)


def encode_column(table: Any, name: Hashable, kind: str) -> Coded:
    """Codes of one column, with the library's own means."""
    if kind == "pandas":
        return _encode_pandas(table, name)
    if kind == "polars":
        return _encode_polars(table.get_column(name))
    return _encode_pyarrow(table.column(name))


def _encode_pandas(table: Any, name: Hashable) -> Coded:
    import pandas as pd

    column = table[name]
    if column.ndim > 1:
        msg = f"The table has several columns named '{name}'. Rename them."
        raise InputError(msg)
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu":
        return encode_integers(column.to_numpy())
    objects = column.dtype == object
    try:
        codes, values = pd.factorize(column.to_numpy() if objects else column)
    except TypeError:
        return encode_objects(column.tolist())  # says what is wrong
    if objects or getattr(values, "dtype", None) == "str" or pd.api.types.is_string_dtype(values):
        blank = np.asarray(values == "", dtype=bool)
        if blank.any():
            return without(Coded(codes, values), is_missing)
    return Coded(codes, values)


def _encode_polars(column: Any) -> Coded:
    import polars as pl

    if column.dtype == pl.Object:
        return encode_objects(column.to_list())
    if column.dtype.is_integer() and column.dtype not in (pl.Int128,) and not column.null_count():
        return encode_integers(column.to_numpy())
    if column.dtype in (pl.String, pl.Categorical, pl.Enum):
        column = column.set(column.cast(pl.String) == "", None) if column.dtype == pl.String else column
    if column.dtype.is_float():
        column = column.fill_nan(None)
    name = "value"
    frame = column.alias(name).to_frame()
    values = frame.lazy().drop_nulls().unique(maintain_order=True).collect()
    coded = frame.join(values.with_row_index("code"), on=name, how="left", maintain_order="left")
    codes = coded["code"].cast(pl.Int64).fill_null(NO_CODE).to_numpy()
    return Coded(codes, values[name])


def _encode_pyarrow(column: Any) -> Coded:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_integer(column.type) and not column.null_count:
        return encode_integers(column.to_numpy())
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column)
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    encoded = column.dictionary_encode().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0) if encoded.num_chunks else pa.array([], column.type).dictionary_encode()
    codes = encoded.indices.fill_null(NO_CODE).to_numpy(zero_copy_only=False)
    return Coded(codes, encoded.dictionary)


def finite(coded: Coded, role: str) -> Coded:
    """The column itself; raises when it holds an infinite number."""
    values = coded.values
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "iubMmU":
        return coded
    if isinstance(dtype, np.dtype) and dtype.kind == "f":
        check_finite(values[np.isinf(values)][:1], role)
        return coded
    return coded


def make_frame(kind: str, columns: Mapping[str, Any]) -> Any:
    """A table of this kind from columns of any kind."""
    if kind == "pandas":
        import pandas as pd

        return pd.DataFrame({name: pd.Series(column) for name, column in columns.items()})
    if kind in ("polars", "polars-lazy"):
        import polars as pl

        frame = pl.DataFrame([pl.Series(name, column) for name, column in columns.items()])
        return frame.lazy() if kind == "polars-lazy" else frame
    if kind == "pyarrow":
        import pyarrow as pa

        return pa.table(dict(columns))
    import duckdb

    arrays = {name: _array(column) for name, column in columns.items()}
    return duckdb.connect().sql("select * from arrays")


def _array(column: Sequence[Any]) -> Any:
    if isinstance(column, np.ndarray) and column.dtype.kind != "U":
        return column
    out = np.empty(len(column), dtype=object)
    out[:] = list(column)
    kinds = {type(value) for value in out}
    return np.array(out.tolist()) if kinds <= {int} or kinds <= {float} or kinds <= {bool} else out
