"""Hierarchical Dawid-Skene: soft counts in, matrices shrunk towards the crowd's pooled one out, and the EM around it.

Besides the K classes there is one more state, the hard item: on it an annotator answers as often with each label as
on all items together, so its answers say nothing about the class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from covote.default.settings import Settings
from covote.engines.base import Engine, ExpectedCounts
from covote.methods.align import best_order
from covote.model import Model, Scores, columns, normalised

Floats = NDArray[np.float64]

STRENGTHS: Floats = np.geomspace(0.5, 500.0, 24)
"""Strengths of shrinkage that are compared, in pseudo-answers for each class."""


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Where EM stands: matrices, the pooled matrix they are shrunk to, class shares, and the share of hard items."""

    counts: Floats  # (annotators, labels, classes): soft counts of the answers to items that are not hard
    mass: Floats  # (classes,): soft counts of these items
    pooled: Floats  # (labels, classes)
    step: int  # index into STRENGTHS
    hard_share: float
    log_likelihood: float = -np.inf  # of the parameters that gave these counts

    @property
    def strength(self) -> float:
        """Pseudo-answers of the pooled matrix that are added to each class of each annotator."""
        return float(STRENGTHS[self.step])

    @property
    def prior(self) -> Floats:
        K = len(self.mass)
        return normalised(self.mass + 1 / K)

    @property
    def confusion(self) -> Floats:
        """The posterior mean of every annotator's matrix, (annotators, labels, classes)."""
        return columns(self.counts + self.strength * self.pooled)

    def scores(self, weight: Floats | None) -> Scores:
        """Log-probabilities of the K classes and, where there are hard items, of one state more."""
        prior, confusion = self.prior, self.confusion
        if self.hard_share > 0:
            confusion = np.concatenate([confusion, (confusion @ prior)[:, :, None]], axis=2)
            prior = np.append((1 - self.hard_share) * prior, self.hard_share)
        table = np.log(confusion)
        return Scores(table if weight is None else table * weight[:, None, None], np.log(prior))

    def model(self, engine: Engine) -> Model:
        return Model(self.prior, self.confusion, engine.classes, engine.annotators)


def from_soft_counts(soft: ExpectedCounts, settings: Settings, *, hard: bool, before: Hierarchy | None) -> Hierarchy:
    """The M step: soft counts of K classes, or of these and hard items, -> the next parameters."""
    K = soft.confusion.shape[1]
    counts, mass = soft.confusion[:, :, :K], soft.prior[:K]
    pooled = columns(counts.sum(axis=0) + 1 / K + settings.diagonal * np.eye(K))
    share = 0.0
    if hard:
        share = settings.hard_share if len(soft.prior) == K else float(soft.prior[K] / max(soft.prior.sum(), 1e-300))
        share = min(max(share, 1e-9), 1 - 1e-9)
    step = best_strength(counts, pooled, None if before is None else before.step)
    return Hierarchy(counts, mass, pooled, step, share, soft.log_likelihood)


def best_strength(counts: Floats, pooled: Floats, near: int | None = None) -> int:
    """Index of the strength under which the counts are likeliest, annotators being draws from a Dirichlet.

    Counts are (annotators, labels, classes), those of a class a draw around `pooled[:, class]`. With `near`, the
    search walks uphill from there.

    >>> alike = np.tile(np.array([[80.0, 20.0], [20.0, 80.0]]), (9, 1, 1))
    >>> pooled = np.array([[0.8, 0.2], [0.2, 0.8]])
    >>> float(STRENGTHS[best_strength(alike, pooled)])
    500.0
    """
    from scipy.special import gammaln

    answers = counts.sum(axis=1)  # (annotators, classes)
    known: dict[int, float] = {}

    def evidence(step: int) -> float:
        if not 0 <= step < len(STRENGTHS):
            return -np.inf
        if step not in known:
            s = STRENGTHS[step]
            pseudo = s * pooled
            cells = (gammaln(counts + pseudo).sum(axis=0) - len(counts) * gammaln(pseudo)).sum()
            known[step] = float(cells + (gammaln(s) - gammaln(answers + s)).sum())
        return known[step]

    best = near if near is not None else max(range(len(STRENGTHS)), key=evidence)
    while True:
        uphill = max((best, best - 1, best + 1), key=evidence)
        if uphill == best:
            return best
        best = uphill


def run_rounds(
    engine: Engine, start: Hierarchy, settings: Settings, weight: Floats | None, *, hard: bool
) -> Hierarchy:
    """The planned rounds of EM; the log-likelihood is that of the last parameters but one step."""
    current = start
    if hard and current.hard_share == 0:
        current = replace(current, hard_share=settings.hard_share)
    for _ in range(settings.rounds):
        soft = engine.expected_counts(current.scores(weight))
        current = from_soft_counts(soft, settings, hard=hard, before=current)
    return current


def named_by_annotators(state: Hierarchy) -> Hierarchy:
    """Classes in the order in which most annotators call them by their names; each annotator has one voice a class.

    Votes of a strong minority can turn all names over; the number of annotators who would have to be wrong about
    their own answers decides.
    """
    confusion = state.confusion
    K = len(state.mass)
    voices = np.zeros((K, K))  # [label, class]
    for k in range(K):
        voices[:, k] = np.bincount(confusion[:, :, k].argmax(axis=1), minlength=K)
    order = best_order(voices)
    if np.all(order == np.arange(K)) or voices[np.arange(K), order].sum() <= np.trace(voices):
        return state
    return replace(
        state, counts=state.counts[:, :, order], mass=state.mass[order], pooled=state.pooled[:, order]
    )
