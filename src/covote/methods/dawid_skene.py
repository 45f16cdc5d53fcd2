"""Dawid-Skene by EM: an engine and a start in, the model of greatest (penalised) likelihood out."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from covote.engines.base import Engine
from covote.methods.loop import iterate
from covote.methods.majority_vote import vote_scores
from covote.methods.parameters import Parameters
from covote.methods.shrinkage import Shrinkage
from covote.model import FLOOR, Fit, Model, Progress, columns, normalised

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
    M, K = len(engine.annotators), len(engine.classes)
    layout = Parameters(M, K)
    pseudo: Floats | None = None
    likelihood = -np.inf

    def step(x: Floats) -> tuple[Floats, float]:
        nonlocal pseudo, likelihood
        belief, confusion = layout.unpack(x)
        model = Model(belief, confusion, start.classes, start.annotators)
        soft = engine.expected_counts(model.scores())
        if pseudo is None:
            pseudo = shrinkage.counts(soft.confusion.sum(axis=2))
        likelihood = soft.log_likelihood
        mass = normalised(soft.prior) if prior == "estimated" else belief
        return layout.pack(mass, columns(soft.confusion + pseudo)), likelihood + _penalty(pseudo, confusion)

    begin = start.floored(FLOOR)
    belief = begin.prior if prior == "estimated" else np.full(K, 1 / K)
    run = iterate(
        step,
        layout.pack(belief, begin.confusion),
        max_iter=max_iter,
        tol=tol,
        project=layout.project if accelerate else None,
        progress=progress,
    )
    model = layout.model(run.state, start)
    return Fit(model.scores(), model, run.status, run.history, details={"log_likelihood": likelihood})


def majority_start(engine: Engine, *, shrinkage: Shrinkage = SAFE) -> Model:
    """The M step from vote shares: the classic start of EM."""
    soft = engine.expected_counts(vote_scores(len(engine.annotators), len(engine.classes)))
    pseudo = shrinkage.counts(soft.confusion.sum(axis=2))
    return Model(normalised(soft.prior), columns(soft.confusion + pseudo), engine.classes, engine.annotators)


def _penalty(pseudo: Floats, confusion: Floats) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(pseudo > 0, pseudo * np.log(confusion), 0.0).sum())
