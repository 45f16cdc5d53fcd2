"""Zero-based skill: answers in; weights that start at chance and move towards agreement with their own vote out.

The rule of the Toloka platform's crowd-kit library (Ustalov, Pavlichenko, Tseitlin 2024).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from covote.engines.base import Engine
from covote.methods.hard_votes import HardVotes
from covote.methods.weighted_vote import weighted_vote
from covote.model import Fit, Status

Floats = NDArray[np.float64]


def zero_based_skill(
    engine: Engine,
    *,
    max_iter: int = 100,
    rate: float = 1.0,
    halve_every: int = 20,
    factor: float = 0.5,
    above: float = 1e-5,
) -> Fit:
    """Weights w start at 1 / K + `above` and move by rate * (agreement with the vote weighted by w - w) each round.

    `rate` is multiplied by `factor` every `halve_every` rounds. The history holds the largest change of each round.
    """
    votes = HardVotes.of(engine)
    skill = np.full(len(engine.annotators), 1 / max(len(engine.classes), 1) + above)
    history = []
    for turn in range(1, max_iter + 1):
        if turn % halve_every == 0:
            rate *= factor
        change = rate * (votes.agreement(skill) - skill)
        skill = skill + change
        history.append(float(np.abs(change).max(initial=0.0)))
    fit = weighted_vote(engine, skill)
    return Fit(fit.scores, None, Status.PLANNED, tuple(history), details=fit.details)
