"""The pool: how far held-out answers trust the model -> scores that join its posterior with weighted votes.

score(item, class) = (1 - t) a log((1 - e) v + e / K) + t log((1 - e) p + e / K), with vote shares v, the model's
posterior p, and the power t under which each answer is predicted best by the other answers to its item.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covote.default.hierarchical import Hierarchy
from covote.default.settings import POWERS, Settings
from covote.engines.base import Engine, HeldOut
from covote.model import Pool, Scores

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Trust:
    """The power of the model, and the mean log-probability of a held-out answer under it and at full power."""

    power: float
    heldout: float
    heldout_full: float


def trust_in_model(engine: Engine, state: Hierarchy, weight: Floats | None, settings: Settings) -> Trust:
    """The largest power that is not clearly worse than the best one at predicting held-out answers.

    Annotators who are independent given the class are predicted best at power 1. Where they share errors, as on hard
    items, the model is too sure of itself, and a smaller power predicts better. Items are the units of the standard
    error.
    """
    question = HeldOut(
        state.scores(weight),
        np.log(state.prior),
        state.counts,
        state.pooled,
        state.pseudo_answers,
        np.array(POWERS),
    )
    sums, squares, answers = engine.heldout(question)
    best = int(np.argmax(sums))
    behind = sums[best] - sums
    fine = behind <= settings.doubt * np.sqrt(squares[best]) + 1e-9
    chosen = int(np.flatnonzero(fine).max())
    n = max(answers, 1.0)
    return Trust(POWERS[chosen], float(sums[chosen] / n), float(sums[-1] / n))


def skill(confusion: Floats) -> Floats:
    """How much better than chance each annotator is, classes counting alike: 1 is perfect, 0 a guess, (annotators,)."""
    K = confusion.shape[1]
    accuracy = np.einsum("mkk->m", confusion) / K
    return np.asarray(np.maximum((accuracy - 1 / K) / (1 - 1 / K), 0.01))


def pooled_scores(state: Hierarchy, power: float, weight: Floats | None, settings: Settings) -> Scores:
    """Scores that label with the pool; K >= 2 classes."""
    confusion = state.confusion
    votes = skill(confusion) ** (settings.skill_power * min(1.0, power / settings.skill_trust))
    hard = np.log(confusion @ state.prior)
    if weight is not None:
        hard, votes = hard * weight[:, None], votes * weight
    scores = Scores(
        np.log(confusion),
        np.log(state.prior),
        "pool",
        Pool(
            hard=hard,
            hard_share=state.hard_share,
            votes=votes,
            model_weight=power,
            vote_weight=settings.vote_weight * (1 - power),
            floor=settings.least_floor + settings.floor * (1 - power),
        ),
    )
    return scores.weighted(weight)
