"""Columns of label codes, one an annotator, or their matrix, a row an item -> Annotations."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from covote.annotations.classes import order_classes
from covote.annotations.encode import Coded
from covote.annotations.native import IntArray, to_list
from covote.annotations.repeats import lost_id, settle
from covote.annotations.value import BLOCK, NO_CODE, Annotations, Vocabulary, answer_dtype
from covote.errors import ColumnError, InputError

SMALL = 100
"""A table is taken for wide by itself only when its cells hold at most this many distinct labels."""


def annotations_from_wide(
    items: Coded, cells: Sequence[Coded], annotators: Any, *, duplicates: str, classes: Iterable[Hashable] | None
) -> Annotations:
    """One coded column an annotator -> Annotations; items and annotators without answers keep their place.

    >>> x = Coded(np.array([0, -1]), ["cat"])
    >>> a = annotations_from_wide(Coded(np.arange(2), ["i", "j"]), [x], ["ann"], duplicates="error", classes=None)
    >>> a.offsets.tolist(), a.n_labels
    ([0, 1, 1], 1)
    """
    merged = _merge([to_list(column.values) for column in cells])
    ordered = order_classes(Coded(np.arange(len(merged)), list(merged.values())), classes)
    code_of = {value: int(code) for value, code in zip(merged, ordered.codes, strict=True)}
    dtype = np.int8 if len(ordered.values) < 2**7 else np.int16 if len(ordered.values) < 2**15 else np.int32
    tables = [np.array([code_of[v] for v in to_list(c.values)] + [NO_CODE], dtype=dtype) for c in cells]
    matrix = np.empty((len(items.codes), len(cells)), dtype=dtype)
    for start in range(0, len(matrix), 2**14):  # in blocks that stay in the cache while they are filled by columns
        block = slice(start, start + 2**14)
        for position, (column, table) in enumerate(zip(cells, tables, strict=True)):
            matrix[block, position] = table[column.codes[block]]
    return from_matrix(matrix, items, annotators, ordered.values, duplicates=duplicates)


def _merge(columns: Sequence[list[Any]]) -> dict[Any, Any]:
    """Distinct labels of all columns; of an integer and an equal float, which a gap makes of it, the integer stays."""
    merged: dict[Any, Any] = {}
    for column in columns:
        for value in column:
            known = merged.setdefault(value, value)
            if isinstance(known, float) and isinstance(value, int):
                merged[value] = value
    return merged


def from_matrix(matrix: IntArray, items: Coded, annotators: Any, classes: Any, *, duplicates: str) -> Annotations:
    """Label codes of shape (items, annotators), -1 for no answer -> Annotations.

    >>> items = Coded(np.arange(2), ["x", "y"])
    >>> a = from_matrix(np.array([[0, -1], [-1, -1]]), items, ["p", "q"], ["cat"], duplicates="error")
    >>> a.offsets.tolist(), a.answer.tolist(), a.n_annotators
    ([0, 1, 1], [0], 2)
    """
    answered = matrix >= 0
    count = np.count_nonzero(answered, axis=1)
    lost = items.codes < 0
    if lost.any():
        if count[lost].any():
            raise InputError(lost_id("item", int(np.argmax(lost & (count > 0))) + 1))
        return from_matrix(matrix[~lost], items.rows(~lost), annotators, classes, duplicates=duplicates)
    if len(items.values) < len(matrix):  # an item in two rows
        row, column = np.nonzero(answered)
        label = Coded(matrix[row, column], classes)
        return settle(items.rows(row), Coded(column, annotators), label, duplicates=duplicates)
    offsets = np.zeros(len(matrix) + 1, dtype=np.int64)
    np.cumsum(count, out=offsets[1:])
    dtype = answer_dtype(matrix.shape[1], len(classes))
    answer = np.empty(int(offsets[-1]), dtype=dtype)
    base = np.arange(matrix.shape[1], dtype=dtype) * dtype(len(classes))  # (annotators,)
    step = max(BLOCK // max(matrix.shape[1], 1), 1)
    for start in range(0, len(matrix), step):
        block = matrix[start : start + step].astype(dtype) + base
        stop = min(start + step, len(matrix))
        answer[offsets[start] : offsets[stop]] = block[answered[start:stop]]
    return Annotations(offsets, answer, Vocabulary(items.values), Vocabulary(annotators), Vocabulary(classes))


def check_cells(labels: Sequence[Iterable[Hashable]], names: Sequence[Hashable]) -> None:
    """Raise unless the annotators' columns share a small vocabulary, the sign of a wide table.

    `labels` holds the distinct labels of each column. They must be at most 100 in all, and at least half of them
    must be used in more than one column.
    """
    seen: dict[Hashable, int] = {}
    for column in labels:
        for label in set(column):
            seen[label] = seen.get(label, 0) + 1
    shared = sum(count > 1 for count in seen.values())
    if seen and (len(seen) > SMALL or 2 * shared < len(seen)):
        listed = ", ".join(str(name) for name in names[:20]) + (", ..." if len(names) > 20 else "")
        msg = (
            f"No annotator and label columns recognised. Columns are: {listed}. "
            'Pass item=, annotator= and label=, or shape="wide" if each column is an annotator.'
        )
        raise ColumnError(msg)
