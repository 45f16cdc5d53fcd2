"""The engine over chunks held elsewhere (disk, Spark, Dask): every pass goes to the chunks, small sums come back.

Chunks hold whole items, run the passes of `covote.engines.passes`, and their sums are added in a fixed order.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import methodcaller
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from covote.annotations import Loaded
from covote.annotations.value import Annotations, Vocabulary
from covote.counts import PairCounts
from covote.engines.base import ExpectedCounts, HeldOut, LabelFacts, Moments, Redrawn
from covote.engines.memory import MemoryEngine, label_facts, moments, redrawn
from covote.engines.partners import MOST_CELLS, bound, limited, strongest_pairs
from covote.engines.passes import Chunk, Sums
from covote.errors import InputError
from covote.labels import column_names
from covote.model import Beliefs, Scores
from covote.sampling import Draw

Floats = NDArray[np.float64]
Work = Callable[[Chunk], Sums]

NEAR = 2**26
"""Encoded answers of at most this many bytes are fetched once: sums over them then cost no trip to the chunks."""


@dataclass(frozen=True, eq=False)
class Crowd:
    """What is known of a table before its answers are encoded: small, and the same for every chunk."""

    annotators: tuple[Hashable, ...]
    classes: tuple[Hashable, ...]
    names: tuple[str, str, str]
    has_gold: bool = False


class Home(Protocol):
    """A place that holds chunks of whole items."""

    def run(self, work: Work, keys: bool = False) -> Iterator[Sums]:
        """Results of the work on every chunk, in an order that is always the same; `keys` asks for `Chunk.keys`."""

    def table(self, work: Work, columns: Sequence[str], classes: Sequence[Hashable] | None) -> Any:
        """A table of the user's own kind: the items of every chunk, then the arrays that the work returns.

        The first array holds codes of `classes`, unless these are None.
        """

    def ids(self) -> Sequence[Any]:
        """The ids of the items, chunk after chunk."""

    def free(self) -> int:
        """Bytes that may be used in this process."""


@dataclass(frozen=True, eq=False)
class ChunkedEngine:
    """The contract of an engine by sums over chunks."""

    home: Home
    crowd: Crowd
    draw: Draw | None = None  # items are counted as this replicate of the bootstrap draws them
    near: int = NEAR

    @property
    def annotators(self) -> tuple[Hashable, ...]:
        return self.crowd.annotators

    @property
    def classes(self) -> tuple[Hashable, ...]:
        return self.crowd.classes

    @property
    def names(self) -> tuple[str, str, str]:
        return self.crowd.names

    @property
    def has_gold(self) -> bool:
        return self.crowd.has_gold

    @cached_property
    def _sizes(self) -> list[float]:
        """Items, items without an answer, with one, answers, sum of weights."""
        return self._sum(methodcaller("sizes"))[0].tolist()  # type: ignore[no-any-return]

    @property
    def n_items(self) -> int:
        return round(self._sizes[0])

    @property
    def n_unanswered(self) -> int:
        return round(self._sizes[1])

    def resampled(self, draw: Draw) -> ChunkedEngine | MemoryEngine:
        return replace(self, draw=draw) if self._with_keys is None else self._with_keys.resampled(draw)

    def _run(self, work: Work, keys: bool = False) -> Iterator[Sums]:
        if self.draw is None:
            return self.home.run(work, keys)
        return self.home.run(_Resampled(work, self.draw), True)

    def _sum(self, work: Work, keys: bool = False) -> Sums:
        return added(self._run(work, keys))

    @cached_property
    def _close(self) -> MemoryEngine | None:
        """The answers without their ids in this process, where they are few."""
        M, K = len(self.annotators), len(self.classes)
        width = 2 if M * K <= 2**16 else 4
        if self.draw is not None or self._sizes[3] * width + 8 * self.n_items > self.near:
            return None
        return self._gathered(None)

    @cached_property
    def _with_keys(self) -> MemoryEngine | None:
        """The same, knowing what the bootstrap draws items by."""
        if self._close is not None:
            self._close.__dict__["_keys"] = self._in_order(_keys, keys=True)[0]
        return self._close

    def label_counts(self) -> Floats:
        return self._label_counts

    @cached_property
    def _label_counts(self) -> Floats:
        counts: Floats = self._sum(methodcaller("label_counts"))[0]
        return counts

    @cached_property
    def _votes(self) -> Floats:
        return np.asarray(self.label_counts().sum(axis=0))

    def pair_counts(self, max_partners: int | None = None) -> PairCounts:
        if self._close is not None:
            return self._close.pair_counts(max_partners)
        M, K = len(self.annotators), len(self.classes)
        unasked = None
        if M * (M - 1) // 2 * K * K <= MOST_CELLS:
            first, second, blocks = limited(*_all_pairs(self._run(methodcaller("pairs")), M, K), M, max_partners)
        else:
            first, second, shared = _overlaps(self._run(methodcaller("overlaps")), M)
            limit = bound(len(first), (M, K)) if max_partners is None else max_partners
            unasked = limit if max_partners is None else None
            if limit is not None:
                keep = strongest_pairs(first, second, shared, M, limit)
                first, second = first[keep], second[keep]
            blocks = added(part[2:3] for part in self._run(methodcaller("pairs", None, (first, second))))[0]
        names = self.classes, self.annotators
        return PairCounts(first, second, blocks, self.label_counts(), self._sizes[4], *names, unasked)

    def expected_counts(self, scores: Scores) -> ExpectedCounts:
        if self._close is not None:
            return self._close.expected_counts(scores)
        soft, mass, value = self._sum(methodcaller("expected_counts", scores))
        return ExpectedCounts(soft, mass, float(value))

    def heldout(self, question: HeldOut) -> tuple[Floats, Floats, float]:
        if self._close is not None:
            return self._close.heldout(question)
        sums, squares, answers = self._sum(methodcaller("heldout", question))
        return sums, squares, float(answers)

    def group_moments(self, groups: NDArray[np.int64]) -> Moments:
        if self._close is not None:
            return self._close.group_moments(groups)
        return moments(self._sum(methodcaller("group_moments", groups)))

    def triple_moments(self, triples: NDArray[np.int64]) -> Floats:
        if self._close is not None:
            return self._close.triple_moments(triples)
        counts: Floats = self._sum(methodcaller("triple_moments", triples))[0]
        return counts

    def posterior(self, scores: Scores | Beliefs, *, certain: bool = False) -> Floats:
        self._check_fit(8 * self.n_items * (len(self.classes) + 1), "The probabilities of all items")
        return np.column_stack(self._in_order(_Labelled(scores, self._votes, (False, False, True), certain)))

    def labels(self, scores: Scores | Beliefs) -> tuple[NDArray[Any], Floats]:
        self._check_fit(20 * self.n_items, "The labels of all items")
        code, confidence = self._in_order(methodcaller("labels", scores, self._votes))
        return code, np.abs(confidence)

    def _in_order(self, work: Work, keys: bool = False) -> Sums:
        """Arrays by item, brought into the order of the input."""
        parts = list(self.home.run(_WithFirst(work), keys))
        first, *arrays = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        order = np.argsort(first, kind="stable")
        return tuple(array[order] for array in arrays)

    def label_facts(self, scores: Scores | Beliefs, uncertain: float) -> LabelFacts:
        sums = added(self.home.run(methodcaller("label_facts", scores, self._votes, uncertain)))
        return label_facts(sums, round(self._sizes[2]))

    def label_table(
        self, scores: Scores | Beliefs, *, label: bool = True, confidence: bool = False, probabilities: bool = False
    ) -> Any:
        """Items with their labels, the probability of these and of every class, as asked."""
        columns = [self.names[2]] * label + ["confidence"] * confidence
        if probabilities:
            columns += column_names(self.classes, self.names[0], *columns)
        work = _Labelled(scores, self._votes, (label, confidence, probabilities))
        return self.home.table(work, [self.names[0], *columns], self.classes if label else None)

    def redrawn(self, scores: Scores, labelled: Scores | Beliefs, draw: Draw) -> Redrawn:
        if self._with_keys is not None:
            return self._with_keys.redrawn(scores, labelled, draw)
        return redrawn(added(self.home.run(methodcaller("redrawn", scores, labelled, self._votes, draw), True)))

    def beliefs(self, posterior: Floats) -> Beliefs:
        return Beliefs(posterior, np.sort(np.concatenate([part[0] for part in self.home.run(_first)])))

    def in_memory(self) -> MemoryEngine:
        """Every answer in this process, with the ids of the items."""
        width = 2 if len(self.annotators) * len(self.classes) <= 2**16 else 4
        self._check_fit(round(self._sizes[3]) * width + 64 * self.n_items, "The answers and the ids of their items")
        return self._gathered(self.home.ids())

    def _gathered(self, ids: Sequence[Any] | None) -> MemoryEngine:
        parts = list(self.home.run(_everything, self.draw is not None))
        first, answers, gold, keys = (np.concatenate([part[i] for part in parts]) for i in (0, 1, 3, 4))
        offsets = np.concatenate([[0], np.cumsum(answers)])
        answer = np.concatenate([part[2] for part in parts])
        order = np.argsort(first, kind="stable")
        sizes = answers[order]
        ends = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.repeat(offsets[:-1][order] - ends[:-1], sizes) + np.arange(ends[-1])
        items = Vocabulary(range(len(order)) if ids is None else [ids[i] for i in order.tolist()])
        people, classes = Vocabulary(list(self.annotators)), Vocabulary(list(self.classes))
        annotations = Annotations(ends, answer[rows], items, people, classes)
        weight = None if self.draw is None else Chunk(annotations, keys=keys[order]).resampled(self.draw).weight
        known = gold[order].astype(np.int64) if self.has_gold else None
        return MemoryEngine(annotations, weight, known, source=Loaded(annotations, "mapping", self.names))

    def _check_fit(self, size: int, what: str) -> None:
        if size > self.home.free():
            msg = (
                f"{what} need about {size / 2**30:.1f} GB in this process, and {self.home.free() / 2**30:.1f} GB are "
                "free. Use a method that needs counts alone, such as multispa or mv-ds, or a larger memory limit."
            )
            raise InputError(msg)


@dataclass(frozen=True)
class _Resampled:
    work: Work
    draw: Draw

    def __call__(self, chunk: Chunk) -> Sums:
        return self.work(chunk.resampled(self.draw))


@dataclass(frozen=True)
class _WithFirst:
    work: Work

    def __call__(self, chunk: Chunk) -> Sums:
        return *_first(chunk), *self.work(chunk)


@dataclass(frozen=True)
class _Labelled:
    """Codes of labels, their probabilities and those of every class, as `wanted`."""

    scores: Scores | Beliefs
    votes: Floats
    wanted: tuple[bool, bool, bool]
    certain: bool = True

    def __call__(self, chunk: Chunk) -> Sums:
        label, confidence, probabilities = self.wanted
        out: list[NDArray[Any]] = []
        if label or confidence:
            code, sure = chunk.labels(self.scores, self.votes)
            out = [code] * label + [np.abs(sure)] * confidence
        if probabilities:
            out += list(chunk.certain(self.scores).T if self.certain else chunk.posterior(self.scores)[0].T)
        return tuple(out)


def _first(chunk: Chunk) -> Sums:
    assert chunk.first is not None
    return (chunk.first,)


def _keys(chunk: Chunk) -> Sums:
    assert chunk.keys is not None
    return (chunk.keys,)


def _everything(chunk: Chunk) -> Sums:
    a, n = chunk.annotations, chunk.annotations.n_items
    gold = np.empty(n, np.int32) if chunk.gold is None else chunk.gold.astype(np.int32)
    keys = np.empty(n, np.uint64) if chunk.keys is None else chunk.keys
    return *_first(chunk), np.diff(a.offsets), a.answer, gold, keys


def added(parts: Iterator[Sums]) -> Sums:
    """The sums of the parts, added one after the other."""
    total = [np.array(array) for array in next(parts)]
    for part in parts:
        for position, array in enumerate(part):
            total[position] += array
    return tuple(total)


def _all_pairs(parts: Iterator[Sums], M: int, K: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """The blocks of chunks added up in a table of all pairs; those that never met are left out."""
    total = np.zeros((M * (M - 1) // 2, K, K))
    for first, second, blocks, _ in parts:
        if len(first) == len(total):
            total += blocks
        else:
            total[first * (2 * M - first - 1) // 2 + second - first - 1] += blocks
    met = total.any(axis=(1, 2))
    one, other = np.triu_indices(M, 1)
    return one[met].astype(np.int64), other[met].astype(np.int64), total if met.all() else total[met]


def _overlaps(parts: Iterator[Sums], M: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Overlaps of chunks added up, in memory proportional to the pairs that share items."""
    pair, shared = np.empty(0, np.int64), np.empty(0, np.int64)
    for first, second, own in parts:
        pair, place = np.unique(np.concatenate([pair, first * M + second]), return_inverse=True)
        shared = np.bincount(place, np.concatenate([shared, own]), minlength=len(pair)).astype(np.int64)
    first, second = np.divmod(pair, M)
    return first, second, shared
