"""Columns of values -> integer codes and the distinct values they stand for, in order of first appearance."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations.native import length, take, to_list
from covote.annotations.value import NO_CODE, IntArray
from covote.errors import InputError


@dataclass(frozen=True)
class Coded:
    """A column: one code a row (-1: missing), and the distinct values in the library's own kind of column."""

    codes: IntArray  # (rows,)
    values: Any  # (distinct,)

    def rows(self, keep: NDArray[Any]) -> Coded:
        """The rows chosen by a mask or by positions; the values stay."""
        return Coded(self.codes[keep], self.values)

    def compact(self) -> Coded:
        """Without the values that no row has; order kept."""
        seen = np.zeros(length(self.values), dtype=bool)
        seen[self.codes] = True
        if seen.all():
            return self
        return Coded((np.cumsum(seen, dtype=self.codes.dtype) - 1)[self.codes], take(self.values, np.flatnonzero(seen)))


def encode_integers(column: IntArray) -> Coded:
    """Code integers by comparing, by a table over their range, or by sorting: whichever is cheapest.

    >>> coded = encode_integers(np.array([7, 5, 7]))
    >>> coded.codes.tolist(), coded.values.tolist()
    ([0, 1, 0], [7, 5])
    """
    if len(column) == 0:
        return Coded(np.empty(0, np.int32), column)
    starts = np.empty(len(column), dtype=bool)  # where a run of equal values begins
    starts[0] = True
    np.not_equal(column[1:], column[:-1], out=starts[1:])
    heads = column[starts]
    if not np.all(heads[1:] > heads[:-1]):
        low, high = int(heads.min()), int(heads.max())
        if high - low < max(4 * len(column), 2**16):
            return _encode_by_table(column, low, high)
        codes, values = _encode_by_sorting(heads)
        run = np.cumsum(starts, dtype=np.int32) - np.int32(1)
        return Coded(codes[run], values)
    return Coded(np.cumsum(starts, dtype=np.int32) - np.int32(1), heads)


def _encode_by_table(column: IntArray, low: int, high: int) -> Coded:
    dtype = np.int32 if len(column) < 2**31 else np.int64
    place = (column - column.dtype.type(low)).astype(np.uint32 if high - low < 2**32 else np.uint64, copy=False)
    table = np.empty(high - low + 1, dtype=dtype)
    position = np.arange(len(column), dtype=dtype)
    table[place[::-1]] = position[::-1]  # of equal indices the last assignment stays: the first row
    values = column[table[place] == position]
    del position
    table[(values - column.dtype.type(low)).astype(place.dtype, copy=False)] = np.arange(len(values), dtype=dtype)
    return Coded(table[place], values)


def _encode_by_sorting(column: IntArray) -> tuple[IntArray, IntArray]:
    values, first, codes = np.unique(column, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank[codes], values[order]


def encode_objects(column: Iterable[Hashable]) -> Coded:
    """Code Python objects of any hashable kind; objects that are equal, as keys of a dict are, share a code.

    >>> coded = encode_objects(["b", None, ("a", 1), "b"])
    >>> coded.codes.tolist(), coded.values
    ([0, -1, 1, 0], ['b', ('a', 1)])
    """
    table: dict[Hashable, int] = {}
    try:
        codes = np.fromiter((table.setdefault(value, len(table)) for value in column), dtype=np.int64)
    except TypeError as error:
        msg = f"A value cannot serve as an id or a label ({error}). Pass strings, numbers, tuples or other hashable values."
        raise InputError(msg) from None
    return without(Coded(codes, list(table)), is_missing)


def without(coded: Coded, unwanted: Callable[[Any], bool]) -> Coded:
    """The values for which `unwanted` holds become missing."""
    wanted = np.array([not unwanted(value) for value in to_list(coded.values)], dtype=bool)
    if wanted.all():
        return coded
    new = np.where(wanted, np.cumsum(wanted) - 1, NO_CODE)
    codes = np.where(coded.codes >= 0, new[coded.codes], NO_CODE)
    return Coded(codes, take(coded.values, np.flatnonzero(wanted)))


def is_missing(value: Any) -> bool:
    """None, NaN, pandas' NA and NaT, and the empty string stand for no answer.

    >>> [is_missing(value) for value in (None, float("nan"), "", 0, "nan")]
    [True, True, True, False, False]
    """
    if value is None or (isinstance(value, str) and not value) or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return bool(is_number(value) and value != value)  # noqa: PLR0124  NaN of any kind


def is_number(value: Any) -> bool:
    """Whether the value is a number of Python or NumPy that can be compared with itself."""
    return isinstance(value, (int, float, np.number)) or type(value).__name__ == "Decimal"


def check_finite(values: Sequence[Any], role: str) -> None:
    """Raise when one of the values is infinite."""
    for value in values:
        if isinstance(value, (float, np.floating)) and math.isinf(value):
            msg = f"The {role} column holds the number {value}. Ids and labels must be finite; leave a missing answer empty."
            raise InputError(msg)
