"""The in-memory engine: Annotations in, counts and posteriors out, by compiled kernels in threads.

Items are cut into spans whose number depends on the data alone and whose sums are added in order, so results are
the same to the last bit for any number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations.value import Annotations
from covote.counts import PairCounts
from covote.engines.base import ExpectedCounts, Moments
from covote.engines.partners import strongest_pairs
from covote.model import Scores

Floats = NDArray[np.float64]
Span = tuple[int, int]

_LABELS_A_SPAN = 200_000
_MOST_SPANS = 64


@dataclass(frozen=True, eq=False)
class MemoryEngine:
    """An engine over answers in memory; `weight` counts an item several times, `gold` fixes the class of some items.

    >>> engine = MemoryEngine(Annotations.from_codes([0, 0, 1], [0, 1, 1], [1, 1, 0]))
    >>> engine.pair_counts().blocks.tolist()
    [[[0.0, 0.0], [0.0, 1.0]]]
    """

    annotations: Annotations
    weight: Floats | None = None  # (items,)
    gold: NDArray[np.int64] | None = None  # (items,): class code, or -1 where unknown
    threads: int | None = None  # all cores when None

    @property
    def annotators(self) -> tuple[Hashable, ...]:
        return tuple(self.annotations.annotators)

    @property
    def classes(self) -> tuple[Hashable, ...]:
        return tuple(self.annotations.classes)

    @property
    def n_items(self) -> int:
        return self.annotations.n_items

    def weighted(self, weight: Floats) -> MemoryEngine:
        """The same answers with items counted `weight` times (bootstrap)."""
        return replace(self, weight=weight)

    @cached_property
    def _weight(self) -> Floats:
        return np.empty(0) if self.weight is None else np.ascontiguousarray(self.weight, dtype=np.float64)

    @cached_property
    def _gold(self) -> NDArray[np.int64]:
        return np.empty(0, np.int64) if self.gold is None else np.ascontiguousarray(self.gold, dtype=np.int64)

    @cached_property
    def _spans(self) -> list[Span]:
        a = self.annotations
        buffer = a.n_annotators * a.n_classes**2
        number = int(np.clip(a.n_labels // max(_LABELS_A_SPAN, 4 * buffer), 1, _MOST_SPANS))
        cuts = np.searchsorted(a.offsets, np.linspace(0, a.n_labels, number + 1)[1:-1])
        edges = [0, *cuts.tolist(), a.n_items]
        return [(b, e) for b, e in pairwise(edges) if e > b] or [(0, a.n_items)]

    def _map(self, work: Callable[[Span], Any], spans: list[Span]) -> list[Any]:
        threads = min(self.threads or os.cpu_count() or 1, len(spans))
        if threads <= 1:
            return [work(span) for span in spans]
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(work, spans))

    def pair_counts(self, max_partners: int | None = None) -> PairCounts:
        """Blocks of all pairs that share items, or of the `max_partners` largest overlaps of each annotator."""
        from covote.kernels import pairs

        a = self.annotations
        K, M = a.n_classes, a.n_annotators
        annotator = a.annotator
        by_annotator = a.item[np.argsort(annotator, kind="stable")]
        starts = np.searchsorted(np.sort(annotator, kind="stable"), np.arange(M + 1))
        spans = _even_spans(starts, M)
        partner_count = np.zeros(M, np.int64)
        self._map(lambda s: pairs.count_partners(a.offsets, a.answer, by_annotator, starts, s, K, partner_count), spans)
        first_pair = np.concatenate([[0], np.cumsum(partner_count)])
        second = np.empty(first_pair[-1], np.int64)
        blocks = np.zeros((first_pair[-1], K, K))
        self._map(
            lambda s: pairs.count_pairs(
                a.offsets, a.answer, self._weight, by_annotator, starts, s, K, first_pair, second, blocks
            ),
            spans,
        )
        first = np.repeat(np.arange(M), partner_count)
        counts = PairCounts.build(first, second, blocks, self.label_counts(), self._n_weighted, a.classes, a.annotators)
        if max_partners is None:
            return counts
        return counts.kept(strongest_pairs(counts.first, counts.second, counts.shared, M, max_partners))

    @property
    def _n_weighted(self) -> float:
        return float(self.n_items if self.weight is None else self.weight.sum())

    def label_counts(self) -> Floats:
        """Answers each annotator gave, by label: (annotators, labels)."""
        a = self.annotations
        weight = None if self.weight is None else np.repeat(self.weight, np.diff(a.offsets))
        counts = np.bincount(a.answer, weights=weight, minlength=a.n_annotators * a.n_classes)
        return np.asarray(counts, np.float64).reshape(a.n_annotators, a.n_classes)

    def expected_counts(self, scores: Scores) -> ExpectedCounts:
        from covote.kernels import items

        a = self.annotations
        kernel = items.em_pass if scores.link == "log" else items.vote_pass
        table, bias = _kernel_arguments(scores)

        def one(span: Span) -> tuple[Floats, Floats, float]:
            counts, mass = np.zeros_like(table), np.zeros_like(bias)
            value = kernel(a.offsets, a.answer, self._weight, self._gold, span, table, bias, counts, mass)
            return counts, mass, value

        parts = self._map(one, self._spans)
        counts, mass = sum(p[0] for p in parts), sum(p[1] for p in parts)
        return ExpectedCounts(counts.reshape(scores.table.shape), mass, float(sum(p[2] for p in parts)))

    def posterior(self, scores: Scores) -> Floats:
        """Probability of every class for every item, shape (items, classes)."""
        from covote.kernels import items

        a = self.annotations
        kernel = items.posterior_pass if scores.link == "log" else items.shares_pass
        table, bias = _kernel_arguments(scores)
        out = np.empty((a.n_items, a.n_classes))
        self._map(lambda s: kernel(a.offsets, a.answer, s[0], s[1], table, bias, out), self._spans)
        return out

    def group_moments(self, groups: NDArray[np.int64]) -> Moments:
        from covote.kernels import moments

        a = self.annotations
        K = a.n_classes

        def one(span: Span) -> tuple[Floats, Floats]:
            second, third = np.zeros((3, K, K)), np.zeros((K, K, K))
            moments.group_moment_pass(a.offsets, a.answer, self._weight, groups, *span, K, second, third)
            return second, third

        parts = self._map(one, self._spans)
        second, third = sum(p[0] for p in parts), sum(p[1] for p in parts)
        return Moments(second, third, second.sum(axis=(1, 2)), float(third.sum()))

    def triple_moments(self, triples: NDArray[np.int64]) -> Floats:
        """Counts (T, K, K, K) of the answers of annotator triples (T, 3); memory is proportional to the triples."""
        from covote.kernels import moments

        a = self.annotations
        K = a.n_classes
        order = np.argsort(a.annotator, kind="stable")
        item, label = a.item[order], a.label[order]
        starts = np.searchsorted(a.annotator[order], np.arange(a.n_annotators + 1))
        triples = np.ascontiguousarray(triples, dtype=np.int64).reshape(-1, 3)
        out = np.zeros((len(triples), K, K, K))
        edges = np.linspace(0, len(triples), 9).astype(np.int64).tolist()
        spans = [(b, e) for b, e in pairwise(edges) if e > b]
        self._map(lambda s: moments.triple_pass(item, label, starts, self._weight, triples, s, a.n_items, out), spans)
        return out


def _kernel_arguments(scores: Scores) -> tuple[Floats, Floats]:
    """Table (annotators * labels, classes) and bias as the kernels want them: probabilities, or votes."""
    table = np.ascontiguousarray(scores.table.reshape(-1, scores.table.shape[-1]))
    return (np.exp(table), np.exp(scores.bias)) if scores.link == "log" else (table, scores.bias)


def _even_spans(starts: NDArray[np.int64], n: int) -> list[Span]:
    cuts = np.unique(np.searchsorted(starts, np.linspace(0, starts[-1], 17)[1:-1]))
    edges = np.unique(np.concatenate([[0], cuts, [n]]))
    return [(int(b), int(e)) for b, e in pairwise(edges) if e > b]
