"""Dawid-Skene by EM: an engine and a start in, the model of greatest (penalised) likelihood out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from covote.engines.base import Engine, ExpectedCounts
from covote.methods.em import em
from covote.methods.majority_vote import vote_scores
from covote.methods.shrinkage import Shrinkage
from covote.model import Fit, Model, Progress, columns, normalised

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


def majority_start(engine: Engine, *, shrinkage: Shrinkage = SAFE) -> Model:
    """The M step from vote shares: the classic start of EM."""
    soft = engine.expected_counts(vote_scores(len(engine.annotators), len(engine.classes)))
    pseudo = shrinkage.counts(soft.confusion.sum(axis=2))
    return Model(normalised(soft.prior), columns(soft.confusion + pseudo), engine.classes, engine.annotators)
