"""A matrix of label codes, a row an item and a column an annotator -> Annotations."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from covote.annotations.encode import Coded
from covote.annotations.native import length
from covote.annotations.repeats import settle
from covote.annotations.value import Annotations, IntArray, Vocabulary, answer_dtype
from covote.errors import ColumnError

SMALL = 100
"""A table is only taken for wide by itself when its cells hold at most this many distinct labels."""


def from_matrix(matrix: IntArray, items: Coded, annotators: Any, classes: Any, *, duplicates: str) -> Annotations:
    """Label codes of shape (items, annotators), -1 for no answer -> Annotations; the silent keep their place.

    >>> a = from_matrix(np.array([[0, -1], [-1, -1]]), Coded(np.arange(2), ["x", "y"]), ["p", "q"], ["cat"], duplicates="error")
    >>> a.offsets.tolist(), a.answer.tolist(), a.n_annotators
    ([0, 1, 1], [0], 2)
    """
    answered = matrix >= 0
    n_classes = length(classes)
    if length(items.values) < len(matrix):  # an item in two rows
        row, column = np.nonzero(answered)
        return settle(
            Coded(items.codes[row], items.values),
            Coded(column, annotators),
            Coded(matrix[row, column], classes),
            duplicates=duplicates,
        )
    offsets = np.zeros(len(matrix) + 1, dtype=np.int64)
    np.cumsum(np.count_nonzero(answered, axis=1), out=offsets[1:])
    dtype = answer_dtype(matrix.shape[1], n_classes)
    base = np.arange(matrix.shape[1], dtype=dtype) * dtype(n_classes)  # (annotators,)
    answer = (matrix.astype(dtype) + base)[answered]
    return Annotations(offsets, answer, Vocabulary(items.values), Vocabulary(annotators), Vocabulary(classes))


def check_cells(labels: Sequence[set[Hashable]], names: Sequence[Hashable]) -> None:
    """Raise unless the annotators' columns share a small vocabulary, the sign of a wide table.

    `labels` holds the distinct labels of each column. They must be at most 100 in all, and at least half of them
    must be used in more than one column.
    """
    seen: dict[Hashable, int] = {}
    for column in labels:
        for label in column:
            seen[label] = seen.get(label, 0) + 1
    shared = sum(count > 1 for count in seen.values())
    if seen and (len(seen) > SMALL or 2 * shared < len(seen)):
        listed = ", ".join(str(name) for name in names[:20]) + (", ..." if len(names) > 20 else "")
        msg = (
            f"No annotator and label columns recognised. Columns are: {listed}. "
            'Pass item=, annotator= and label=, or shape="wide" if each column is an annotator.'
        )
        raise ColumnError(msg)
