"""MACE: answers in; how far each annotator is to be trusted, and what it answers when it spams, out.

D. Hovy, T. Berg-Kirkpatrick, A. Vaswani, E. Hovy, "Learning whom to trust with MACE", NAACL 2013: annotator m either
knows the class and copies it, with probability trust_m, or answers by habit, with probabilities habit_m.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from covote.engines.base import Engine, ExpectedCounts
from covote.methods.dirichlet import gain, log_means
from covote.methods.majority_vote import majority_vote
from covote.model import Fit, Model, Progress, Scores, Status

Floats = NDArray[np.float64]
Learning = Literal["vb", "em"]


@dataclass(frozen=True, eq=False)
class Trust:
    """What MACE learns of annotators; with variational Bayes, geometric means, which sum to less than 1."""

    knows: Floats  # (annotators, 2): spams, knows
    habit: Floats  # (annotators, labels)

    @property
    def confusion(self) -> Floats:
        """Weight of each label given each class: (annotators, labels, classes)."""
        spam = self.knows[:, :1, None] * self.habit[:, :, None]
        return np.asarray(spam + self.knows[:, 1:, None] * np.eye(self.habit.shape[1]))

    @property
    def scores(self) -> Scores:
        """Log-weights for labelling, with equal prior chances of the classes."""
        K = self.habit.shape[1]
        return Scores(np.log(np.maximum(self.confusion, 1e-300)), np.full(K, -np.log(K)))


@dataclass(frozen=True)
class Prior:
    """Beta prior of trust and Dirichlet prior of habits (vb), or what is added to the counts (em)."""

    learning: Learning = "vb"
    spams: float = 0.5
    knows: float = 0.5
    habit: float = 10.0
    smoothing: float = 0.01  # over the number of labels


def mace(
    engine: Engine,
    *,
    prior: Prior | None = None,
    starts: int = 10,
    seed: int = 0,
    max_iter: int = 50,
    progress: Progress | None = None,
) -> Fit:
    """The best of `starts` random starts, each `max_iter` rounds (as published: 10 and 50), by its evidence.

    The history is that of the best start: the log-likelihood (em) or the evidence bound (vb) of every round.
    """
    prior = prior or Prior()
    M, K = len(engine.annotators), len(engine.classes)
    if K < 2:
        return majority_vote(engine)
    rng = np.random.default_rng(seed)
    best: tuple[float, Trust, tuple[float, ...]] | None = None
    for start in range(max(starts, 1)):
        trust, history = rounds(engine, random_trust(rng, M, K), prior, max_iter)
        if best is None or history[-1] > best[0]:
            best = (history[-1], trust, history)
        if progress is not None:
            progress(start + 1, max(starts, 1), best[0])
    assert best is not None
    return fit_of(engine, best[1], best[2])


def random_trust(rng: np.random.Generator, n_annotators: int, n_classes: int, noise: float = 0.5) -> Trust:
    """The published start: near-uniform, each weight 1 plus up to 1 + `noise`, normalised."""
    drawn = 1 + (1 + noise) * rng.random((n_annotators, 2 + n_classes))
    return Trust(_rows(drawn[:, :2]), _rows(drawn[:, 2:]))


def rounds(engine: Engine, trust: Trust, prior: Prior, max_iter: int) -> tuple[Trust, tuple[float, ...]]:
    """E and M steps from `trust`; the objective at every state."""
    soft = engine.expected_counts(trust.scores)
    history = [_objective(soft, trust, prior)]
    for _ in range(max_iter):
        trust = maximise(*expected(soft, trust), prior)
        soft = engine.expected_counts(trust.scores)
        history.append(_objective(soft, trust, prior))
    return trust, tuple(history)


def expected(soft: ExpectedCounts, trust: Trust) -> tuple[Floats, Floats]:
    """Expected answers by (spam, knowledge), (annotators, 2), and spam answers by label, (annotators, labels)."""
    weight = np.maximum(trust.confusion, 1e-300)
    by_habit = (trust.knows[:, :1] * trust.habit)[:, :, None] / weight  # Pr(spam given label and class)
    spam = (soft.confusion * by_habit).sum(axis=2)
    known = np.einsum("mkk,mkk->m", soft.confusion, trust.knows[:, 1, None, None] / weight)
    return np.column_stack([spam.sum(axis=1), known]), spam


def maximise(knows: Floats, habit: Floats, prior: Prior) -> Trust:
    """The M step: normalised counts (em), or exp E log of the posterior Dirichlet (vb)."""
    if prior.learning == "em":
        added = prior.smoothing / habit.shape[1]
        return Trust(_rows(knows + added), _rows(habit + added))
    knows = knows + np.array([prior.spams, prior.knows])
    habit = habit + prior.habit
    return Trust(np.exp(log_means(knows)), np.exp(log_means(habit)))


def fit_of(engine: Engine, trust: Trust, history: tuple[float, ...]) -> Fit:
    """The fit that holds this trust; its confusions are those of the normalised weights."""
    knows, habit = _rows(trust.knows), _rows(trust.habit)
    K = habit.shape[1]
    confusion = Trust(knows, habit).confusion
    model = Model(np.full(K, 1 / K), confusion, engine.classes, engine.annotators)
    details = {"trust": knows[:, 1], "habit": habit, "skill": knows[:, 1]}
    return Fit(trust.scores, model, Status.PLANNED, history, details=details)


def _objective(soft: ExpectedCounts, trust: Trust, prior: Prior) -> float:
    """Log-likelihood (em), or the evidence lower bound (vb), of a state whose counts `soft` were taken under it.

    The bound is taken after the next M step, whose counts are those expected here, so it never falls.
    """
    if prior.learning == "em":
        return soft.log_likelihood
    knows, habit = expected(soft, trust)
    at = np.array([prior.spams, prior.knows])
    whole = gain(knows, at, _log(trust.knows)) + gain(habit, np.full(habit.shape[1], prior.habit), _log(trust.habit))
    return soft.log_likelihood + whole


def _rows(x: Floats) -> Floats:
    return np.asarray(x / x.sum(axis=1, keepdims=True))


def _log(x: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(x, 1e-300)))
