"""EBCC, enhanced Bayesian classifier combination: answers in; classes made of subtypes out.

Subtypes let annotators err together.

Y. Li, B. Rubinstein, T. Cohn, "Exploiting worker correlation for label aggregation in crowdsourcing", ICML 2019: each
class is a mixture of subtypes, annotators are independent given the subtype. Items of an odd subtype are misread by
many at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covote.engines.base import Engine, InMemory
from covote.methods.dirichlet import gain, log_means
from covote.methods.loop import Run, iterate
from covote.methods.majority_vote import majority_vote, vote_scores
from covote.model import Fit, Model, Progress, Scores, columns, normalised

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Beliefs:
    """Pseudo-counts before any answer is read: the published settings."""

    subtypes: int = 10
    share: float = 0.1  # spread over the subtypes of a class
    prior: float = 1.0  # for every class
    smoothing: float = 1.0  # in every cell of a column
    diagonal: float = 3.0  # more, where label and class agree


def ebcc(
    engine: Engine,
    *,
    beliefs: Beliefs | None = None,
    starts: int = 3,
    seed: int = 0,
    max_iter: int = 500,
    tol: float = 1e-6,
    progress: Progress | None = None,
) -> Fit:
    """Variational Bayes from `starts` random splits of the vote shares over subtypes; the best evidence wins.

    States are (subtype, class), subtype first. Gold items count to the first subtype of their class. The history
    holds the evidence lower bound of the best start, which never falls.
    """
    beliefs = beliefs or Beliefs()
    engine = engine.in_memory()
    a = engine.annotations
    K = len(engine.classes)
    if K < 2 or a.n_labels == 0:
        return majority_vote(engine)
    problem = _Problem(engine, beliefs, len(engine.annotators), K)
    rng = np.random.default_rng(seed)
    runs: list[Run] = []
    for _ in range(max(starts, 1)):
        x = problem.random_start(rng)
        runs.append(iterate(problem.step, x, max_iter=max_iter, tol=tol, progress=progress))
    best = max(runs, key=lambda run: run.history[-1])
    return problem.fit(best)


@dataclass(frozen=True, eq=False)
class _Problem:
    """An engine with beliefs; the state is expected counts: of states (S K), then of answers (M, L, S K)."""

    engine: InMemory
    beliefs: Beliefs
    n_annotators: int
    n_classes: int

    @property
    def believed(self) -> Floats:
        cell = self.beliefs.smoothing + self.beliefs.diagonal * np.eye(self.n_classes)
        return np.tile(cell, (1, self.beliefs.subtypes))  # (labels, states)

    def unpack(self, x: Floats) -> tuple[Floats, Floats]:
        states = self.beliefs.subtypes * self.n_classes
        return x[:states], x[states:].reshape(self.n_annotators, self.n_classes, states)

    def scores(self, x: Floats) -> tuple[Scores, float]:
        """Scores of the states, and minus the divergence of the posterior from the beliefs."""
        b, K = self.beliefs, self.n_classes
        mass, counts = self.unpack(x)
        split = mass.reshape(b.subtypes, K)
        each, tau = np.full((b.subtypes, K), b.share / b.subtypes), np.full(K, b.prior)
        log_pi, log_tau = log_means(split + each, axis=0), log_means(split.sum(axis=0) + tau)
        table = log_means(counts + self.believed, axis=1)
        bound = gain(split, each, log_pi, axis=0) + gain(split.sum(axis=0), tau, log_tau)
        bound += gain(counts, self.believed, table, axis=1)
        return Scores(table, (log_pi + log_tau).ravel()), bound

    def step(self, x: Floats) -> tuple[Floats, float]:
        scores, bound = self.scores(x)
        soft = self.engine.expected_counts(scores)
        return np.concatenate([soft.prior, soft.confusion.ravel()]), soft.log_likelihood + bound

    def random_start(self, rng: np.random.Generator) -> Floats:
        """Vote shares of every item, those of each class split at random over its subtypes."""
        engine, S, K = self.engine, self.beliefs.subtypes, self.n_classes
        a = engine.annotations
        shares = np.asarray(engine.posterior(vote_scores(self.n_annotators, K)))
        split = rng.dirichlet(np.ones(S), (a.n_items, K)).transpose(0, 2, 1)  # (items, subtypes, classes)
        soft = (split * shares[:, None, :]).reshape(a.n_items, S * K)
        if engine.gold is not None:
            known = engine.gold >= 0
            soft[known] = np.eye(S * K)[engine.gold[known]]
        if engine.weight is not None:
            soft = soft * engine.weight[:, None]
        item, size = a.item, self.n_annotators * K
        counts = np.column_stack([np.bincount(a.answer, s[item], minlength=size) for s in soft.T])
        return np.concatenate([soft.sum(axis=0), counts.ravel()])

    def fit(self, run: Run) -> Fit:
        K, S = self.n_classes, self.beliefs.subtypes
        mass, counts = self.unpack(run.state)
        states = np.asarray(self.engine.posterior(self.scores(run.state)[0]))
        posterior = states.reshape(-1, S, K).sum(axis=1)
        by_class = counts.reshape(self.n_annotators, K, S, K).sum(axis=2) + self.believed[:, :K]
        prior = normalised(mass.reshape(S, K).sum(axis=0) + self.beliefs.prior)
        model = Model(prior, columns(by_class), self.engine.classes, self.engine.annotators)
        details = {"evidence": run.history[-1], "subtypes": normalised(mass).reshape(S, K)}
        return Fit(model.scores(), model, run.status, run.history, details=details, posterior=posterior)
