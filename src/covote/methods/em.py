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
from covote.methods.misleading import Misleading, States, by_class, gather, spread
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
    states: States
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
        share = x[layout.size :]
        states = spread(belief, confusion, misleading and misleading.with_share(float(share[0])))
        soft = engine.expected_counts(weighted(states.scores, weight))
        likelihood = soft.log_likelihood
        soft, misled = gather(soft, states)
        mass, new = maximise(soft)
        following = layout.pack(mass if prior is None else prior, new)
        if misleading is not None:
            following = np.append(following, misleading.next_share(misled, float(soft.prior.sum())))
        return following, likelihood + maximise.penalty(confusion)

    begin = start.floored(FLOOR)
    x = layout.pack(begin.prior if prior is None else prior, begin.confusion)
    run = iterate(
        step,
        x if misleading is None else np.append(x, misleading.share),
        max_iter=max_iter,
        tol=tol,
        project=layout.project if accelerate and misleading is None else None,
        progress=progress,
    )
    model = layout.model(run.state[: layout.size], start)
    look = misleading and misleading.with_share(float(run.state[-1]))
    states = spread(model.prior, model.confusion, look)
    return Fitted(model, states, weighted(states.scores, weight), look, likelihood, run.status, run.history)


def weighted(scores: Scores, weight: Floats | None) -> Scores:
    """Scores under which an answer of annotator m counts as weight[m] independent answers."""
    return scores if weight is None else replace(scores, table=scores.table * weight[:, None, None])
