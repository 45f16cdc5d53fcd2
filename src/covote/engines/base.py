"""The contract of an engine: where the answers live; it counts them and labels items with additive scores."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from covote.counts import PairCounts
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


class Engine(Protocol):
    """Counts and labels; every method of the library runs on every engine."""

    @property
    def annotators(self) -> tuple[Hashable, ...]: ...

    @property
    def classes(self) -> tuple[Hashable, ...]: ...

    @property
    def n_items(self) -> int: ...

    def pair_counts(self) -> PairCounts:
        """How often the answers of each pair of annotators met on an item."""

    def expected_counts(self, scores: Scores) -> ExpectedCounts:
        """One pass: posterior of each item under `scores`, summed over answers and items (gold items are certain)."""

    def group_moments(self, groups: NDArray[np.int64]) -> Moments:
        """Moments of the three groups; `groups[annotator]` is 0, 1, 2, or -1 for left out."""

    def posterior(self, scores: Scores) -> Any:
        """Probability of every class for every item, in the engine's own kind of table."""
