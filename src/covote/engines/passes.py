"""A chunk of whole items and the passes over it: scores in, tuples of sums or of values by item out, in threads.

Items are cut into spans whose number depends on the data alone and whose sums are added in order, so results are
the same to the last bit for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations.value import BLOCK, Annotations, Vocabulary
from covote.engines import vectorised
from covote.engines.base import HeldOut
from covote.engines.pair_counting import PairCounter
from covote.engines.partners import limited
from covote.labels import TIE, choose_labels, favoured
from covote.model import Beliefs, Pool, Scores, pick
from covote.sampling import Draw, poisson_weights, uniforms

Floats = NDArray[np.float64]
Span = tuple[int, int]

_LABELS_A_SPAN = 100_000
_MOST_SPANS = 64
_UNROLLED = 4
"""Crowds of at most this many classes take the unrolled kernel."""

Sums = tuple[NDArray[Any], ...]


@dataclass(frozen=True, eq=False)
class Chunk:
    """Encoded answers of whole items, and every pass that is made over them, wherever they are held."""

    annotations: Annotations
    weight: Floats | None = None  # (items,): how often each item counts
    gold: NDArray[np.int64] | None = None  # (items,): class code, or -1 where unknown
    threads: int = 1
    keys: NDArray[np.uint64] | None = None  # (items,): see `covote.sampling.item_keys`
    first: NDArray[np.int64] | None = None  # (items,): number of the row of the table where each item came first

    @classmethod
    def of(cls, offsets: NDArray[Any], answer: NDArray[Any], sizes: tuple[int, int], **columns: Any) -> Chunk:
        """A chunk from plain arrays; `sizes` are the numbers of annotators and classes."""
        items, who, what = (Vocabulary(range(n)) for n in (len(offsets) - 1, *sizes))
        return cls(Annotations(offsets, answer, items, who, what), **columns)

    @cached_property
    def small(self) -> bool:
        """So few answers that NumPy is quicker than to load the kernels."""
        return vectorised.is_small(self.annotations)

    @cached_property
    def _weight(self) -> Floats:
        return np.empty(0) if self.weight is None else np.ascontiguousarray(self.weight, dtype=np.float64)

    @cached_property
    def _gold(self) -> NDArray[np.int64]:
        return np.empty(0, np.int64) if self.gold is None else np.ascontiguousarray(self.gold, dtype=np.int64)

    def resampled(self, draw: Draw | None) -> Chunk:
        """Every item counted as often as the bootstrap draws it."""
        if draw is None:
            return self
        assert self.keys is not None
        return replace(self, weight=poisson_weights(self.keys, draw))

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

    def sizes(self) -> Sums:
        """Items, those without an answer, those with one answer, answers, and the sum of weights."""
        answers = np.diff(self.annotations.offsets)
        n = len(answers)
        weight = n if self.weight is None else self.weight.sum()
        return (np.array([n, (answers == 0).sum(), (answers == 1).sum(), answers.sum(), weight], np.float64),)

    def overlaps(self) -> Sums:
        """Pairs of annotators that share items, and how many each shares: see `PairCounter.overlaps`."""
        return self._counter.overlaps()

    def pairs(self, max_partners: int | None = None, only: tuple[NDArray[Any], NDArray[Any]] | None = None) -> Sums:
        """Pairs of annotators that share items, their blocks, and the bound of partners; see `PairCounter.count`."""
        if self.small and only is None:
            first, second, blocks = vectorised.count_pairs(self.annotations, self.weight)
            return *limited(first, second, blocks, self.annotations.n_annotators, max_partners), np.array(0)
        return self._counter.count(max_partners, only)

    @property
    def _counter(self) -> PairCounter:
        return PairCounter(self.annotations, self._weight, self.run, self.threads)

    def label_counts(self) -> Sums:
        """Answers each annotator gave, by label: (annotators, labels)."""
        return (self._label_counts,)

    @cached_property
    def _label_counts(self) -> Floats:
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

    def expected_counts(self, scores: Scores) -> Sums:
        """One EM pass: soft counts, masses, log-likelihood; see `covote.engines.base.Engine`."""
        if self.small:
            return vectorised.expected_counts(self.annotations, self.weight, self.gold, scores)
        from covote.kernels import items

        a = self.annotations
        link, table, bias = _kernel_arguments(scores)
        K = len(bias)  # classes, or the finer states of a model that has some
        unrolled = link == items.LOG and K <= _UNROLLED
        if unrolled:
            table, bias = np.pad(table, ((0, 0), (0, _UNROLLED - K))), np.pad(bias, (0, _UNROLLED - K))
        kernel = items.count_pass_four if unrolled else items.count_pass
        how = (table, bias) if unrolled else (link, table, bias)

        def one(span: Span) -> tuple[Floats, Floats, float]:
            counts, mass = np.zeros_like(table), np.zeros_like(bias)
            value = kernel(a.offsets, a.answer, self._weight, self._gold, span, *how, counts, mass)
            return counts, mass, value

        parts = self.run(one, self._spans)
        counts, mass = sum(p[0] for p in parts), sum(p[1] for p in parts)
        soft = np.ascontiguousarray(counts[: a.n_annotators * a.n_classes, :K]).reshape(scores.table.shape)
        return soft, mass[:K], np.asarray(sum(p[2] for p in parts), np.float64)

    def heldout(self, question: HeldOut) -> Sums:
        """Answers held out one by one: see `covote.engines.base.Engine`."""
        if self.small:
            return vectorised.heldout(self.annotations, self.weight, question)
        from covote.kernels import pool

        a = self.annotations
        T, K = len(question.powers), a.n_classes
        steps = np.rint(question.powers / pool.STEP).astype(np.int64)
        shrunk = (question.pooled, question.strength)
        table = np.ascontiguousarray(question.scores.table.reshape(-1, len(question.scores.bias)))
        tables = (table, question.scores.bias, question.prior)
        own = np.ascontiguousarray(question.counts.reshape(-1, K))

        def one(span: Span) -> tuple[Floats, Floats, float]:
            sums, squares = np.zeros(T), np.zeros((T, T))
            answers = pool.heldout_pass(
                a.offsets, a.answer, self._weight, span, tables, own, shrunk, steps, sums, squares
            )
            return sums, squares, answers

        parts = self.run(one, self._spans)
        return sum(p[0] for p in parts), sum(p[1] for p in parts), np.asarray(sum(p[2] for p in parts), np.float64)

    def posterior(self, scores: Scores | Beliefs) -> Sums:
        """Probability of every class for every item, shape (items, classes), gold or not."""
        if isinstance(scores, Beliefs):
            return (scores.rows(self.first),)
        if self.small:
            return (vectorised.posterior(self.annotations, scores),)
        from covote.kernels import items

        a = self.annotations
        how = _kernel_arguments(scores)
        out = np.empty((a.n_items, len(scores.bias)))
        self.run(lambda span: items.posterior_pass(a.offsets, a.answer, span, *how, out), self._spans)
        return (out,)

    def labels(self, scores: Scores | Beliefs, votes: Floats) -> Sums:
        """Class code and probability of the chosen label of every item; the probability is negative in a tie.

        Ties go by `votes` (classes,), those of the whole crowd; see `covote.labels.choose_labels`.
        """
        a = self.annotations
        if self.small or isinstance(scores, Beliefs):
            shares = self.posterior(scores)[0]
            chosen: NDArray[Any] = choose_labels(shares, votes).astype(np.int32)
            tied = (shares >= shares.max(axis=1, keepdims=True, initial=0.0) - TIE).sum(axis=1) > 1
            sure = shares[np.arange(a.n_items), chosen]
            code, confidence = chosen, np.where(tied, -sure, sure)
        else:
            from covote.kernels import items

            how, favour = _kernel_arguments(scores), favoured(votes)
            code, confidence = np.zeros(a.n_items, np.int32), np.empty(a.n_items)
            self.run(
                lambda s: items.label_pass(a.offsets, a.answer, s, *how, favour, TIE, code, confidence), self._spans
            )
        if self.gold is not None:
            known = self.gold >= 0
            code[known], confidence[known] = self.gold[known], 1.0
        return code, confidence

    def label_facts(
        self, scores: Scores | Beliefs, votes: Floats, uncertain: float, count: Floats | None = None
    ) -> Sums:
        """Items and mass by class; uncertain and tied items, confidence. `count` (items,): how often each counts."""
        code, confidence = self.labels(scores, votes)
        tied, confidence = confidence < 0, np.abs(confidence)
        n = np.ones(len(code)) if count is None else count
        if isinstance(scores, Beliefs):
            mass = n @ self.certain(scores)
        else:
            mass = replace(self, weight=count).expected_counts(scores)[1]
        sums = np.array([(confidence < uncertain) @ n, tied @ n, confidence @ n])
        return np.bincount(code, weights=n, minlength=len(votes)), mass, sums

    def certain(self, scores: Scores | Beliefs) -> Floats:
        """`posterior` with the classes of gold items certain."""
        shares: Floats = self.posterior(scores)[0]
        if self.gold is not None:
            known = self.gold >= 0
            shares = shares.copy()
            shares[known] = np.eye(shares.shape[1])[self.gold[known]]
        return shares

    def redrawn(self, scores: Scores | Beliefs, labelled: Scores | Beliefs, votes: Floats, draw: Draw) -> Sums:
        """Items by a class drawn from `scores`, and the mass and number of labels that are wrong, of all items and of
        those that the bootstrap did not draw; the labels are those of `labelled`.
        """
        assert self.keys is not None
        shares, code = self.certain(scores), self.labels(labelled, votes)[0]
        drawn = pick(uniforms(self.keys, draw), np.cumsum(shares, axis=1))
        wrong = 1 - shares[np.arange(len(code)), code]
        unseen = poisson_weights(self.keys, draw) == 0
        sums = np.array([wrong.sum(), len(wrong), wrong[unseen].sum(), unseen.sum()], np.float64)
        return np.bincount(drawn, minlength=shares.shape[1]).astype(np.float64), sums

    def group_moments(self, groups: NDArray[np.int64]) -> Sums:
        """Second (3, K, K) and third (K, K, K) moments of three groups of annotators."""
        from covote.kernels import moments

        a = self.annotations
        K = a.n_classes

        def one(span: Span) -> tuple[Floats, Floats]:
            second, third = np.zeros((3, K, K)), np.zeros((K, K, K))
            moments.group_moment_pass(a.offsets, a.answer, self._weight, groups, *span, K, second, third)
            return second, third

        parts = self.run(one, self._spans)
        return sum(p[0] for p in parts), sum(p[1] for p in parts)

    def triple_moments(self, triples: NDArray[np.int64]) -> Sums:
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
        return (out,)


def _kernel_arguments(scores: Scores) -> tuple[int, Floats, Floats]:
    """Link, table (annotators * labels, classes) and bias as the kernels want them: probabilities, or votes."""
    from covote.kernels import items

    table = np.ascontiguousarray(scores.table.reshape(-1, scores.table.shape[-1]))
    if scores.link == "log":
        return items.LOG, np.exp(table), np.exp(scores.bias)
    if scores.pool is not None:
        return items.POOL, _pool_table(scores.pool, np.exp(table), np.exp(scores.bias)), np.exp(scores.bias)
    return items.LINEAR, table, np.ascontiguousarray(scores.bias)


def _pool_table(pool: Pool, likelihood: Floats, prior: Floats) -> Floats:
    """One table with all that `item_pool` reads, (annotators * labels + 2, classes + 2)."""
    K = len(prior)
    votes = np.repeat(pool.votes, K)
    rows = np.column_stack([likelihood, np.exp(pool.hard).ravel(), votes])
    begin = np.concatenate([(1 - pool.hard_share) * prior, [pool.hard_share, 0.0]])
    numbers = np.zeros(K + 2)
    numbers[:3] = pool.model_weight, pool.vote_weight, pool.floor
    return np.ascontiguousarray(np.vstack([rows, begin, numbers]))
