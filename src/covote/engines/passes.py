"""Passes over encoded answers: annotations, weights and scores in, sums and values by item out, in threads.

Items are cut into spans whose number depends on the data alone and whose sums are added in order, so results are
the same to the last bit for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations.value import BLOCK, Annotations
from covote.engines import vectorised
from covote.engines.base import ExpectedCounts, Moments
from covote.engines.pair_counting import PairCounter
from covote.engines.partners import limited
from covote.labels import TIE, choose_labels, favoured
from covote.model import Scores

Floats = NDArray[np.float64]
Span = tuple[int, int]

_LABELS_A_SPAN = 100_000
_MOST_SPANS = 64
_UNROLLED = 4
"""Crowds of at most this many classes take the unrolled kernel."""


@dataclass(frozen=True, eq=False)
class Pass:
    """The passes that the in-memory engine makes over its items."""

    annotations: Annotations
    weight: Floats | None  # (items,): how often each item counts
    gold: NDArray[np.int64] | None  # (items,): class code, or -1 where unknown
    threads: int
    small: bool  # so few answers that NumPy is quicker than to load the kernels

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

    def run(self, work: Callable[[Any], Any], tasks: list[Any]) -> list[Any]:
        """Results of `work` in the order of the tasks."""
        threads = min(self.threads, len(tasks))
        if threads <= 1:
            return [work(task) for task in tasks]
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(work, tasks))

    def pairs(self, max_partners: int | None) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
        """Pairs of annotators that share items, and their blocks."""
        if self.small:
            first, second, blocks = vectorised.count_pairs(self.annotations, self.weight)
            return limited(first, second, blocks, self.annotations.n_annotators, max_partners)
        return PairCounter(self.annotations, self._weight, self.run, self.threads).count(max_partners)

    @cached_property
    def label_counts(self) -> Floats:
        """Answers each annotator gave, by label: (annotators, labels)."""
        a = self.annotations
        counts = np.zeros(a.n_annotators * a.n_classes)
        for begin in range(0, a.n_labels, BLOCK):  # in blocks, for counting widens the codes it reads to 64 bits
            rows = a.answer[begin : begin + BLOCK]
            weight = None
            if self.weight is not None:
                item = np.searchsorted(a.offsets, np.arange(begin, begin + len(rows)), side="right") - 1
                weight = self.weight[item]
            counts += np.bincount(rows, weights=weight, minlength=len(counts))
        return counts.reshape(a.n_annotators, a.n_classes)

    def expected_counts(self, scores: Scores) -> ExpectedCounts:
        """One EM pass; see `covote.engines.base.Engine`."""
        if self.small:
            return vectorised.expected_counts(self.annotations, self.weight, self.gold, scores)
        from covote.kernels import items

        a = self.annotations
        table, bias = _kernel_arguments(scores)
        K = len(bias)  # classes, or the finer states of a model that has some
        kernel = items.vote_pass
        if scores.link == "log":
            kernel = items.em_pass
            if K <= _UNROLLED:
                kernel, pad = items.em_pass_four, _UNROLLED - K
                table, bias = np.pad(table, ((0, 0), (0, pad))), np.pad(bias, (0, pad))

        def one(span: Span) -> tuple[Floats, Floats, float]:
            counts, mass = np.zeros_like(table), np.zeros_like(bias)
            value = kernel(a.offsets, a.answer, self._weight, self._gold, span, table, bias, counts, mass)
            return counts, mass, value

        parts = self.run(one, self._spans)
        counts, mass = sum(p[0] for p in parts), sum(p[1] for p in parts)
        return ExpectedCounts(
            np.ascontiguousarray(counts[:, :K]).reshape(scores.table.shape), mass[:K], float(sum(p[2] for p in parts))
        )

    def posterior(self, scores: Scores) -> Floats:
        """Probability of every class for every item, shape (items, classes)."""
        if self.small:
            return vectorised.posterior(self.annotations, scores)
        from covote.kernels import items

        a = self.annotations
        kernel = items.posterior_pass if scores.link == "log" else items.shares_pass
        table, bias = _kernel_arguments(scores)
        out = np.empty((a.n_items, len(bias)))
        self.run(lambda s: kernel(a.offsets, a.answer, s[0], s[1], table, bias, out), self._spans)
        return out

    def labels(self, scores: Scores) -> tuple[NDArray[Any], Floats]:
        """Class code and probability of the chosen label of every item; the probability is negative in a tie."""
        a = self.annotations
        if self.small:
            shares = vectorised.posterior(a, scores)
            code = choose_labels(shares, self.label_counts.sum(axis=0))
            tied = (shares >= shares.max(axis=1, keepdims=True, initial=0.0) - TIE).sum(axis=1) > 1
            chosen = shares[np.arange(a.n_items), code]
            return code, np.where(tied, -chosen, chosen)
        from covote.kernels import items

        table, bias = _kernel_arguments(scores)
        favour = favoured(self.label_counts.sum(axis=0))
        code, confidence = np.zeros(a.n_items, np.int32), np.empty(a.n_items)
        log = scores.link == "log"
        self.run(
            lambda s: items.label_pass(a.offsets, a.answer, s, log, table, bias, favour, TIE, code, confidence),
            self._spans,
        )
        return code, confidence

    def group_moments(self, groups: NDArray[np.int64]) -> Moments:
        """Moments of three groups of annotators."""
        from covote.kernels import moments

        a = self.annotations
        K = a.n_classes

        def one(span: Span) -> tuple[Floats, Floats]:
            second, third = np.zeros((3, K, K)), np.zeros((K, K, K))
            moments.group_moment_pass(a.offsets, a.answer, self._weight, groups, *span, K, second, third)
            return second, third

        parts = self.run(one, self._spans)
        second, third = sum(p[0] for p in parts), sum(p[1] for p in parts)
        return Moments(second, third, second.sum(axis=(1, 2)), float(third.sum()))

    def triple_moments(self, triples: NDArray[np.int64]) -> Floats:
        """Counts (T, K, K, K) of the answers of annotator triples (T, 3)."""
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
        self.run(lambda s: moments.triple_pass(item, label, starts, self._weight, triples, s, a.n_items, out), spans)
        return out


def _kernel_arguments(scores: Scores) -> tuple[Floats, Floats]:
    """Table (annotators * labels, classes) and bias as the kernels want them: probabilities, or votes."""
    table = np.ascontiguousarray(scores.table.reshape(-1, scores.table.shape[-1]))
    return (np.exp(table), np.exp(scores.bias)) if scores.link == "log" else (table, scores.bias)
