"""The EM of published models of answers: an engine, a start and an M step in, the fitted model out.

The M step is what tells the models apart; everything else (scores, the pass over the answers, the loop) is here once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from covote.engines.base import Engine, ExpectedCounts
from covote.methods.loop import iterate
from covote.methods.parameters import Parameters
from covote.model import FLOOR, Model, Progress, Scores, Status

Floats = NDArray[np.float64]


class Maximise(Protocol):
    """An M step: soft counts in, class prior (classes,) and confusions (annotators, labels, classes) out."""

    def __call__(self, soft: ExpectedCounts) -> tuple[Floats, Floats]: ...

    def penalty(self, confusion: Floats) -> float:
        """What the M step maximises beside the likelihood, so that the history of the sum never falls."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """Where EM ended."""

    model: Model
    log_likelihood: float
    status: Status
    history: tuple[float, ...]


def em(
    engine: Engine,
    start: Model,
    maximise: Maximise,
    *,
    prior: Floats | None = None,
    max_iter: int = 500,
    tol: float = 1e-8,
    accelerate: bool = True,
    progress: Progress | None = None,
) -> Fitted:
    """Expectation maximisation from `start`.

    E: posterior of each item under the model, one pass; M: `maximise`. A `prior` (classes,) is held fixed.
    """
    layout = Parameters(len(engine.annotators), len(engine.classes))
    likelihood = -np.inf

    def step(x: Floats) -> tuple[Floats, float]:
        nonlocal likelihood
        belief, confusion = layout.unpack(x)
        with np.errstate(divide="ignore"):
            soft = engine.expected_counts(Scores(np.log(confusion), np.log(belief)))
        likelihood = soft.log_likelihood
        mass, new = maximise(soft)
        return layout.pack(mass if prior is None else prior, new), likelihood + maximise.penalty(confusion)

    begin = start.floored(FLOOR)
    run = iterate(
        step,
        layout.pack(begin.prior if prior is None else prior, begin.confusion),
        max_iter=max_iter,
        tol=tol,
        project=layout.project if accelerate else None,
        progress=progress,
    )
    return Fitted(layout.model(run.state, start), likelihood, run.status, run.history)
