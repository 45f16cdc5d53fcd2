"""The contract of an engine: where the answers live; it counts them and labels items with additive scores."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from covote.annotations.value import Annotations
from covote.counts import PairCounts
from covote.errors import NotApplicableError
from covote.model import Scores

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


class Engine(Protocol):
    """Counts and labels; every method of the library runs on every engine."""

    @property
    def annotators(self) -> tuple[Hashable, ...]: ...

    @property
    def classes(self) -> tuple[Hashable, ...]: ...

    @property
    def n_items(self) -> int: ...

    def pair_counts(self, max_partners: int | None = None) -> PairCounts:
        """How often the answers of each pair of annotators met on an item."""

    def expected_counts(self, scores: Scores) -> ExpectedCounts:
        """One pass: posterior of each item under `scores`, summed over answers and items (gold items are certain)."""

    def group_moments(self, groups: NDArray[np.int64]) -> Moments:
        """Moments of the three groups; `groups[annotator]` is 0, 1, 2, or -1 for left out."""

    def triple_moments(self, triples: NDArray[np.int64]) -> Floats:
        """How often the answers of three annotators met on an item: triples (T, 3) of codes in, (T, K, K, K) out.

        Entry [t, i, j, k] counts the items that the annotators of triple t labelled i, j and k. The three codes of
        a triple are distinct, in any order.
        """

    def posterior(self, scores: Scores) -> Any:
        """Probability of every class for every item, in the engine's own kind of table."""


@runtime_checkable
class HasAnnotations(Protocol):
    """An engine that holds the answers themselves in memory, for methods that pass messages along them."""

    @property
    def annotations(self) -> Annotations: ...

    @property
    def weight(self) -> Floats | None: ...

    @property
    def gold(self) -> NDArray[np.int64] | None: ...

    def distinct(self) -> tuple[Any, NDArray[Any] | None]:
        """An engine with one item for every pattern of answers, and the pattern of every item.

        Itself and None where there are nearly as many patterns as items.
        """
        ...


def answers_in_memory(engine: Engine, method: str) -> Annotations:
    """The answers an engine holds in memory, or an error that names the methods that run without them."""
    if isinstance(engine, HasAnnotations):
        return engine.annotations
    msg = (
        f"{method} needs the answers in memory and this engine does not hold them. Use engine='memory', or one of: "
        "majority-vote, multispa, multispa-kl, multispa-ds, mv-ds, spectral-ds, tensor-admm, eigen-ratio, ghosh-svd."
    )
    raise NotApplicableError(msg)
