"""Columns of values -> integer codes and the distinct values they stand for, in order of first appearance."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations.native import IntArray, take, to_list
from covote.annotations.value import BLOCK, NO_CODE
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
        seen = np.zeros(len(self.values) + 1, dtype=bool)
        seen[self.codes] = True
        return self if seen[:-1].all() else self.keep(seen[:-1])

    def keep(self, wanted: NDArray[np.bool_]) -> Coded:
        """The values not `wanted`, shape (distinct,), become missing."""
        new = np.append(np.where(wanted, np.cumsum(wanted) - 1, NO_CODE), NO_CODE).astype(self.codes.dtype)
        return Coded(new[self.codes], take(self.values, np.flatnonzero(wanted)))  # code -1 reads the last entry


def encode_integers(column: IntArray) -> Coded:
    """Code integers by comparing, by a table over their range, or by sorting: whichever is cheapest.

    >>> coded = encode_integers(np.array([7, 5, 7]))
    >>> coded.codes.tolist(), coded.values.tolist()
    ([0, 1, 0], [7, 5])
    """
    if len(column) == 0:
        return Coded(np.empty(0, np.int32), column)
    some = column[: 2**12]
    if np.any(some[1:] < some[:-1]):  # not in order: by a table if one is small enough, without looking for runs
        low, high = int(column.min()), int(column.max())
        if _table_pays(column, low, high):
            return _encode_by_table(column, low, high)
    starts = np.empty(len(column), dtype=bool)  # where a run of equal values begins
    starts[0] = True
    np.greater(column[1:], column[:-1], out=starts[1:])
    if starts.all():
        return Coded(np.arange(len(column), dtype=np.int32 if len(column) < 2**31 else np.int64), column)
    np.not_equal(column[1:], column[:-1], out=starts[1:])
    heads = column[starts]
    if np.all(heads[1:] > heads[:-1]):
        return Coded(_run_number(starts), heads)
    low, high = int(heads.min()), int(heads.max())
    if _table_pays(column, low, high):
        return _encode_by_table(column, low, high)
    codes, values = _encode_by_sorting(heads)
    return Coded(codes[_run_number(starts)], values)


def _table_pays(column: IntArray, low: int, high: int) -> bool:
    return high - low < max(4 * len(column), 2**16)


def _run_number(starts: NDArray[np.bool_]) -> IntArray:
    run: IntArray = np.empty(len(starts), dtype=np.dtype(np.int32 if len(starts) < 2**31 else np.int64))
    last = -1
    for start in range(0, len(starts), BLOCK):
        block = np.cumsum(starts[start : start + BLOCK], dtype=run.dtype, out=run[start : start + BLOCK])
        block += last
        last = block[-1]
    return run


def _encode_by_table(column: IntArray, low: int, high: int) -> Coded:
    span = high - low + 1
    dtype = np.dtype(np.int16 if span < 2**15 else np.int32 if span < 2**31 else np.int64)
    table: IntArray = np.full(span, NO_CODE, dtype=dtype)  # place of a value in the range -> its code
    codes: IntArray = np.empty(len(column), dtype=dtype)
    met: list[NDArray[np.int64]] = []  # places in order of first appearance
    count = start = 0
    step = 2**12  # small at first: most values turn up early
    while start < len(column):
        place = _subtract(column[start : start + step], low)
        block = table[place]
        new = place[block < 0]
        if len(new):
            distinct = _first_met(new, table)
            table[distinct] = np.arange(count, count + len(distinct))
            count += len(distinct)
            met.append(distinct)
            block = table[place]
        codes[start : start + step] = block
        start, step = start + step, min(2 * step, BLOCK)
    return Coded(codes, _add(np.concatenate(met), low, column.dtype))


def _first_met(places: NDArray[np.int64], table: IntArray) -> NDArray[np.int64]:
    """The distinct places in order of first appearance; `table` is overwritten at these places."""
    if len(places) > np.iinfo(table.dtype).max:
        distinct, first = np.unique(places, return_index=True)
        return np.asarray(distinct[np.argsort(first)])
    position: IntArray = np.arange(len(places), dtype=table.dtype)
    table[places[::-1]] = position[::-1]  # of equal places the last one assigned stays: the first row
    return np.asarray(places[table[places] == position])


def _subtract(block: IntArray, low: int) -> NDArray[np.int64]:
    # unsigned 64 bits wrap around, so the difference is right for every integer type
    return (block.astype(np.uint64) - np.uint64(low % 2**64)).astype(np.int64)


def _add(place: IntArray, low: int, dtype: np.dtype[Any]) -> IntArray:
    return (place.astype(np.uint64) + np.uint64(low % 2**64)).astype(dtype)


def _encode_by_sorting(column: IntArray) -> tuple[IntArray, IntArray]:
    values, first, codes = np.unique(column, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank: IntArray = np.empty(len(order), dtype=np.dtype(np.int32 if len(order) < 2**31 else np.int64))
    rank[order] = np.arange(len(order))
    return rank[codes], values[order]


def first_rows(codes: IntArray) -> IntArray:
    """The row where each code appears first, for codes numbered by first appearance.

    >>> first_rows(np.array([0, 1, 0, 2])).tolist()
    [0, 1, 3]
    """
    highest = np.maximum.accumulate(codes)
    return np.flatnonzero(np.append([True], highest[1:] > highest[:-1])) if len(codes) else np.empty(0, np.int64)


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
        msg = f"A value cannot be an id or a label: {error}. Pass strings, numbers, tuples or other hashable values."
        raise InputError(msg) from None
    return without(Coded(codes, list(table)), is_missing)


def without(coded: Coded, unwanted: Callable[[Any], bool]) -> Coded:
    """The values for which `unwanted` holds become missing."""
    wanted = np.array([not unwanted(value) for value in to_list(coded.values)], dtype=bool)
    return coded if wanted.all() else coded.keep(wanted)


def is_missing(value: Any) -> bool:
    """None, NaN, NaT, pandas' NA and the empty string stand for no answer.

    >>> [is_missing(value) for value in (None, float("nan"), "", 0, "nan")]
    [True, True, True, False, False]
    """
    if value is None or (isinstance(value, str) and not value) or type(value).__name__ == "NAType":
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    # pandas' NaT is recognised by name, so that pandas need not be imported
    return type(value).__name__ == "NaTType" or (isinstance(value, (float, np.floating)) and math.isnan(value))


def check_finite(values: Sequence[Any], role: str) -> None:
    """Raise when one of the values is an infinite number."""
    for value in values:
        if isinstance(value, (float, np.floating, Decimal)) and math.isinf(value):
            number = "-inf" if value < 0 else "inf"
            msg = (
                f"The {role} column holds the number {number}. "
                "Ids and labels must be finite; leave a missing answer empty."
            )
            raise InputError(msg)
