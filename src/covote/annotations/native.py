"""A column of any library (NumPy, pandas, Polars, PyArrow, DuckDB, a list) -> its length, its values, some of its rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from covote.annotations.value import IntArray


def length(column: Any) -> int:
    """Number of values."""
    return len(column)


def take(column: Any, codes: IntArray) -> Any:
    """The values at these positions, as a column of the same kind.

    >>> take(["a", "b"], np.array([1, 1, 0]))
    ['b', 'b', 'a']
    """
    if isinstance(column, np.ndarray):
        return column[codes]
    module = type(column).__module__.split(".")[0]
    if module == "polars":
        return column[codes]
    if isinstance(column, list):
        return [column[code] for code in codes.tolist()]
    return column.take(codes)


def to_list(column: Any) -> list[Any]:
    """Every value as a Python object."""
    if isinstance(column, list):
        return column
    convert = getattr(column, "tolist", None) or getattr(column, "to_list", None) or column.to_pylist
    return list(convert())
