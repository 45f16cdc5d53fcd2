"""IWMV, iterative weighted majority vote: answers in, votes weighted by K * accuracy - 1 out.

H. Li, B. Yu, "Error rate bounds and iterative weighted majority voting for crowdsourcing", 2014.
"""

from __future__ import annotations

import numpy as np

from covote.engines.base import Engine
from covote.methods.hard_votes import HardVotes
from covote.methods.weighted_vote import weighted_vote
from covote.model import Fit, Status


def iwmv(engine: Engine, *, max_iter: int = 100) -> Fit:
    """Vote, set w = K * (share of answers equal to the vote) - 1, vote again with w, until the weights stay.

    An annotator below chance votes against its own answers. The history holds the largest change of each round.
    """
    votes = HardVotes.of(engine)
    K = len(engine.classes)
    weight, history = np.ones(len(engine.annotators)), []
    status = Status.LIMIT
    for _ in range(max_iter):
        new = K * votes.agreement(weight) - 1
        history.append(float(np.abs(new - weight).max(initial=0.0)))
        weight = new
        if history[-1] <= 1e-12:
            status = Status.CONVERGED
            break
    if not np.any(np.abs(weight) > 1e-12):  # all at chance: nobody can be preferred
        weight = np.ones(len(weight))
    fit = weighted_vote(engine, weight)
    return Fit(fit.scores, None, status, tuple(history), details=fit.details)
