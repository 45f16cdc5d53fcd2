"""Hierarchical Dawid-Skene: soft counts in, matrices shrunk towards the crowd's pooled one out, and the EM around it.

Besides the K classes there is one more state, the hard item: on it an annotator answers as often with each label as
on all items together, so its answers say nothing about the class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from covote.default.labelling_functions import one_sided
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
    constant: NDArray[np.bool_]  # (annotators,): who gives one label whatever the item is
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
        return columns(self.counts + self.pseudo_answers[:, None, None] * self.pooled)

    @property
    def pseudo_answers(self) -> Floats:
        """By how many pseudo-answers per class each annotator's matrix is shrunk to the pooled one, (annotators,)."""
        return np.where(self.constant, STRENGTHS[0], self.strength)

    def scores(self, weight: Floats | None) -> Scores:
        """Log-probabilities of the K classes and, where there are hard items, of one state more."""
        prior, confusion = self.prior, self.confusion
        if self.hard_share > 0:
            confusion = np.concatenate([confusion, (confusion @ prior)[:, :, None]], axis=2)
            prior = np.append((1 - self.hard_share) * prior, self.hard_share)
        return Scores(np.log(confusion), np.log(prior)).weighted(weight)

    def model(self, engine: Engine) -> Model:
        return Model(self.prior, self.confusion, engine.classes, engine.annotators)


def from_soft_counts(soft: ExpectedCounts, settings: Settings, *, hard: bool, before: Hierarchy | None) -> Hierarchy:
    """The M step: soft counts of K classes, or of these and hard items, -> the next parameters."""
    K = soft.confusion.shape[1]
    counts, mass = soft.confusion[:, :, :K], soft.prior[:K]
    label_counts = soft.confusion.sum(axis=2)
    constant = constant_annotators(label_counts) if before is None else before.constant
    pooled = pooled_matrix(counts[~constant].sum(axis=0), settings.class_prior)
    share = 0.0
    if hard:
        share = settings.hard_share if len(soft.prior) == K else float(soft.prior[K] / max(soft.prior.sum(), 1e-300))
        share = min(max(share, 1e-9), 1 - 1e-9)
    step = best_strength(counts[~constant], pooled, None if before is None else before.step)
    return Hierarchy(counts, constant, mass, pooled, step, share, soft.log_likelihood)


def pooled_matrix(counts: Floats, pseudo: float) -> Floats:
    """The crowd's matrix (labels, classes); a class of few answers is seen as the crowd sees classes on average.

    `pseudo` answers are added to every class: right as often as all answers are, wrong in proportion to the labels. So
    a label that occurs once cannot explain the other answers to its own item.

    >>> pooled_matrix(np.array([[90.0, 10.0], [10.0, 90.0]]), 10.0).round(2).tolist()
    [[0.9, 0.1], [0.1, 0.9]]

    Before there are many answers, annotators are believed to be right.
    """
    K, total = len(counts), max(float(counts.sum()), 1e-300)
    labels = (counts.sum(axis=1) + 1 / K) / (total + 1)
    right = (np.trace(counts) + pseudo) / (total + pseudo + 1 / K)
    usual = (1 - right) * columns(labels[:, None] * (1 - np.eye(K))) + right * np.eye(K)
    return columns(counts + pseudo * usual)


def constant_annotators(label_counts: Floats) -> NDArray[np.bool_]:
    """Who gives almost always the same label, though the crowd's label shares make that most unlikely, (annotators,).

    Their answers say nothing about the class, and they are no example of how annotators differ.

    >>> constant_annotators(np.array([[99.0, 1.0], [3.0, 0.0], [60.0, 40.0], [40.0, 60.0]])).tolist()
    [True, False, False, False]
    """
    answers = label_counts.sum(axis=1)
    share = label_counts.sum(axis=0) / max(label_counts.sum(), 1e-300)
    usual = share[label_counts.argmax(axis=1)]
    return np.asarray(one_sided(label_counts) & (answers * np.log(np.maximum(usual, 1e-300)) < np.log(0.01)))


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


def run_rounds(engine: Engine, start: Hierarchy, settings: Settings, weight: Floats | None, *, hard: bool) -> Hierarchy:
    """The planned rounds of EM; the log-likelihood is that of the last parameters but one step."""
    current = start
    if hard and current.hard_share == 0:
        current = replace(current, hard_share=settings.hard_share)
    for _ in range(settings.rounds):
        soft = engine.expected_counts(current.scores(weight))
        current = from_soft_counts(soft, settings, hard=hard, before=current)
    return current


def named_by_annotators(state: Hierarchy) -> Hierarchy:
    """Classes in the order in which most annotators call them by their names; each has one voice for each class.

    A strong minority with a swapped key can turn all names over; the number of annotators decides. Those whose
    answers hang together with the classes no more than chance would have it have no voice.
    """
    confusion, K = state.confusion[_informed(state)], len(state.mass)
    voices = np.zeros((K, K))  # [label, class]
    for k in range(K):
        voices[:, k] = np.bincount(confusion[:, :, k].argmax(axis=1), minlength=K)
    order = best_order(voices)
    if voices[np.arange(K), order].sum() <= np.trace(voices):
        return state
    return replace(state, counts=state.counts[:, :, order], mass=state.mass[order], pooled=state.pooled[:, order])


def _informed(state: Hierarchy) -> NDArray[np.bool_]:
    """Whose answers depend on the class, by a likelihood ratio far above chance, (annotators,)."""
    # six standard deviations: EM fits its classes to the answers, so that even random ones hang together a little
    counts, K = state.counts, len(state.mass)
    total = np.maximum(counts.sum(axis=(1, 2), keepdims=True), 1e-300)
    alone = counts.sum(axis=2, keepdims=True) * counts.sum(axis=1, keepdims=True) / total
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = 2 * np.where(counts > 0, counts * np.log(counts / alone), 0.0).sum(axis=(1, 2))
    freedom = (K - 1) ** 2
    return np.asarray(ratio > freedom + 6 * np.sqrt(2 * freedom))
