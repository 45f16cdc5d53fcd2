"""The in-memory engine: Annotations in, counts and posteriors out; one chunk, by compiled kernels in threads."""

from __future__ import annotations

import os
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations import Loaded
from covote.annotations.distinct_rows import gathered
from covote.annotations.value import Annotations
from covote.counts import PairCounts
from covote.engines.base import ExpectedCounts, HeldOut, LabelFacts, Moments, Redrawn
from covote.engines.passes import Chunk
from covote.engines.patterns import Patterns, find_patterns
from covote.engines.vectorised import is_small
from covote.labels import column_names
from covote.model import Beliefs, Scores
from covote.sampling import Draw, item_keys, poisson_weights

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
    source: Loaded | None = field(default=None, repr=False)  # the table the answers came from

    @property
    def loaded(self) -> Loaded:
        """The answers with the way back to tables of the user's kind."""
        return self.source or Loaded(self.annotations, "mapping", ("item", "annotator", "label"))

    @property
    def annotators(self) -> tuple[Hashable, ...]:
        return tuple(self.annotations.annotators)

    @property
    def classes(self) -> tuple[Hashable, ...]:
        return tuple(self.annotations.classes)

    @property
    def names(self) -> tuple[str, str, str]:
        return self.loaded.names

    @property
    def n_items(self) -> int:
        return self.annotations.n_items

    @property
    def n_unanswered(self) -> int:
        return self.annotations.n_unanswered

    @property
    def has_gold(self) -> bool:
        return self.gold is not None

    def in_memory(self) -> MemoryEngine:
        return self

    def beliefs(self, posterior: Floats) -> Beliefs:
        return Beliefs(posterior)

    def weighted(self, weight: Floats) -> MemoryEngine:
        """The same answers with items counted `weight` times (bootstrap)."""
        other = replace(self, weight=weight)
        for name in ("_patterns", "_keys"):  # they do not depend on weights
            if name in self.__dict__ or name == "_patterns":
                other.__dict__[name] = getattr(self, name)
        return other

    def resampled(self, draw: Draw) -> MemoryEngine:
        return self.weighted(poisson_weights(self._keys, draw))

    @cached_property
    def _keys(self) -> NDArray[np.uint64]:
        return item_keys(self.annotations.items.values)

    @property
    def _threads(self) -> int:
        return self.threads or os.cpu_count() or 1

    @cached_property
    def _patterns(self) -> Patterns | None:
        if not self.collapse or is_small(self.annotations):
            return None
        return find_patterns(self.annotations, self.gold, self._threads)

    @cached_property
    def _distinct(self) -> Chunk:
        """The answers that every pass reads: one item for each pattern where that pays, else all items."""
        found = self._patterns
        if found is None:
            return Chunk(self.annotations, self.weight, self.gold, self._threads)
        return Chunk(found.annotations, found.weight(self.weight), found.gold, self._threads)

    @cached_property
    def _by_item(self) -> Chunk:
        """All items, for beliefs about each; their answers are not looked at."""
        n = np.zeros(self.n_items + 1, np.int64)
        return Chunk.of(n, np.empty(0, np.uint16), (0, len(self.classes)), gold=self.gold)

    def _spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of the items that passes read -> values of all items."""
        return values if self._patterns is None else gathered(values, self._patterns.index)

    def pair_counts(self, max_partners: int | None = None) -> PairCounts:
        """Blocks of all pairs that share items, or of the `max_partners` largest overlaps of each annotator."""
        first, second, blocks, limit = self._distinct.pairs(max_partners)
        n_items = float(self.n_items if self.weight is None else self.weight.sum())
        names = self.classes, self.annotators
        return PairCounts(first, second, blocks, self.label_counts(), n_items, *names, int(limit) or None)

    def label_counts(self) -> Floats:
        """Answers each annotator gave, by label: (annotators, labels)."""
        counts: Floats = self._distinct.label_counts()[0]
        return counts

    @cached_property
    def _votes(self) -> Floats:
        return np.asarray(self.label_counts().sum(axis=0))

    def expected_counts(self, scores: Scores) -> ExpectedCounts:
        soft, mass, value = self._distinct.expected_counts(scores)
        return ExpectedCounts(soft, mass, float(value))

    def heldout(self, question: HeldOut) -> tuple[Floats, Floats, float]:
        sums, squares, answers = self._distinct.heldout(question)
        return sums, squares, float(answers)

    def posterior(self, scores: Scores | Beliefs, *, certain: bool = False) -> Floats:
        """Probability of every class for every item, shape (items, classes)."""
        whole = scores.posterior if isinstance(scores, Beliefs) else self._spread(self._distinct.posterior(scores)[0])
        return self._by_item.certain(Beliefs(whole)) if certain else whole

    def labels(self, scores: Scores | Beliefs) -> tuple[NDArray[Any], Floats]:
        """Class code and probability of the chosen label of every item, without the whole posterior in memory.

        Ties are settled as `covote.labels.choose_labels` does; gold items have their class.
        """
        if isinstance(scores, Beliefs):
            code, confidence = self._by_item.labels(scores, self._votes)
        else:
            code, confidence = (self._spread(values) for values in self._distinct.labels(scores, self._votes))
        return code, np.abs(confidence, out=confidence)

    def label_facts(self, scores: Scores | Beliefs, uncertain: float) -> LabelFacts:
        """Counts for a summary; an item is uncertain where its label is less probable than `uncertain`."""
        shown = None if self._patterns is None else self._patterns.weight(None)  # items that show a pattern
        whole = isinstance(scores, Beliefs)
        chunk, count = (self._by_item, None) if whole else (self._distinct, shown)
        sums = chunk.label_facts(scores, self._votes, uncertain, count)
        single = np.diff(self._distinct.annotations.offsets) == 1
        return label_facts(sums, round(float(single.sum() if shown is None else single @ shown)))

    def label_table(
        self, scores: Scores | Beliefs, *, label: bool = True, confidence: bool = False, probabilities: bool = False
    ) -> Any:
        """Items with their labels, the probability of these and of every class, as asked."""
        loaded = self.loaded
        code, sure = self.labels(scores) if label or confidence else (None, None)
        columns: dict[str, Any] = {} if code is None or not label else {loaded.names[2]: loaded.label_column(code)}
        if confidence:
            columns["confidence"] = sure
        if probabilities:
            shares = self.posterior(scores, certain=True)
            if loaded.kind == "mapping" and not columns:
                rows = [dict(zip(self.classes, row, strict=True)) for row in shares.tolist()]
                return loaded.item_table({"probability": rows})
            columns.update(zip(column_names(self.classes, loaded.names[0], *columns), shares.T, strict=True))
        return loaded.item_table(columns)

    def redrawn(self, scores: Scores, labelled: Scores | Beliefs, draw: Draw) -> Redrawn:
        """The whole posterior is made from the patterns, then classes are drawn item by item."""
        shares = Beliefs(self.posterior(scores))
        labels = labelled if isinstance(labelled, Beliefs) else Beliefs(self.posterior(labelled))
        return redrawn(replace(self._by_item, keys=self._keys).redrawn(shares, labels, self._votes, draw))

    def group_moments(self, groups: NDArray[np.int64]) -> Moments:
        return moments(self._distinct.group_moments(groups))

    def triple_moments(self, triples: NDArray[np.int64]) -> Floats:
        """Counts (T, K, K, K) of the answers of annotator triples (T, 3); memory is proportional to the triples."""
        counts: Floats = self._distinct.triple_moments(triples)[0]
        return counts


def label_facts(sums: tuple[NDArray[Any], ...], single: int) -> LabelFacts:
    """The sums of `Chunk.label_facts` by name."""
    items, mass, (uncertain, tied, confidence) = sums
    return LabelFacts(np.rint(items).astype(np.int64), mass, round(uncertain), round(tied), single, float(confidence))


def moments(sums: tuple[NDArray[Any], ...]) -> Moments:
    """The sums of `Chunk.group_moments` by name."""
    second, third = sums
    return Moments(second, third, second.sum(axis=(1, 2)), float(third.sum()))


def redrawn(sums: tuple[NDArray[Any], ...]) -> Redrawn:
    """The sums of `Chunk.redrawn` as shares."""
    classes, (wrong, items, wrong_unseen, unseen) = sums
    return Redrawn(classes, float(wrong / max(items, 1)), float(wrong_unseen / unseen) if unseen else None)
