"""A column of any library (NumPy, pandas, Polars, PyArrow, DuckDB, a list) -> its values, or some of its rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.integer[Any]]


def take(column: Any, codes: IntArray) -> Any:
    """The values at these positions, as a column of the same kind.

    >>> take(["a", "b"], np.array([1, 1, 0]))
    ['b', 'b', 'a']
    """
    if isinstance(column, list):
        return [column[code] for code in codes.tolist()]
    if isinstance(column, np.ndarray) or type(column).__module__.startswith("polars"):
        return column[codes]
    return column.take(codes)


def to_list(column: Any) -> list[Any]:
    """Every value as a Python object.

    >>> to_list(np.array([1, 2]))
    [1, 2]
    """
    if isinstance(column, list):
        return column
    for name in ("tolist", "to_list", "to_pylist"):
        convert = getattr(column, name, None)
        if convert is not None:
            return list(convert())
    return list(column)


def value_at(column: Any, code: int) -> Any:
    """One value as a Python object.

    >>> value_at(np.array([1.5]), 0)
    1.5
    """
    value = column[int(code)]  # Polars takes no NumPy integer
    if isinstance(value, np.generic):
        return value.item()
    return value.as_py() if hasattr(value, "as_py") else value
