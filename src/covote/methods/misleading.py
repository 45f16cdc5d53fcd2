"""Items that mislead: a model of answers in, the same model with items that look like another class out.

Dawid-Skene has annotators err independently, given the class. Real ones err together: an odd picture, a trick question,
a prompt that all judges misread. Here an item of class k is misleading with probability `share`; it then looks like the
class that k is most often taken for, and each annotator follows the look, instead of its own confusion matrix, with
probability `pull`. So a few who dissent on item after item cost the majority less than independence would make it, and
confidence falls where many agree on a look.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from covote.engines.base import ExpectedCounts
from covote.model import Model, Scores

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Misleading:
    """What misleading items of each class look like, the share of items that mislead, and how strongly they do."""

    look: Ints  # (classes,)
    share: float = 0.05
    pull: float = 0.2

    @classmethod
    def seen_by(cls, model: Model, answers: Floats) -> Misleading:
        """Looks from the pooled confusions of a model, annotators weighing as their `answers` (annotators,).

        >>> confusion = np.array([[[0.7, 0.1, 0.0], [0.2, 0.8, 0.4], [0.1, 0.1, 0.6]]])
        >>> model = Model(np.ones(3) / 3, confusion, ("a", "b", "c"), ("ann",))
        >>> Misleading.seen_by(model, np.ones(1)).look.tolist()
        [1, 0, 1]
        """
        pooled = np.einsum("m,mlk->lk", answers, model.confusion)  # (labels, classes)
        np.fill_diagonal(pooled, -1.0)
        return cls(pooled.argmax(axis=0))

    def with_share(self, share: float) -> Misleading:
        """The same with another share of items that mislead."""
        return replace(self, share=share)

    def next_share(self, misled: float, items: float) -> float:
        """Items found misleading over all items, one of either kind added so that it stays inside (0, 1)."""
        return (misled + 1) / (items + 2)


@dataclass(frozen=True, eq=False)
class States:
    """Scores whose states are the K classes and, behind them, the misleading items of each class."""

    scores: Scores  # table (annotators, labels, K or 2K)
    own: (
        Floats | None
    )  # (annotators, labels, K): probability that an answer to a misleading item is the annotator's own

    def given_class(self, n_classes: int) -> Floats:
        """Pr(label given class), misleading items included: (annotators, labels, classes)."""
        mass = np.exp(self.scores.bias)
        joint = by_class(np.exp(self.scores.table) * mass, n_classes)
        return np.asarray(joint / np.maximum(by_class(mass, n_classes), 1e-300))


def spread(prior: Floats, confusion: Floats, misleading: Misleading | None) -> States:
    """The states of a model (prior, confusion)."""
    with np.errstate(divide="ignore"):
        if misleading is None:
            return States(Scores(np.log(confusion), np.log(prior)), None)
        K, share, pull = len(prior), misleading.share, misleading.pull
        own = (1 - pull) * confusion
        misled = own.copy()
        misled[:, misleading.look, np.arange(K)] += pull
        table = np.concatenate([confusion, misled], axis=2)
        mass = np.concatenate([(1 - share) * prior, share * prior])
        return States(Scores(np.log(table), np.log(mass)), own / np.maximum(misled, 1e-300))


def gather(soft: ExpectedCounts, states: States) -> tuple[ExpectedCounts, float]:
    """Soft counts of states -> soft counts of classes (answers that followed a look left out), and items misled."""
    if states.own is None:
        return soft, 0.0
    K = states.own.shape[2]
    counts = soft.confusion[:, :, :K] + states.own * soft.confusion[:, :, K:]
    mass, misled = soft.prior[:K], soft.prior[K:]
    return ExpectedCounts(counts, mass + misled, soft.log_likelihood), float(misled.sum())


def by_class(values: Floats, n_classes: int) -> Floats:
    """Values of states (..., states) summed to values of classes (..., classes)."""
    if values.shape[-1] == n_classes:
        return values
    return np.asarray(values[..., :n_classes] + values[..., n_classes:])
