"""Annotations in, the blocks of all pairs that share items (or the strongest of them) out.

Small crowds are counted into a table with a cell for every two answers, one pass over the items; large ones
annotator by annotator, in memory proportional to the pairs that exist.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations.value import Annotations
from covote.engines.partners import MOST_CELLS, bound, limited, strongest_pairs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Span = tuple[int, int]
Run = Callable[[Callable[[Any], Any], list[Any]], list[Any]]
"""`run(work, tasks)`: results in the order of the tasks, perhaps from several threads."""

_LIST = 2**20


@dataclass(frozen=True, eq=False)
class PairCounter:
    """Counts the pairs of `annotations`, items counted `weight` (items,) times (empty: once)."""

    annotations: Annotations
    weight: Floats
    run: Run
    threads: int

    def count(
        self, max_partners: int | None = None, only: tuple[Ints, Ints] | None = None
    ) -> tuple[Ints, Ints, Floats, Ints]:
        """Pairs first < second, sorted, their blocks (pairs, K, K), and the bound of partners (0: all were counted).

        With `only`, those of the pairs it lists.
        """
        if only is not None:
            return *only, self._filled(*only), np.array(0)
        if self._table_pays():
            return *limited(*self._count_in_table(), self.annotations.n_annotators, max_partners), np.array(0)
        return self._count_by_annotator(max_partners)

    def overlaps(self) -> tuple[Ints, Ints, Ints]:
        """Pairs first < second that share items, sorted, and how many items they share."""
        _, starts = self._by_annotator
        listed = self.run(self._partners, _even_spans(starts, len(starts) - 1))
        found, second, shared = (np.concatenate([part[i] for part in listed]) for i in range(3))
        return np.repeat(np.arange(len(found)), found), second.astype(np.int64), shared.astype(np.int64)

    @cached_property
    def _who(self) -> NDArray[np.int32]:
        """Annotator of every answer code, (annotators * classes,): looking up is quicker than dividing."""
        a = self.annotations
        return np.repeat(np.arange(a.n_annotators, dtype=np.int32), a.n_classes)

    def _table_pays(self) -> bool:
        a = self.annotations
        cells = a.n_annotators * (a.n_annotators - 1) // 2 * a.n_classes**2
        answers = np.diff(a.offsets)
        meetings = (int(answers @ answers) - a.n_labels) // 2
        return cells <= min(MOST_CELLS, 8 * meetings + 2**14)

    def _count_in_table(self) -> tuple[Ints, Ints, Floats]:
        from covote.kernels import pairs

        a = self.annotations
        M, K = a.n_annotators, a.n_classes
        who, label = np.divmod(np.arange(M * K), max(K, 1))
        before = who * (2 * M - who - 1) // 2 - who - 1  # pairs (m, l) in order: pair number = before[m] + l
        left, right = before * K * K + label * K, who * K * K + label
        cells = M * (M - 1) // 2 * K * K
        weighted = len(self.weight) > 0  # sums of weights depend on their order: one thread
        parts = 1 if weighted else max(min(self.threads, a.n_labels // 100_000), 1)
        edges = np.searchsorted(a.offsets, np.linspace(0, a.n_labels, parts + 1)).tolist()
        edges[0], edges[-1] = 0, a.n_items

        def one(span: Span) -> NDArray[Any]:
            table = np.zeros(cells, np.float64 if weighted else np.uint32)
            pairs.count_all_pairs(a.offsets, a.answer, self.weight, span, left, right, table)
            return table

        tables = self.run(one, list(pairwise(edges)))
        for other in tables[1:]:
            tables[0] += other
        blocks = tables[0].reshape(-1, K, K)
        del tables
        met = np.flatnonzero(blocks.any(axis=(1, 2)))
        first, second = np.triu_indices(M, 1)
        if len(met) < len(first):
            first, second, blocks = first[met], second[met], blocks[met]
        return first.astype(np.int64), second.astype(np.int64), blocks.astype(np.float64)

    @cached_property
    def _by_annotator(self) -> tuple[NDArray[Any], Ints]:
        """Items of each annotator, one annotator after the other, and where those of each begin."""
        from covote.kernels import pairs

        a = self.annotations
        M, K = a.n_annotators, a.n_classes
        answers = np.bincount(a.answer, minlength=M * K).reshape(M, K).sum(axis=1).astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(answers)])
        by_annotator = np.empty(a.n_labels, np.int32 if a.n_items < 2**31 else np.int64)
        pairs.sort_by_annotator(a.offsets, a.answer, self._who, starts[:-1].copy(), by_annotator)
        return by_annotator, starts

    def _count_by_annotator(self, max_partners: int | None) -> tuple[Ints, Ints, Floats, Ints]:
        a = self.annotations
        first, second, shared = self.overlaps()
        limit = bound(len(first), (a.n_annotators, a.n_classes)) if max_partners is None else max_partners
        if limit is not None:
            keep = strongest_pairs(first, second, shared, a.n_annotators, limit)
            first, second = first[keep], second[keep]
        blocks = self._filled(first, second)
        met = blocks.any(axis=(1, 2)) if len(self.weight) else slice(None)  # items of weight 0 do not count
        unasked = limit if max_partners is None and limit is not None else 0
        return first[met], second[met], blocks[met], np.array(unasked)

    def _filled(self, first: Ints, second: Ints) -> Floats:
        """Blocks of the pairs listed, sorted by the first annotator."""
        from covote.kernels import pairs

        a = self.annotations
        by_annotator, starts = self._by_annotator
        first_pair = np.searchsorted(first, np.arange(a.n_annotators + 1))
        blocks = np.zeros((len(first), a.n_classes, a.n_classes))
        self.run(
            lambda span: pairs.fill_pairs(
                a.offsets, a.answer, self.weight, self._who, by_annotator, starts, span, first_pair, second, blocks
            ),
            _even_spans(starts, a.n_annotators),
        )
        return blocks

    def _partners(self, span: Span) -> tuple[NDArray[Any], ...]:
        """Number of partners of each annotator of the span, the partners, and the items shared with them."""
        from covote.kernels import pairs

        a = self.annotations
        by_annotator, starts = self._by_annotator
        M = a.n_annotators
        size = min(max(_LIST, M), max((M - span[0]) * (span[1] - span[0]), 1))
        found = np.zeros(M, np.int64)
        second, shared = np.empty(size, np.int32), np.empty(size, np.int32)
        parts, begin = [], span[0]
        while begin < span[1]:
            rest = (begin, span[1])
            end = pairs.list_partners(a.offsets, a.answer, self._who, by_annotator, starts, rest, found, second, shared)
            used = int(found[begin:end].sum())
            parts.append((second[:used].copy(), shared[:used].copy()))
            begin = end
        listed, overlap = (np.concatenate([part[i] for part in parts]) for i in range(2))
        return found[span[0] : span[1]], listed, overlap


def _even_spans(starts: Ints, n: int) -> list[Span]:
    """Annotators 0..n in about sixteen spans of as many answers each."""
    cuts = np.searchsorted(starts, np.linspace(0, starts[-1], 17)[1:-1])
    edges = np.unique(np.concatenate([[0], cuts, [n]])).tolist()
    return list(pairwise(edges)) or [(0, 0)]
