"""Annotations in; how many answers of each label every item got, items with the same counts taken together, out.

Coefficients of agreement among many annotators need no more than that. Tallies of parts of whole items add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from covote.annotations import Annotations
from covote.annotations.distinct_rows import RepeatedRows

Floats = NDArray[np.float64]

MOST = 4096
"""Rows that a tally may have and still be redrawn row by row; crowds of fewer items are left as they are."""


@dataclass(frozen=True, eq=False)
class Tally:
    """Answers by label of every kind of item, and how many items are of that kind."""

    counts: Any  # sparse (rows, labels)
    weight: Floats  # (rows,): items

    @property
    def answers(self) -> Floats:
        """Answers to an item of each row, shape (rows,)."""
        return np.asarray(self.counts.sum(axis=1), dtype=np.float64).ravel()


def distinct_items(annotations: Annotations) -> tuple[Annotations, Floats | None]:
    """Items with different rows of answers and how often each comes (None: once), where the reader knows of them."""
    if isinstance(annotations, RepeatedRows):
        return annotations.distinct, annotations.count.astype(np.float64)
    return annotations, None


def tally(annotations: Annotations) -> Tally:
    """Count the labels of every item; items with the same counts share a row where that leaves few rows.

    >>> a = Annotations.from_codes([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0])
    >>> tally(a).counts.toarray().tolist(), tally(a).weight.tolist()
    ([[1, 1], [1, 1]], [1.0, 1.0])
    """
    items, weight = distinct_items(annotations)
    weights = np.ones(items.n_items) if weight is None else weight
    if items.n_items <= MOST:
        return Tally(_counts(items.offsets, items.label, items.n_classes), weights)
    labels = _sorted_labels(items)
    first, index = _number(items.offsets, labels)
    if first is None or index is None:
        return Tally(_counts(items.offsets, labels, items.n_classes), weights)
    size = np.diff(items.offsets)[first]
    offsets = np.concatenate([[0], np.cumsum(size)])
    rows = np.repeat(items.offsets[first] - offsets[:-1], size) + np.arange(offsets[-1])
    return Tally(_counts(offsets, labels[rows], items.n_classes), np.bincount(index, weights=weight).astype(np.float64))


def together(tallies: Sequence[Tally]) -> Tally:
    """The tally of several parts of one table, none of which splits an item."""
    return Tally(sparse.vstack([t.counts for t in tallies], format="csr"), np.concatenate([t.weight for t in tallies]))


def _counts(offsets: NDArray[np.int64], labels: NDArray[Any], n_classes: int) -> Any:
    ones = np.ones(len(labels), np.int64)
    found = sparse.csr_matrix((ones, labels.astype(np.int32), offsets), shape=(len(offsets) - 1, n_classes))
    found.sum_duplicates()
    return found


def _sorted_labels(a: Annotations) -> NDArray[Any]:
    from covote.kernels.label_sets import sort_labels

    labels = np.empty(a.n_labels, np.uint8 if a.n_classes <= 2**8 else np.int32)
    sort_labels(a.offsets, a.answer, a.n_classes, labels)
    return labels


def _number(
    offsets: NDArray[np.int64], labels: NDArray[Any]
) -> tuple[NDArray[np.int64] | None, NDArray[np.int32] | None]:
    """First item of every set of labels and the set of every item; None where there are more than `MOST`."""
    from covote.kernels.patterns import number_patterns

    index = np.empty(len(offsets) - 1, np.int32)
    first = np.empty(MOST, np.int64)
    slots = np.full(4 * MOST, -1, np.int32)
    found = number_patterns(offsets, labels, np.empty(0, np.int64), (0, len(index), 1), slots, first, index)
    return (None, None) if found < 0 else (first[:found], index)
