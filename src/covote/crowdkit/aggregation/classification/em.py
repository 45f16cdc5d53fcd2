"""Dawid-Skene and its one-coin form in crowd-kit's manners: no smoothing, and its stopping rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from covote.crowdkit.aggregation.base import WithProbabilities
from covote.crowdkit.frames import Coded, first_best
from covote.crowdkit.history import with_initial_error
from covote.engines.base import ExpectedCounts
from covote.engines.memory import MemoryEngine
from covote.methods.majority_vote import vote_scores
from covote.model import Scores

Floats = NDArray[np.float64]
Step = Callable[[ExpectedCounts], Floats]

_EPS = 1e-10


@dataclass(frozen=True, eq=False)
class _Ended:
    scores: Scores  # of the last E step
    prior: Floats
    errors: Floats  # (workers, labels, classes)
    soft: ExpectedCounts
    history: list[float]


def _rounds(engine: MemoryEngine, first: Floats | None, step: Step, n_iter: int, tol: float) -> _Ended:
    """E and M steps until crowd-kit's bound per answer gains less than `tol`; `first` replaces the first errors.

    The bound counts the log-prior once per answer, as crowd-kit does. Its entropy of the posteriors is the
    log-likelihood of the E step minus the expected log-probability under the parameters it was taken with.
    """
    scores = vote_scores(len(engine.annotators), len(engine.classes))
    soft = engine.expected_counts(scores)
    prior, errors = soft.prior / engine.n_items, step(soft) if first is None else first
    history: list[float] = []
    for _ in range(n_iter):
        log_errors, log_prior = _log(errors), np.log(np.maximum(prior, _EPS))
        scores = Scores(log_errors, log_prior)
        soft = engine.expected_counts(scores)
        entropy = soft.log_likelihood - (soft.confusion * log_errors).sum() - soft.prior @ log_prior
        prior, errors = soft.prior / engine.n_items, step(soft)
        by_class = soft.confusion.sum(axis=(0, 1)) @ np.log(np.maximum(prior, _EPS))
        bound = (soft.confusion * _log(errors)).sum() + by_class + entropy
        history.append(float(bound) / engine.annotations.n_labels)
        if len(history) > 1 and history[-1] - history[-2] < tol:
            break
    return _Ended(scores, prior, errors, soft, history)


def _log(errors: Floats) -> Floats:
    """Logs of the probabilities; rows of labels that a worker never gave are never read."""
    return np.asarray(np.log(np.where(errors > 0, errors, 1.0)))


@dataclass(eq=False)
class DawidSkene(WithProbabilities):
    """Dawid and Skene (1979) by EM from vote shares."""

    n_iter: int = 100
    """Most rounds; with 0 the probabilities are shares of votes."""
    tol: float = 1e-5
    """Stop when the bound per answer gains less than this."""
    initial_error_strategy: str | None = None
    """How `initial_error` enters the first errors: "assign" (instead of them) or "addition" (counts added)."""

    priors_ = None
    """Share of every label."""
    errors_ = None
    """Pr(label given true label): rows (worker, label), columns true labels."""
    loss_history_ = None
    """The bound per answer of every round."""

    def fit(
        self, data: Any, true_labels: Any = None, initial_error: Any = None, initial_error_strategy: str | None = None
    ) -> Self:
        """Learn; `true_labels` (by task) are certain throughout, `initial_error` shapes the start alone."""
        coded = _coded(data, true_labels)
        if coded is None:
            return self._nothing()
        engine = coded.engine(None if true_labels is None else coded.gold(true_labels))
        seen = engine.label_counts() > 0

        def step(soft: ExpectedCounts) -> Floats:
            return _columns(np.maximum(soft.confusion, _EPS) * seen[:, :, None])

        strategy = initial_error_strategy or self.initial_error_strategy
        first, known = None, seen
        if strategy is not None and initial_error is not None:
            votes = engine.expected_counts(vote_scores(len(coded.workers), len(coded.labels)))
            counts, known = with_initial_error(coded, votes.confusion, seen, initial_error, strategy)
            first = _columns(np.maximum(counts, _EPS) * known[:, :, None])
        ended = _rounds(engine, first, step, self.n_iter, self.tol)
        return self._keep(coded, engine, ended, seen if ended.history else known)

    def _keep(self, coded: Coded, engine: MemoryEngine, ended: _Ended, seen: NDArray[np.bool_]) -> Self:
        ordered = not ended.history
        probas = engine.posterior(ended.scores)
        if engine.gold is not None:
            probas[engine.gold >= 0] = np.eye(len(coded.labels))[engine.gold[engine.gold >= 0]]
        self.probas_ = coded.by_task(probas, ordered=ordered)
        self.labels_ = coded.label_series(first_best(probas), ordered=ordered)
        self.priors_ = pd.Series(ended.prior, index=coded.labels, name="prior")
        worker, label = np.nonzero(seen)
        rows = pd.MultiIndex.from_arrays(
            [coded.workers.take(worker), coded.labels.take(label)], names=["worker", "label"]
        )
        self.errors_ = pd.DataFrame(ended.errors[worker, label], index=rows, columns=coded.labels.rename(None))
        self.loss_history_ = ended.history
        return self

    def _nothing(self) -> Self:
        self.probas_, self.errors_, self.loss_history_ = pd.DataFrame(), pd.DataFrame(), []
        self.priors_ = pd.Series(dtype=float, name="prior")
        self.labels_ = pd.Series(dtype=float, name="agg_label")
        return self


@dataclass(eq=False)
class OneCoinDawidSkene(DawidSkene):
    """One accuracy for every worker; errors fall evenly on the other labels."""

    skills_ = None
    """The accuracy of every worker."""

    def fit(self, data: Any) -> Self:  # type: ignore[override]
        """Learn from the answers."""
        coded = _coded(data, None)
        if coded is None:
            return self._nothing()
        engine = coded.engine()
        counts = engine.label_counts()
        seen, answers = counts > 0, counts.sum(axis=1)
        eye, K = np.eye(len(coded.labels)), len(coded.labels)

        def step(soft: ExpectedCounts) -> Floats:
            skill = _skill(soft, answers)[:, None, None]
            errors = skill * eye + (1 - skill) / max(K - 1, 1) * (1 - eye)
            return np.asarray(np.clip(errors, _EPS, 1 - _EPS) * seen[:, :, None])

        ended = _rounds(engine, None, step, self.n_iter, self.tol)
        self.skills_ = coded.by_worker(_skill(ended.soft, answers), "skill", ordered=False)
        return self._keep(coded, engine, ended, seen)


def _skill(soft: ExpectedCounts, answers: Floats) -> Floats:
    return np.asarray(np.einsum("mkk->m", soft.confusion) / answers)


def _coded(data: Any, true_labels: Any) -> Coded | None:
    """The rows as codes, among the labels of the answers and of the truth; None where there are none."""
    coded = Coded.of(data)
    if not coded.size:
        return None
    if true_labels is not None:
        unseen = pd.Index(pd.unique(true_labels)).difference(coded.labels, sort=False)
        if len(unseen):
            return Coded.of(data, coded.labels.append(unseen).rename("label"))
    return coded


def _columns(counts: Floats) -> Floats:
    """Columns (axis 1) over their sums."""
    total = counts.sum(axis=1, keepdims=True)
    return np.asarray(counts / np.where(total > 0, total, 1.0))
