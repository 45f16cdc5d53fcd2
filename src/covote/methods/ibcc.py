"""iBCC, independent Bayesian classifier combination: answers in; posterior confusions out, by variational Bayes.

H.-C. Kim, Z. Ghahramani, "Bayesian classifier combination", AISTATS 2012; the variational form is that of
E. Simpson, S. Roberts, I. Psorakis, A. Smith, "Dynamic Bayesian combination of multiple imperfect classifiers", 2013.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from covote.engines.base import Engine
from covote.methods.dirichlet import gain, log_means
from covote.methods.loop import iterate
from covote.methods.majority_vote import majority_vote, vote_scores
from covote.model import Fit, Model, Progress, Scores, columns, normalised

Floats = NDArray[np.float64]


def ibcc(
    engine: Engine,
    *,
    smoothing: float = 1.0,
    diagonal: float = 3.0,
    prior: float = 1.0,
    max_iter: int = 500,
    tol: float = 1e-8,
    accelerate: bool = True,
    progress: Progress | None = None,
) -> Fit:
    """Dawid-Skene with Dirichlet priors on all columns, integrated over instead of maximised.

    Each confusion column has `smoothing` pseudo-answers in every cell and `diagonal` more where label and class
    agree; the class shares have `prior` for every class. The state is the expected counts; the history holds the
    evidence lower bound, which never falls.
    """
    M, K = len(engine.annotators), len(engine.classes)
    if K < 2:
        return majority_vote(engine)
    believed = smoothing + diagonal * np.eye(K)  # (labels, classes)

    def step(x: Floats) -> tuple[Floats, float]:
        mass, counts = x[:K], x[K:].reshape(M, K, K)
        scores = mean_scores(mass + prior, counts + believed)
        soft = engine.expected_counts(scores)
        bound = gain(counts, believed, scores.table, axis=1) + gain(mass, np.full(K, prior), scores.bias)
        return np.concatenate([soft.prior, soft.confusion.ravel()]), soft.log_likelihood + bound

    votes = engine.expected_counts(vote_scores(M, K))
    run = iterate(
        step,
        np.concatenate([votes.prior, votes.confusion.ravel()]),
        max_iter=max_iter,
        tol=tol,
        project=(lambda x, _: np.maximum(x, 0.0)) if accelerate else None,
        progress=progress,
    )
    mass, counts = run.state[:K] + prior, run.state[K:].reshape(M, K, K) + believed
    model = Model(normalised(mass), columns(counts), engine.classes, engine.annotators)
    details = {"evidence": run.history[-1], "counts": counts}
    return Fit(mean_scores(mass, counts), model, run.status, run.history, details=details)


def mean_scores(mass: Floats, counts: Floats) -> Scores:
    """E log of confusions and prior, whose posteriors are Dirichlet with these parameters."""
    return Scores(log_means(counts, axis=1), log_means(mass))
