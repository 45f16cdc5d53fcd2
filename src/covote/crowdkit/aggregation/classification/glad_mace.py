"""GLAD and MACE in crowd-kit's manners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from covote.crowdkit.aggregation.base import WithProbabilities
from covote.crowdkit.frames import Coded, first_best
from covote.methods import mace as trusting
from covote.methods.glad import Beliefs, glad

Floats = NDArray[np.float64]


@dataclass(eq=False)
class GLAD(WithProbabilities):
    """Abilities of workers (alphas) and eases of tasks (betas, as logs)."""

    n_iter: int = 100
    """Most rounds of EM."""
    tol: float = 1e-5
    """Stop when the objective per answer and label gains less than this."""
    silent: bool = True
    """Kept for crowd-kit's signature; fitting never prints."""
    labels_priors: Any = None
    """Prior of every label, a Series; even when None."""
    alphas_priors_mean: Any = None
    """Prior mean of every worker's alpha, a Series; 1 when None."""
    betas_priors_mean: Any = None
    """Prior mean of every task's beta, a Series; 1 when None."""
    m_step_max_iter: int = 25
    """Most gradient steps in an M step."""
    m_step_tol: float = 1e-2
    """An M step ends where no slope is above this."""

    alphas_ = None
    """Ability of every worker."""
    betas_ = None
    """Log-ease of every task."""
    loss_history_ = None
    """The objective per answer and label, every round."""

    def fit(self, data: Any) -> Self:
        """Learn from the answers."""
        labels = None if self.labels_priors is None else pd.Index(self.labels_priors.index, name="label")
        coded = Coded.of(data, labels)
        beliefs = Beliefs(
            _given(self.alphas_priors_mean, coded.workers),
            _given(self.betas_priors_mean, coded.tasks),
            _given(self.labels_priors, coded.labels),
        )
        fit = glad(
            coded.engine(),
            beliefs=beliefs,
            max_iter=self.n_iter,
            tol=self.tol,
            inner=self.m_step_max_iter,
            inner_tol=self.m_step_tol,
        )
        probas = np.ones((len(coded.tasks), len(coded.labels))) if fit.posterior is None else fit.posterior
        ability, ease = (fit.details.get(name) for name in ("ability", "ease"))
        self.alphas_ = pd.Series(
            np.ones(len(coded.workers)) if ability is None else ability, coded.workers, name="alpha"
        )
        self.betas_ = pd.Series(np.ones(len(coded.tasks)) if ease is None else ease, coded.tasks, name="beta")
        self.probas_ = coded.by_task(probas, ordered=True)
        self.labels_ = coded.label_series(first_best(probas), ordered=True)
        self.loss_history_ = list(fit.history)
        return self


def _given(series: Any, index: Any) -> Floats | None:
    return None if series is None else np.asarray(series.reindex(index), np.float64)


@dataclass(eq=False)
class MACE(WithProbabilities):
    """Workers know the label or answer by habit.

    crowd-kit 1.4.2 starts every restart from the same numbers, so one is run here. It also gives workers each other's
    habits where workers or labels do not first appear in sorted order; here each keeps its own.
    """

    n_restarts: int = 10
    """Kept for crowd-kit's signature."""
    n_iter: int = 50
    """Rounds."""
    method: str = "vb"
    """Variational Bayes, or "em"."""
    smoothing: float = 0.1
    """Kept for crowd-kit's signature, which does not use it: 0.01 over the number of labels is added in "em"."""
    default_noise: float = 0.5
    """Spread of the random start."""
    alpha: float = 0.5
    """Prior count of answers by habit."""
    beta: float = 0.5
    """Prior count of answers by knowledge."""
    random_state: int = 0
    """Seed of the start."""
    verbose: int = 0
    """Kept for crowd-kit's signature; fitting never prints."""

    spamming_ = None
    """Pr(habit) and Pr(knowledge) of every worker, (workers, 2), workers as they appear."""
    thetas_ = None
    """Habits, (workers, labels), both sorted."""

    def fit(self, data: Any) -> Self:
        """Learn from the answers."""
        coded = Coded.of(data)
        prior = trusting.Prior("vb" if self.method == "vb" else "em", self.alpha, self.beta)
        trust = self._start(coded)
        engine = coded.engine()
        if coded.size:
            trust, _ = trusting.rounds(engine, trust, prior, self.n_iter)
        probas = engine.posterior(trust.scores) if coded.size else np.empty((0, len(coded.labels)))
        self.spamming_ = trust.knows
        self.thetas_ = trust.habit[np.argsort(coded.workers, kind="stable")] if coded.size else trust.habit
        self.probas_ = coded.by_task(probas, ordered=False)
        self.labels_ = coded.label_series(first_best(probas), ordered=False)
        return self

    def _start(self, coded: Coded) -> trusting.Trust:
        """crowd-kit's start: the same seed for both tables, labels in the order in which they appear."""
        M, K = len(coded.workers), len(coded.labels)
        appearance = pd.unique(coded.label)
        knows, habit = (1 + (1 + self.default_noise) * self._uniform(M, size) for size in (2, K))
        ordered = np.empty_like(habit)
        ordered[:, appearance] = habit[:, : len(appearance)]
        return trusting.Trust(_rows(knows), _rows(ordered) if K else ordered)

    def _uniform(self, rows: int, size: int) -> Floats:
        return np.random.RandomState(self.random_state).uniform(size=(rows, size))


def _rows(x: Floats) -> Floats:
    return np.asarray(x / x.sum(axis=1, keepdims=True))
