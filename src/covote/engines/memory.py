"""The in-memory engine: Annotations in, counts and posteriors out, by compiled kernels in threads."""

from __future__ import annotations

import os
from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations.distinct_rows import gathered
from covote.annotations.value import Annotations
from covote.counts import PairCounts
from covote.engines.base import ExpectedCounts, LabelFacts, Moments
from covote.engines.passes import Pass
from covote.engines.patterns import Patterns, find_patterns
from covote.engines.vectorised import is_small
from covote.model import Scores

Floats = NDArray[np.float64]


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
    collapse: bool = True  # count items with the same answers once, where that pays

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
        other = replace(self, weight=weight)
        other.__dict__["_patterns"] = self._patterns  # patterns do not depend on weights
        return other

    @cached_property
    def _patterns(self) -> Patterns | None:
        if not self.collapse or is_small(self.annotations):
            return None
        return find_patterns(self.annotations, self.gold, self.threads or os.cpu_count() or 1)

    @cached_property
    def _distinct(self) -> Pass:
        """The answers that every pass reads: one item for each pattern where that pays, else all items."""
        threads = self.threads or os.cpu_count() or 1
        found = self._patterns
        if found is None:
            return Pass(self.annotations, self.weight, self.gold, threads, is_small(self.annotations))
        small = is_small(found.annotations)
        return Pass(found.annotations, found.weight(self.weight), found.gold, threads, small)

    def distinct(self) -> tuple[MemoryEngine, NDArray[Any] | None]:
        """An engine with one item for every pattern of answers, and the pattern of every item; see `HasAnnotations`."""
        found = self._patterns
        if found is None:
            return self, None
        weight = found.weight(self.weight)
        return replace(self, annotations=found.annotations, weight=weight, gold=found.gold, collapse=False), found.index

    def _spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of the items that passes read -> values of all items."""
        return values if self._patterns is None else gathered(values, self._patterns.index)

    def pair_counts(self, max_partners: int | None = None) -> PairCounts:
        """Blocks of all pairs that share items, or of the `max_partners` largest overlaps of each annotator."""
        first, second, blocks = self._distinct.pairs(max_partners)
        n_items = float(self.n_items if self.weight is None else self.weight.sum())
        return PairCounts(first, second, blocks, self.label_counts(), n_items, self.classes, self.annotators)

    def label_counts(self) -> Floats:
        """Answers each annotator gave, by label: (annotators, labels)."""
        return self._distinct.label_counts

    def expected_counts(self, scores: Scores) -> ExpectedCounts:
        return self._distinct.expected_counts(scores)

    def posterior(self, scores: Scores) -> Floats:
        """Probability of every class for every item, shape (items, classes)."""
        return self._spread(self._distinct.posterior(scores))

    def labels(self, scores: Scores) -> tuple[NDArray[Any], Floats]:
        """Class code and probability of the chosen label of every item, without the whole posterior in memory.

        Ties are settled as `covote.labels.choose_labels` does; gold items have their class.
        """
        code, confidence = (self._spread(values) for values in self._distinct.labels(scores))
        if self.gold is not None:
            _make_certain(self.gold, code, confidence)
        return code, np.abs(confidence, out=confidence)

    def label_facts(self, scores: Scores, uncertain: float) -> LabelFacts:
        """Counts for a summary; an item is uncertain where its label is less probable than `uncertain`."""
        seen = self._distinct
        code, confidence = seen.labels(scores)
        if seen.gold is not None:
            _make_certain(seen.gold, code, confidence)
        items = None if self._patterns is None else self._patterns.weight(None)  # a pattern stands for many items
        sums = partial(_sum, items)
        tied, confidence = confidence < 0, np.abs(confidence)
        return LabelFacts(
            np.bincount(code, weights=items, minlength=len(self.classes)).astype(np.int64),
            self.expected_counts(scores).prior,
            round(sums(confidence < uncertain)),
            round(sums(tied)),
            round(sums(np.diff(seen.annotations.offsets) == 1)),
            sums(confidence),
        )

    def group_moments(self, groups: NDArray[np.int64]) -> Moments:
        return self._distinct.group_moments(groups)

    def triple_moments(self, triples: NDArray[np.int64]) -> Floats:
        """Counts (T, K, K, K) of the answers of annotator triples (T, 3); memory is proportional to the triples."""
        return self._distinct.triple_moments(triples)


def _make_certain(gold: NDArray[np.int64], code: NDArray[Any], confidence: Floats) -> None:
    """Give gold items their class in `code` and `confidence` (OUT)."""
    known = gold >= 0
    code[known], confidence[known] = gold[known], 1.0


def _sum(weight: Floats | None, values: NDArray[Any]) -> float:
    return float(values.sum() if weight is None else values @ weight)
