"""Rows of label codes -> the distinct rows, and which of them each row shows, through one packed integer a row.

Nine judges with two labels each make 512 rows at most: ten million rows are read as one small integer each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations.encode import Coded
from covote.annotations.native import IntArray
from covote.annotations.value import BLOCK, NO_CODE, Annotations, Vocabulary

FEW_DISTINCT = 2**16
"""Rows are packed when there can be at most this many distinct ones; they have two bytes then."""

MOST_DISTINCT = 2**21
"""Or at most this many, where the table is longer than that."""

FEW = 2**14
"""Tables of fewer rows are not worth it."""


@dataclass(frozen=True)
class DistinctRows:
    """`cells` hold a code column an annotator over the distinct rows; `index` (rows,) is the distinct row of each."""

    cells: list[Coded]
    index: IntArray
    count: NDArray[np.int64]  # (distinct,): rows that show each

    def all_cells(self) -> list[Coded]:
        """The code columns over all rows."""
        return [column.rows(self.index) for column in self.cells]


def can_pack(sizes: Sequence[int], rows: Callable[[], int]) -> bool:
    """Whether columns with so many distinct labels fit; every column can also have no answer.

    >>> can_pack([2] * 9, lambda: 1000), can_pack([4] * 9, lambda: 1000), can_pack([4] * 9, lambda: 10**7)
    (True, False, True)
    """
    distinct = possible(sizes)
    return distinct <= FEW_DISTINCT or (distinct <= MOST_DISTINCT and distinct <= rows())


def possible(sizes: Sequence[int]) -> int:
    """Distinct rows that there can be."""
    return prod(size + 1 for size in sizes)


def strides(sizes: Sequence[int]) -> list[int]:
    """What the code of each column is multiplied with.

    >>> strides([2, 3])
    [1, 3]
    """
    return [prod(size + 1 for size in sizes[:m]) for m in range(len(sizes))]


def pack_cells(cells: Sequence[Coded]) -> DistinctRows | None:
    """The distinct rows of code columns; None where the table is short or there may be too many."""
    sizes = [len(column.values) for column in cells]
    rows = len(cells[0].codes) if cells else 0
    if rows < FEW or not can_pack(sizes, lambda: rows):
        return None
    packed: IntArray = np.zeros(rows, np.uint16 if possible(sizes) <= FEW_DISTINCT else np.int32)
    for start in range(0, len(packed), BLOCK):
        for column, size, stride in zip(cells, sizes, strides(sizes), strict=True):
            code = column.codes[start : start + BLOCK].astype(np.int32)
            code[code < 0] = size  # the last code of a column stands for no answer
            packed[start : start + BLOCK] += (code * np.int32(stride)).astype(packed.dtype)
    return unpack(packed, [column.values for column in cells])


def unpack(packed: IntArray, values: Sequence[Any]) -> DistinctRows:
    """Packed rows -> the distinct rows in order of their packed integers; `values` are the labels of each column.

    >>> found = unpack(np.array([4, 0, 4]), [["a", "b"], ["x"]])
    >>> [column.codes.tolist() for column in found.cells], found.index.tolist()
    ([[0, 1], [0, -1]], [1, 0, 1])
    """
    sizes = [len(column) for column in values]
    count = np.bincount(packed)
    distinct = np.flatnonzero(count)
    rank = (np.cumsum(count > 0) - 1).astype(np.uint16 if len(distinct) <= FEW_DISTINCT else np.int32)
    cells = []
    for column, size, stride in zip(values, sizes, strides(sizes), strict=True):
        code = distinct // stride % (size + 1)
        cells.append(Coded(np.where(code == size, NO_CODE, code).astype(np.int32), column).compact())
    return DistinctRows(cells, gathered(rank, packed), count[distinct])


def gathered(values: NDArray[Any], index: IntArray) -> NDArray[Any]:
    """values[index] of a small table and a long index, by blocks: no copy of the whole index is made.

    >>> gathered(np.array([5, 7]), np.array([1, 0, 1])).tolist()
    [7, 5, 7]
    """
    out = np.empty((len(index), *values.shape[1:]), values.dtype)
    for start in range(0, len(index), BLOCK):
        part = slice(start, start + BLOCK)
        values.take(index[part], axis=0, out=out[part], mode="clip")  # "clip" writes to `out` directly
    return out


class RepeatedRows(Annotations):
    """Annotations of items that show few `distinct` rows of answers; those of all items are laid out when asked for.

    `index` (items,) is the distinct row of every item, `count` (distinct,) says how many items show each.

    >>> distinct = Annotations.from_codes([0, 0, 1], [0, 1, 1], [1, 1, 0])
    >>> a = RepeatedRows(distinct, np.array([1, 0, 1], np.uint16), np.array([1, 2]), Vocabulary(["x", "y", "z"]))
    >>> a.n_labels, a.offsets.tolist(), a.answer.tolist()
    (4, [0, 1, 3, 4], [2, 1, 3, 2])
    """

    distinct: Annotations
    index: IntArray
    count: NDArray[np.int64]

    def __init__(self, distinct: Annotations, index: IntArray, count: NDArray[np.int64], items: Vocabulary) -> None:
        own = {"distinct": distinct, "index": index, "count": count}
        self.__dict__.update(own, items=items, annotators=distinct.annotators, classes=distinct.classes)

    def only(self, items: NDArray[np.int64]) -> RepeatedRows:
        """Only these items, renumbered."""
        index = self.index[items]
        count = np.bincount(index, minlength=self.distinct.n_items)
        return RepeatedRows(self.distinct, index, count, Vocabulary(np.arange(len(items))))

    @property
    def n_items(self) -> int:
        return len(self.index)

    @property
    def n_labels(self) -> int:
        return int(self.count @ np.diff(self.distinct.offsets))

    @property
    def n_unanswered(self) -> int:
        return int(self.count[np.diff(self.distinct.offsets) == 0].sum())

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(np.diff(self.distinct.offsets)[self.index])])

    @cached_property
    def answer(self) -> IntArray:
        one, each, offsets = self.distinct, np.diff(self.distinct.offsets), self.offsets
        if np.all(each == self.n_annotators):
            return np.asarray(one.answer.reshape(-1, self.n_annotators)[self.index].reshape(-1))
        answer = np.empty(self.n_labels, one.answer.dtype)
        for start in range(0, self.n_items, BLOCK):
            rows = self.index[start : start + BLOCK]
            begin, end = offsets[start : start + len(rows)], offsets[start + len(rows)]
            shift = np.repeat(one.offsets[rows] - begin, each[rows])
            answer[begin[0] : end] = one.answer[shift + np.arange(begin[0], end)]
        return answer
