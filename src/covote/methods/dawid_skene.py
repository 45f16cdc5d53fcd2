"""Dawid-Skene by EM: an engine and a start in, the model of greatest (penalised) likelihood out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from covote.engines.base import Engine, ExpectedCounts
from covote.methods.align import best_order
from covote.methods.em import em
from covote.methods.majority_vote import vote_scores
from covote.methods.pooling import Crowd, Pooling, cautious, pulled
from covote.methods.shrinkage import Shrinkage
from covote.model import FLOOR, Fit, Model, Progress, Status, columns, normalised

Floats = NDArray[np.float64]
Prior = Literal["estimated", "uniform"]

SAFE = Shrinkage(flat=1.0, diagonal=3.0)
"""The default: one pseudo-answer in every cell and three more on the diagonal, the safest single setting seen."""


def dawid_skene(
    engine: Engine,
    start: Model,
    *,
    shrinkage: Shrinkage = SAFE,
    prior: Prior = "estimated",
    max_iter: int = 500,
    tol: float = 1e-8,
    accelerate: bool = True,
    progress: Progress | None = None,
) -> Fit:
    """EM of Dawid and Skene (1979) from `start`.

    E: posterior of each item under the model; M: confusion columns = expected counts + pseudo-answers, normalised;
    the prior = mean posterior, or uniform throughout. The history holds log-likelihood + the log of the pseudo-answers'
    weight, which never falls; the exact log-likelihood alone is `details["log_likelihood"]`.
    """
    K = len(engine.classes)
    fitted = em(
        engine,
        start,
        Smoothed(shrinkage),
        prior=None if prior == "estimated" else np.full(K, 1 / K),
        max_iter=max_iter,
        tol=tol,
        accelerate=accelerate,
        progress=progress,
    )
    model = fitted.model
    return Fit(model.scores(), model, fitted.status, fitted.history, details={"log_likelihood": fitted.log_likelihood})


@dataclass(eq=False)
class Smoothed:
    """The M step of Dawid and Skene: soft counts joined by pseudo-answers, which are fixed at the first call."""

    shrinkage: Shrinkage
    pseudo: Floats | None = None  # (annotators, labels, classes)

    def __call__(self, soft: ExpectedCounts) -> tuple[Floats, Floats]:
        if self.pseudo is None:
            self.pseudo = self.shrinkage.counts(soft.confusion.sum(axis=2))
        return normalised(soft.prior), columns(soft.confusion + self.pseudo)

    def penalty(self, confusion: Floats) -> float:
        """Log of the pseudo-answers' weight."""
        assert self.pseudo is not None  # a pass over the answers comes first
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.where(self.pseudo > 0, self.pseudo * np.log(confusion), 0.0).sum())


def pooled_dawid_skene(
    engine: Engine,
    starts: Sequence[Model],
    crowd: Crowd,
    pooling: Pooling,
    *,
    prior: Prior = "estimated",
    max_iter: int = 500,
    progress: Progress | None = None,
) -> Fit:
    """EM in which annotators borrow from the crowd: a few rounds from each start, and the likelier end is kept.

    M: every matrix is pulled towards the mean one (`pulled`); the last step is `cautious`. The history holds the
    log-likelihood at every round.
    """
    runs = [_pooled_rounds(engine, start, pooling, prior, max_iter, progress) for start in starts]
    best = max(range(len(runs)), key=lambda i: runs[i].history[-1])
    if _same_model(runs[0].model, runs[best].model):
        best = 0  # the same model, perhaps under other names: those of the first start stand
    run = runs[best]
    model = cautious(run.model, run.soft.confusion, float(run.soft.prior.sum()), crowd, pooling)
    if prior == "uniform":
        model = Model(run.model.prior, model.confusion, model.classes, model.annotators)
    status = Status.PLANNED if max_iter >= pooling.rounds else Status.LIMIT
    details = {"log_likelihood": run.history[-1], "kept": best}
    return Fit(model.scores(), model, status, run.history, details=details)


def _same_model(one: Model, other: Model) -> bool:
    far = np.abs(one.confusion[:, :, :, None] - other.confusion[:, :, None, :]).mean(axis=(0, 1))  # (classes, classes)
    return bool(far[np.arange(len(far)), best_order(-far)].mean() < 0.05)


@dataclass(frozen=True, eq=False)
class _Run:
    model: Model
    soft: ExpectedCounts  # under `model`
    history: tuple[float, ...]


def _pooled_rounds(
    engine: Engine, start: Model, pooling: Pooling, prior: Prior, max_iter: int, progress: Progress | None
) -> _Run:
    uniform = np.full(len(engine.classes), 1 / len(engine.classes))
    model = start.floored(FLOOR)
    history: list[float] = []
    rounds = min(pooling.rounds, max_iter)
    for used in range(rounds + 1):
        soft = engine.expected_counts(model.scores(uniform=prior == "uniform"))
        history.append(soft.log_likelihood)
        if progress is not None:
            progress(used, rounds, history[-1])
        if used < rounds:
            mass = normalised(soft.prior) if prior == "estimated" else uniform
            model = Model(mass, pulled(soft.confusion, pooling), model.classes, model.annotators).floored(FLOOR)
    return _Run(model, soft, tuple(history))


def majority_start(engine: Engine, *, shrinkage: Shrinkage = SAFE) -> Model:
    """The M step from vote shares: the classic start of EM."""
    soft = engine.expected_counts(vote_scores(len(engine.annotators), len(engine.classes)))
    pseudo = shrinkage.counts(soft.confusion.sum(axis=2))
    return Model(normalised(soft.prior), columns(soft.confusion + pseudo), engine.classes, engine.annotators)
