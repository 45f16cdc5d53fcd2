"""Items that mislead: a model of answers in, the same model with items that look like another class out.

Dawid-Skene has annotators err independently, given the class. Real ones err together: an odd picture, a trick question,
a prompt that all judges misread. Here an item of class k is misleading with probability `share`; it then looks like one
other class j, and each annotator follows the look, instead of its own confusion matrix, with probability `pull`. What
looks like what is read off the crowd's pooled confusion matrix. So a minority that dissents on item after item costs
the majority less than independence would make it, and confidence falls where many agree on a look.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from covote.engines.base import ExpectedCounts
from covote.model import Scores, columns

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

LOOKS = 1
"""Looks considered for each class: what it is most often taken for. More states cost time and gained nothing."""


@dataclass(frozen=True, eq=False)
class Misleading:
    """Share of items that mislead, and how strongly; `looks` and `chances` are filled in from a model's confusions."""

    answers: Floats  # (annotators,): how much each annotator's matrix counts in what looks like what
    share: float = 0.05
    pull: float = 0.2
    looks: Ints | None = None  # (looks a class, classes): the classes that items of class k may look like
    chances: Floats | None = None  # (looks a class, classes): how often they look like them; columns sum to 1

    def at(self, share: Floats, confusion: Floats) -> Misleading:
        """The same with the share given and the looks that `confusion` (annotators, labels, classes) suggests."""
        K = confusion.shape[1]
        pooled = np.einsum("m,mlk->lk", self.answers, confusion)  # (labels, classes)
        mixed = columns(pooled * (1 - np.eye(K)))
        looks = np.argsort(-mixed - 1e-12, axis=0, kind="stable")[: min(LOOKS, K - 1)]
        chances = np.take_along_axis(mixed, looks, axis=0)
        return replace(self, share=float(share[0]), looks=looks, chances=columns(chances))

    def updated(self, misled: float, items: float) -> list[float]:
        """The next share: the items found misleading, one more of either kind added so that it stays inside (0, 1)."""
        return [(misled + 1) / (items + 2)]


@dataclass(frozen=True, eq=False)
class Expanded:
    """Scores whose states are the classes and, behind them, the misleading items of each class."""

    scores: Scores  # table (annotators, labels, states); states are blocks of K: classes, first looks, second looks
    own: Floats | None  # (annotators, labels, states): probability that the answer came from the annotator's own matrix

    def given_class(self, n_classes: int) -> Floats:
        """Pr(label given class), misleading items included: (annotators, labels, classes)."""
        mass = np.exp(self.scores.bias)
        joint = by_class(np.exp(self.scores.table) * mass, n_classes)
        return np.asarray(joint / np.maximum(by_class(mass, n_classes), 1e-300))


def spread(prior: Floats, confusion: Floats, look: Misleading | None) -> Expanded:
    """The states of a model: one a class, and one more for each look of each class."""
    with np.errstate(divide="ignore"):
        if look is None:
            return Expanded(Scores(np.log(confusion), np.log(prior)), None)
        assert look.looks is not None
        assert look.chances is not None
        K = len(prior)
        behind = np.tile(np.arange(K), len(look.looks))
        followed = np.zeros((K, K * len(look.looks)))  # (labels, misleading states)
        followed[look.looks.ravel(), np.arange(K * len(look.looks))] = look.pull
        kept = (1 - look.pull) * confusion[:, :, behind]
        table = np.concatenate([confusion, kept + followed], axis=2)
        own = np.concatenate([np.ones_like(confusion), kept / np.maximum(kept + followed, 1e-300)], axis=2)
        mass = np.concatenate([(1 - look.share) * prior, look.share * prior[behind] * look.chances.ravel()])
        return Expanded(Scores(np.log(table), np.log(mass)), own)


def gather(soft: ExpectedCounts, expanded: Expanded, look: Misleading | None) -> tuple[ExpectedCounts, float]:
    """Soft counts of states -> soft counts of classes (answers that followed a look left out), and items misled."""
    if look is None or expanded.own is None:
        return soft, 0.0
    K = soft.confusion.shape[1]
    counts = soft.confusion * expanded.own
    M = len(counts)
    states = counts.reshape(M, K, -1, K).sum(axis=2)
    mass = soft.prior.reshape(-1, K)
    return ExpectedCounts(states, mass.sum(axis=0), soft.log_likelihood), float(mass[1:].sum())


def by_class(states: Floats, n_classes: int) -> Floats:
    """Values of states (..., states) summed to values of classes (..., classes)."""
    return np.asarray(states.reshape(*states.shape[:-1], -1, n_classes).sum(axis=-2))
