"""Majority vote: every answer one vote for its label; shares of votes are the probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from covote.engines.base import Engine
from covote.model import Fit, Scores


def vote_scores(n_annotators: int, n_classes: int, weight: NDArray[np.float64] | None = None) -> Scores:
    """One vote an answer, or `weight` (annotators,) votes."""
    table = np.broadcast_to(np.eye(n_classes), (n_annotators, n_classes, n_classes))
    if weight is not None:
        table = weight[:, None, None] * table
    return Scores(table, np.zeros(n_classes), "linear")


def majority_vote(engine: Engine) -> Fit:
    """Scores whose posterior is the share of votes; tied classes have equal shares."""
    return Fit(vote_scores(len(engine.annotators), len(engine.classes)))
