"""The one EM of all models of answers: an engine, a start and an M step in, the fitted model out.

The M step is what tells the models apart; everything else (scores, the pass over the answers, the loop, items that
mislead) is here once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from covote.engines.base import Engine, ExpectedCounts
from covote.methods.loop import iterate
from covote.methods.misleading import Expanded, Misleading, by_class, gather, spread
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
    """Where EM ended; `states` may be finer than classes, `scores` count answers as they were weighted."""

    model: Model
    states: Expanded
    scores: Scores  # table (annotators, labels, states)
    misleading: Misleading | None
    log_likelihood: float
    status: Status
    history: tuple[float, ...]

    def posterior(self, engine: Engine) -> Floats:
        """Probability of every class for every item of an engine in memory, (items, classes)."""
        return by_class(np.asarray(engine.posterior(self.scores)), self.model.n_classes)


def em(
    engine: Engine,
    start: Model,
    maximise: Maximise,
    *,
    prior: Floats | None = None,
    weight: Floats | None = None,
    misleading: Misleading | None = None,
    max_iter: int = 500,
    tol: float = 1e-8,
    accelerate: bool = True,
    progress: Progress | None = None,
) -> Fitted:
    """Expectation maximisation from `start`.

    E: posterior of each item under the model, one pass; M: `maximise`. A `prior` (classes,) is held fixed. `weight`
    (annotators,) makes an answer of annotator m count as weight[m] independent answers. With `misleading`, items may
    look like another class than theirs (`covote.methods.misleading`); its share is estimated with the rest.
    """
    layout = Parameters(len(engine.annotators), len(engine.classes))
    likelihood = -np.inf

    def step(x: Floats) -> tuple[Floats, float]:
        nonlocal likelihood
        belief, confusion = layout.unpack(x[: layout.size])
        look = None if misleading is None else misleading.at(x[layout.size :], confusion)
        expanded = spread(belief, confusion, look)
        soft = engine.expected_counts(weighted(expanded.scores, weight))
        likelihood = soft.log_likelihood
        soft, misled = gather(soft, expanded, look)
        mass, new = maximise(soft)
        following = layout.pack(mass if prior is None else prior, new)
        tail = [] if look is None else look.updated(misled, float(soft.prior.sum()))
        return np.append(following, tail), likelihood + maximise.penalty(confusion)

    begin = start.floored(FLOOR)
    x = layout.pack(begin.prior if prior is None else prior, begin.confusion)
    run = iterate(
        step,
        np.append(x, [] if misleading is None else misleading.share),
        max_iter=max_iter,
        tol=tol,
        project=layout.project if accelerate and misleading is None else None,
        progress=progress,
    )
    model = layout.model(run.state[: layout.size], start)
    look = None if misleading is None else misleading.at(run.state[layout.size :], model.confusion)
    states = spread(model.prior, model.confusion, look)
    return Fitted(model, states, weighted(states.scores, weight), look, likelihood, run.status, run.history)


def weighted(scores: Scores, weight: Floats | None) -> Scores:
    """Scores under which an answer of annotator m counts as weight[m] independent answers."""
    return scores if weight is None else replace(scores, table=scores.table * weight[:, None, None])
