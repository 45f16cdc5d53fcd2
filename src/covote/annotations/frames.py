"""A column of a pandas, Polars or PyArrow table -> codes and distinct values, by the library's own means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations.encode import Coded, check_finite, encode_integers, encode_objects, first_rows
from covote.annotations.many_columns import MANY, encode_together
from covote.annotations.native import to_list
from covote.annotations.value import NO_CODE
from covote.errors import InputError


def unwrapped(table: Any) -> Any:
    """The user's own frame inside a narwhals frame; anything else as it is."""
    return table.to_native() if type(table).__module__.startswith("narwhals") else table


def kind_of(table: Any) -> str | None:
    """The kind of frame: "pandas", "polars", "polars-lazy", "pyarrow", "duckdb", "other"; None if it is no frame.

    "other" is any frame that narwhals knows. No library is imported for this but narwhals.
    """
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
    frame = nw.from_native(table, pass_through=True)
    return "other" if hasattr(frame, "to_native") else None


def collect(table: Any, kind: str) -> tuple[Any, str]:
    """A frame in memory, of pandas, Polars or PyArrow, and its kind."""
    if kind == "polars-lazy":
        return table.collect(), "polars"
    if kind != "other":
        return table, kind
    import narwhals.stable.v2 as nw

    frame = nw.from_native(table, pass_through=False)
    native = frame.collect().to_native() if isinstance(frame, nw.LazyFrame) else frame.to_native()
    found = kind_of(native)
    if found in ("pandas", "polars", "pyarrow"):
        return native, found
    return nw.from_native(native, eager_only=True).to_pandas(), "pandas"


def names_of(table: Any, kind: str) -> list[Hashable]:
    """The column names, which must be distinct."""
    names = list(table.column_names if kind == "pyarrow" else table.columns)
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        msg = f"The table has several columns named '{min(map(str, twice))}'. Rename all but one."
        raise InputError(msg)
    return names


def encode_column(column: Any, kind: str, role: str) -> Coded:
    """Codes of one column of a frame; null, NaN and empty text are missing."""
    encode = {"pandas": _encode_pandas, "polars": _encode_polars, "pyarrow": _encode_pyarrow}[kind]
    coded = encode(column)
    if isinstance(coded.values, list):
        check_finite(coded.values, role)
    else:
        check_finite(_infinite(coded.values, kind), role)
    return coded


def encode_cells(table: Any, names: Sequence[Hashable], kind: str) -> list[Coded]:
    """Codes of the annotators' columns; where there are many, those of one type are coded together."""
    if len(names) <= MANY:
        return [encode_column(table[name], kind, "label") for name in names]
    if kind == "pandas":
        dtypes = table.dtypes
        return encode_together([dtypes[n] for n in names], len(table), partial(_encode_pandas_cells, table[[*names]]))
    columns = [table[name] for name in names]

    def encode(_: Any, positions: list[int]) -> Coded:
        return encode_column(_end_to_end([columns[position] for position in positions], kind), kind, "label")

    dtypes = [column.type if kind == "pyarrow" else column.dtype for column in columns]
    return encode_together(dtypes, len(table), encode)


def _encode_pandas_cells(table: Any, dtype: Any, positions: list[int]) -> Coded | list[Coded]:
    import pandas as pd

    part = table.iloc[:, positions]
    whole = part.to_numpy(dtype=dtype if isinstance(dtype, np.dtype) else object).reshape(-1, order="F")
    column = pd.Series(whole, dtype=dtype)
    if column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) not in ("string", "empty"):
        return [encode_column(part.iloc[:, place], "pandas", "label") for place in range(len(positions))]
    return encode_column(column, "pandas", "label")


def _end_to_end(columns: list[Any], kind: str) -> Any:
    if kind == "polars":
        import polars as pl

        return pl.concat(columns, rechunk=True)
    import pyarrow as pa

    chunks = [chunk for column in columns for chunk in column.chunks]
    whole = pa.chunked_array(chunks, columns[0].type)
    return whole if pa.types.is_dictionary(whole.type) else pa.chunked_array([whole.combine_chunks()])


def _encode_pandas(column: Any) -> Coded:
    import pandas as pd

    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu":
        return encode_integers(column.to_numpy())
    try:
        codes, values = pd.factorize(column.to_numpy() if column.dtype == object else column)
    except TypeError:  # a value that is not hashable
        return encode_objects(column.tolist())
    coded = Coded(codes, values)
    blank = np.asarray(values == "", dtype=bool) if values.dtype.kind in "OSU" else np.zeros(1, dtype=bool)
    return coded.keep(~blank) if blank.any() else coded


def _encode_polars(column: Any) -> Coded:
    import polars as pl

    if column.dtype == pl.Object or column.dtype.is_nested():
        return encode_objects(column.to_list())
    if column.dtype.is_float():
        column = column.fill_nan(None)
    elif column.dtype in (pl.String, pl.Categorical, pl.Enum):
        column = pl.select(pl.when(column.cast(pl.String) != "").then(column)).to_series()
    if column.dtype.is_integer() and column.dtype not in (pl.Int128, getattr(pl, "UInt128", pl.Int128)):
        return _scatter(encode_integers(column.drop_nulls().to_numpy()), column.is_not_null().to_numpy())
    if column.dtype == pl.String and 20 * column.approx_n_unique() > len(column):
        coded = _encode_hashes(column)
        if coded is not None:
            return coded
    frame = column.alias("value").to_frame()
    try:
        values = frame.drop_nulls().unique(maintain_order=True)
        joined = frame.join(values.with_row_index("code"), on="value", how="left", maintain_order="left")
    except pl.exceptions.PolarsError:  # nested values
        return encode_objects(column.to_list())
    return Coded(joined["code"].cast(pl.Int32).fill_null(NO_CODE).to_numpy(), values["value"])


def _encode_hashes(column: Any) -> Coded | None:
    """Code many distinct texts by their hashes, three times faster than by a join; None should two of them collide."""
    valid = column.drop_nulls()
    codes = encode_integers(valid.hash().to_numpy()).codes
    values = valid[first_rows(codes)]
    if not (values[codes] == valid).all():
        return None
    return _scatter(Coded(codes, values), column.is_not_null().to_numpy())


def _encode_pyarrow(column: Any) -> Coded:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_nested(column.type):
        return encode_objects(column.to_pylist())
    dictionary = column.type if pa.types.is_dictionary(column.type) else None
    if dictionary is not None:
        column = column.cast(dictionary.value_type)
    null = pa.scalar(None, column.type)
    if pa.types.is_integer(column.type):
        return _scatter(encode_integers(column.drop_null().to_numpy()), column.is_valid().to_numpy())
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = pc.if_else(pc.equal(column, ""), null, column)
    elif pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), null, column)
    try:
        encoded = pa.chunked_array(column.dictionary_encode())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # nested values
        return encode_objects(column.to_pylist())
    if len({len(chunk.dictionary) for chunk in encoded.chunks}) > 1:  # PyArrow gives all chunks one dictionary
        encoded = encoded.unify_dictionaries()
    if not encoded.num_chunks:
        return Coded(np.empty(0, np.int32), pa.array([], column.type))
    codes = np.concatenate([_indices(chunk) for chunk in encoded.chunks])
    values = encoded.chunk(0).dictionary
    return Coded(codes, values if dictionary is None else values.dictionary_encode().cast(dictionary))


def _indices(chunk: Any) -> NDArray[np.int32]:
    return chunk.indices.fill_null(NO_CODE).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def _scatter(coded: Coded, valid: NDArray[np.bool_]) -> Coded:
    """Codes of the valid rows -> codes of all rows."""
    if valid.all():
        return coded
    codes = np.full(len(valid), NO_CODE, dtype=coded.codes.dtype)
    codes[valid] = coded.codes
    return Coded(codes, coded.values)


def _infinite(values: Any, kind: str) -> list[Any]:
    """The infinite numbers among the values."""
    if kind == "polars" and not isinstance(values, np.ndarray):
        return to_list(values.filter(values.is_infinite())) if values.dtype.is_float() else []
    if kind == "pyarrow" and not isinstance(values, np.ndarray):
        import pyarrow as pa
        import pyarrow.compute as pc

        return to_list(values.filter(pc.is_inf(values))) if pa.types.is_floating(values.type) else []
    if values.dtype.kind == "f":
        numbers = np.asarray(values, dtype=float)
        return to_list(numbers[np.isinf(numbers)])
    if values.dtype == object:
        import pandas as pd

        return [] if pd.api.types.infer_dtype(values) == "string" else to_list(values)
    return []


def encode_items(table: Any, name: Hashable | None, kind: str) -> Coded:
    """The items of a wide table: the column named, else the index of a pandas frame, else the row numbers."""
    if name is not None:
        return encode_column(table[name], kind, "item")
    if kind == "pandas" and type(table.index).__name__ not in ("RangeIndex", "MultiIndex"):
        return encode_column(table.index.to_series(), kind, "item")
    rows = np.arange(len(table))
    return Coded(rows, rows)
