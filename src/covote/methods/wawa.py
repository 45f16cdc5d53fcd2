"""Wawa, worker agreement with aggregate: answers in; votes weighted by agreement with the majority out.

The rule of the Appen (CrowdFlower) platform: majority vote, each annotator's share of answers equal to it, and a second
vote weighted by these shares.
"""

from __future__ import annotations

import numpy as np

from covote.engines.base import Engine
from covote.methods.hard_votes import HardVotes
from covote.methods.weighted_vote import weighted_vote
from covote.model import Fit


def wawa(engine: Engine) -> Fit:
    """Votes weighted by how often the annotator agrees with the majority; tied classes share the agreement."""
    votes = HardVotes.of(engine)
    return weighted_vote(engine, votes.agreement(np.ones(len(engine.annotators))))
