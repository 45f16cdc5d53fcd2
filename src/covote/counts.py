"""PairCounts: for every pair of annotators that shares items, a K x K table of how often (label, label) met."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Blocks of the pairs `first[p] < second[p]` that share items, sorted; `blocks[p, a, b]` counts the items that
    `first[p]` labelled a and `second[p]` labelled b. `+` merges the counts of chunks of whole items.

    >>> c = PairCounts.build([0], [1], [[[3, 1], [0, 4]]], [[4, 4], [3, 5]], 8, ("x", "y"), ("ann", "bob"))
    >>> (c + c).shared.tolist(), c.partners(1)[1][0].tolist()
    ([16.0], [[3.0, 0.0], [1.0, 4.0]])
    """

    first: Ints  # (pairs,)
    second: Ints  # (pairs,)
    blocks: Floats  # (pairs, labels of first, labels of second)
    label_counts: Floats  # (annotators, labels): answers given, shared or not
    n_items: float
    classes: tuple[Hashable, ...]
    annotators: tuple[Hashable, ...]
    max_partners: int | None = None  # where blocks of all pairs would not have fitted: partners kept of each annotator

    @classmethod
    def build(
        cls,
        first: Any,
        second: Any,
        blocks: Any,
        label_counts: Any,
        n_items: float,
        classes: Iterable[Hashable],
        annotators: Iterable[Hashable],
    ) -> PairCounts:
        """Check shapes, orient every pair as first < second, sort the pairs and merge repeated ones."""
        classes, annotators = tuple(classes), tuple(annotators)
        K, M = len(classes), len(annotators)
        first, second = np.asarray(first, np.int64), np.asarray(second, np.int64)
        blocks = np.asarray(blocks, np.float64).reshape(len(first), K, K)
        label_counts = np.asarray(label_counts, np.float64)
        if label_counts.shape != (M, K) or len(second) != len(first):
            msg = f"Pair counts of {M} annotators and {K} classes need label_counts of shape ({M}, {K})."
            raise InputError(msg)
        swap = first > second
        blocks = np.where(swap[:, None, None], blocks.transpose(0, 2, 1), blocks)
        key = np.where(swap, second, first) * M + np.where(swap, first, second)
        if np.any(np.diff(key) <= 0):
            key, where = np.unique(key, return_inverse=True)
            merged = np.zeros((len(key), K, K))
            np.add.at(merged, where, blocks)
            blocks = merged
        first, second = np.divmod(key, max(M, 1))
        return cls(first, second, blocks, label_counts, float(n_items), classes, annotators)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def n_annotators(self) -> int:
        return len(self.annotators)

    @property
    def n_pairs(self) -> int:
        return len(self.first)

    @cached_property
    def shared(self) -> Floats:
        """Items each pair shares, shape (pairs,)."""
        return np.asarray(self.blocks.sum(axis=(1, 2)))

    @cached_property
    def _by_annotator(self) -> tuple[Ints, Ints]:
        ends = np.concatenate([self.first, self.second])
        order = np.argsort(ends, kind="stable")
        starts = np.searchsorted(ends[order], np.arange(self.n_annotators + 1))
        return order, starts.astype(np.int64)

    def partners(self, annotator: int) -> tuple[Ints, Floats]:
        """Codes of those who share items with `annotator`, and its blocks with them: (T,), (T, own label, theirs)."""
        order, starts = self._by_annotator
        mine = order[starts[annotator] : starts[annotator + 1]]
        cut = int(mine.searchsorted(len(self.first)))  # the order is stable
        as_first, as_second = mine[:cut], mine[cut:] - len(self.first)
        blocks = np.empty((len(mine), *self.blocks.shape[1:]))
        blocks[:cut] = self.blocks[as_first]
        blocks[cut:] = self.blocks[as_second].transpose(0, 2, 1)
        return np.concatenate([self.second[as_first], self.first[as_second]]), blocks

    def kept(self, mask: NDArray[np.bool_]) -> PairCounts:
        """Only the pairs where `mask` is true."""
        return PairCounts(
            self.first[mask],
            self.second[mask],
            self.blocks[mask],
            self.label_counts,
            self.n_items,
            self.classes,
            self.annotators,
        )

    def __add__(self, other: PairCounts) -> PairCounts:
        annotators = _union(self.annotators, other.annotators)
        classes = _in_order(_union(self.classes, other.classes))
        a, b = (part._renamed(annotators, classes) for part in (self, other))
        return PairCounts.build(
            np.concatenate([a.first, b.first]),
            np.concatenate([a.second, b.second]),
            np.concatenate([a.blocks, b.blocks]),
            a.label_counts + b.label_counts,
            a.n_items + b.n_items,
            classes,
            annotators,
        )

    def _renamed(self, annotators: tuple[Hashable, ...], classes: tuple[Hashable, ...]) -> PairCounts:
        who = _positions(self.annotators, annotators)
        what = _positions(self.classes, classes)
        blocks = np.zeros((self.n_pairs, len(classes), len(classes)))
        blocks[:, what[:, None], what[None, :]] = self.blocks
        label_counts = np.zeros((len(annotators), len(classes)))
        label_counts[who[:, None], what[None, :]] = self.label_counts
        return PairCounts.build(
            who[self.first], who[self.second], blocks, label_counts, self.n_items, classes, annotators
        )


def _union(a: tuple[Hashable, ...], b: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
    return tuple(dict.fromkeys((*a, *b)))


def _in_order(classes: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
    """Sorted where they can be, so that the order of the chunks does not show."""
    try:
        return tuple(sorted(classes))  # type: ignore[type-var]
    except TypeError:
        return classes


def _positions(names: tuple[Hashable, ...], among: tuple[Hashable, ...]) -> Ints:
    place = {name: i for i, name in enumerate(among)}
    return np.array([place[name] for name in names], dtype=np.int64)
