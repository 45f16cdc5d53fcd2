"""GLAD: answers in; the ability of every annotator and the ease of every item out.

J. Whitehill, P. Ruvolo, T. Wu, J. Bergsma, J. Movellan, "Whose vote should count more: optimal integration of labels
from labelers of unknown expertise", NIPS 2009: Pr(answer of m to n is right) = sigmoid(ability_m * exp(ease_n)).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covote.engines.base import Engine, InMemory
from covote.methods.majority_vote import majority_vote
from covote.methods.one_coin import coin_confusion
from covote.model import Fit, Model, Progress, Status

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Means of the Normal priors of variance 1, and the class prior; None: 1, 1 and uniform."""

    ability: Floats | None = None  # (annotators,)
    ease: Floats | None = None  # (items,)
    prior: Floats | None = None  # (classes,)


def glad(
    engine: Engine,
    *,
    beliefs: Beliefs | None = None,
    max_iter: int = 100,
    tol: float = 1e-5,
    inner: int = 25,
    inner_tol: float = 1e-2,
    progress: Progress | None = None,
) -> Fit:
    """EM: posteriors of items, then up to `inner` steps of conjugate gradients on abilities and log-eases.

    Errors fall evenly on the other classes. Stops when the expected log-posterior per answer and class gains less
    than `tol`; the history holds it. Probabilities rest on each item's own ease; `predict` on new items takes the
    mean ease.
    """
    engine = engine.in_memory()
    a = engine.annotations
    K = len(engine.classes)
    if K < 2 or a.n_labels == 0:
        return majority_vote(engine)
    problem = _problem(engine, beliefs or Beliefs())
    x = np.ones(a.n_annotators + a.n_items)
    posterior, history, status = problem.posterior(x), [], Status.LIMIT
    before = -np.inf
    for turn in range(max_iter):
        posterior = problem.posterior(x)
        x, value = problem.maximise(x, posterior, inner, inner_tol)
        history.append(value / (a.n_labels * K))
        if progress is not None:
            progress(turn + 1, max_iter, history[-1])
        if history[-1] - before < tol:
            status = Status.CONVERGED
            break
        before = history[-1]
    ability, ease = x[: a.n_annotators], x[a.n_annotators :]
    accuracy = 1 / (1 + np.exp(-ability * np.exp(ease.mean())))
    model = Model(np.exp(problem.log_prior), coin_confusion(accuracy, K), engine.classes, engine.annotators)
    details = {"ability": ability, "ease": ease, "skill": accuracy}
    return Fit(model.scores(), model, status, tuple(history), details=details, posterior=posterior)


@dataclass(frozen=True, eq=False)
class _Problem:
    """The answers with the priors; x holds abilities, then log-eases."""

    offsets: Ints
    answer: NDArray[np.integer]
    item: Ints
    weight: Floats  # (items,) or empty
    gold: Ints  # (items,) or empty
    mean: Floats  # prior means of x
    log_prior: Floats  # (classes,)
    n_annotators: int

    def posterior(self, x: Floats) -> Floats:
        """Probability of every class for every item."""
        from covote.kernels import glad as kernel

        out = np.empty((len(self.offsets) - 1, len(self.log_prior)))
        m = self.n_annotators
        kernel.posterior_pass(self.offsets, self.answer, self.gold, x[:m], x[m:], self.log_prior, out)
        return out

    def maximise(self, x: Floats, posterior: Floats, steps: int, tol: float) -> tuple[Floats, float]:
        """Better abilities and eases, and the expected log-posterior there."""
        from covote.kernels import glad as kernel

        right = posterior[self.item, self.answer % len(self.log_prior)]  # Pr(the answer is right)
        new = x.copy()
        value = kernel.climb(
            self.offsets, self.answer, self.weight, right, self.mean, len(self.log_prior), steps, tol, new
        )
        return new, float(value) - 0.5 * np.log(2 * np.pi) * len(x)


def _problem(engine: InMemory, beliefs: Beliefs) -> _Problem:
    a = engine.annotations
    K = a.n_classes
    weight = np.empty(0) if engine.weight is None else np.asarray(engine.weight, np.float64)
    gold = np.empty(0, np.int64) if engine.gold is None else np.asarray(engine.gold, np.int64)
    ability = np.ones(a.n_annotators) if beliefs.ability is None else beliefs.ability
    ease = np.ones(a.n_items) if beliefs.ease is None else beliefs.ease
    prior = np.full(K, 1 / K) if beliefs.prior is None else beliefs.prior
    mean = np.concatenate([ability, ease])
    with np.errstate(divide="ignore"):
        return _Problem(a.offsets, a.answer, a.item, weight, gold, mean, np.log(prior), a.n_annotators)
