"""The contract of an engine: where the answers live; it counts them and labels items with additive scores.

Everything that methods and estimators ask of the answers is here; nobody above asks for the type of an engine.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from covote.annotations import Loaded
from covote.annotations.value import Annotations
from covote.counts import PairCounts
from covote.model import Beliefs, Scores
from covote.sampling import Draw

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ExpectedCounts:
    """What one EM pass returns: soft counts and the exact log-likelihood of the scores it was given."""

    confusion: Floats  # (annotators, labels, classes): posterior mass of class k over the answers (annotator, label)
    prior: Floats  # (classes,): posterior mass over items
    log_likelihood: float


@dataclass(frozen=True, eq=False)
class Moments:
    """Third-order statistics of three groups of annotators: sums over items of outer products of group means."""

    pairs: Floats  # (3, K, K): groups (0, 1), (0, 2), (1, 2)
    triple: Floats  # (K, K, K)
    pair_items: Floats  # (3,): items with answers from both groups
    triple_items: float  # items with answers from all three


@dataclass(frozen=True, eq=False)
class LabelFacts:
    """What a summary tells of the labels, without the items themselves."""

    items: NDArray[np.int64]  # (classes,): items given this label
    mass: Floats  # (classes,): sum of probabilities
    uncertain: int  # items whose label is less probable than asked
    tied: int  # items with several most probable classes
    single: int  # items with one answer
    confidence: float  # sum of the probabilities of the chosen labels


@dataclass(frozen=True, eq=False)
class HeldOut:
    """A question about answers that are held out one by one: how likely is each, given the others to its item?

    The likelihood of the other answers is raised to every power in turn. The annotator's own matrix is taken without
    the answer asked for.
    """

    scores: Scores  # log-probabilities of the classes and perhaps of hard items
    prior: Floats  # (classes,): logs
    counts: Floats  # (annotators, labels, classes): soft counts behind the matrices
    pooled: Floats  # (labels, classes): the matrix they are shrunk to
    strength: Floats  # (annotators,): by how many pseudo-answers per class
    powers: Floats  # (powers,), multiples of 0.05


@dataclass(frozen=True, eq=False)
class Redrawn:
    """What a replicate of the bootstrap says of the items at hand; see `Engine.redrawn`."""

    classes: Floats  # (classes,): items by the class drawn for them
    wrong: float  # share of labels that are wrong
    wrong_unseen: float | None  # the same of items that the replicate did not draw


class Engine(Protocol):
    """Counts and labels; every method of the library runs on every engine."""

    @property
    def annotators(self) -> tuple[Hashable, ...]: ...

    @property
    def classes(self) -> tuple[Hashable, ...]: ...

    @property
    def names(self) -> tuple[str, str, str]:
        """The user's names for item, annotator and label."""

    @property
    def n_items(self) -> int: ...

    @property
    def n_unanswered(self) -> int:
        """Items that nobody answered."""

    @property
    def has_gold(self) -> bool:
        """Whether the classes of some items are given."""

    def label_counts(self) -> Floats:
        """Answers each annotator gave, by label: (annotators, labels)."""

    def pair_counts(self, max_partners: int | None = None) -> PairCounts:
        """How often the answers of each pair of annotators met on an item.

        `max_partners` keeps the largest overlaps of each annotator; without it all pairs are counted, unless their
        blocks would not fit, and `PairCounts.max_partners` says so.
        """

    def expected_counts(self, scores: Scores) -> ExpectedCounts:
        """One pass: posterior of each item under `scores`, summed over answers and items (gold items are certain)."""

    def heldout(self, question: HeldOut) -> tuple[Floats, Floats, float]:
        """Log-probability of all held-out answers under each power (powers,), and how many answers were held out.

        Between them: sums over items of squared differences between powers, (powers, powers).
        """

    def group_moments(self, groups: NDArray[np.int64]) -> Moments:
        """Moments of the three groups; `groups[annotator]` is 0, 1, 2, or -1 for left out."""

    def triple_moments(self, triples: NDArray[np.int64]) -> Floats:
        """How often the answers of three annotators met on an item: triples (T, 3) of codes in, (T, K, K, K) out.

        Entry [t, i, j, k] counts the items that the annotators of triple t labelled i, j and k. The three codes of
        a triple are distinct, in any order.
        """

    def posterior(self, scores: Scores | Beliefs, *, certain: bool = False) -> Floats:
        """Probability of every class for every item, (items, classes), items in the order of the input.

        `certain` sets those of gold items to 0 and 1.
        """

    def labels(self, scores: Scores | Beliefs) -> tuple[NDArray[Any], Floats]:
        """Class code and probability of the chosen label of every item in the order of the input; gold is certain."""

    def label_facts(self, scores: Scores | Beliefs, uncertain: float) -> LabelFacts:
        """Counts for a summary; an item is uncertain where its label is less probable than `uncertain`."""

    def label_table(
        self, scores: Scores | Beliefs, *, label: bool = True, confidence: bool = False, probabilities: bool = False
    ) -> Any:
        """A table of the user's own kind: items, chosen labels, the probabilities of these and of each class."""

    def beliefs(self, posterior: Floats) -> Beliefs:
        """Probabilities found by a method that ran on `in_memory()`, to label with."""

    def resampled(self, draw: Draw) -> Engine:
        """The same answers, every item counted as often as this replicate of the bootstrap draws it."""

    def redrawn(self, scores: Scores, labelled: Scores | Beliefs, draw: Draw) -> Redrawn:
        """Classes drawn from `scores` for every item, and how many labels by `labelled` are wrong."""

    def in_memory(self) -> InMemory:
        """The answers themselves in this process, items in the order of the input; an error where they do not fit."""


class InMemory(Engine, Protocol):
    """An engine that holds the answers themselves, for methods that pass messages along them."""

    @property
    def annotations(self) -> Annotations: ...

    @property
    def weight(self) -> Floats | None: ...

    @property
    def gold(self) -> NDArray[np.int64] | None: ...

    @property
    def loaded(self) -> Loaded:
        """The answers with the way back to tables of the user's kind."""
