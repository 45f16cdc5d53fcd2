"""Gold majority vote: answers and gold items in, votes weighted by accuracy on the gold items out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from covote.engines.base import Engine
from covote.methods.weighted_vote import weighted_vote
from covote.model import Fit, Scores, Status

Floats = NDArray[np.float64]

NO_GOLD = "No annotator answered a gold item, so all votes weigh the same. Pass gold=, or use wawa."


def gold_majority_vote(engine: Engine, *, missing: float | None = None) -> Fit:
    """Votes weighted by each annotator's share of right answers on items of known class.

    An annotator who answered none weighs as the pooled accuracy of the others, or `missing`. Two passes over the
    items count the gold answers on any engine.
    """
    counts = gold_counts(engine)
    right, answers = np.einsum("mkk->m", counts), counts.sum(axis=(1, 2))
    seen = answers > 0
    if not seen.any():
        fit = weighted_vote(engine, np.ones(len(answers)))
        return Fit(fit.scores, None, Status.FALLBACK, notes=(NO_GOLD,), details=fit.details)
    other = right.sum() / answers.sum() if missing is None else missing
    weight = np.where(seen, right / np.where(seen, answers, 1.0), other)
    return weighted_vote(engine, weight if weight.any() else np.ones(len(weight)))


def gold_counts(engine: Engine) -> Floats:
    """How often each annotator gave each label to gold items of each class: (annotators, labels, classes).

    Scores that put every other item into class 0 leave in the remaining columns what gold items hold; scores that
    put it into class 1 do so for column 0.
    """
    M, K = len(engine.annotators), len(engine.classes)
    counts = np.zeros((M, K, K))
    if K < 2 or getattr(engine, "gold", None) is None:
        return counts + getattr(engine, "history", 0.0)
    empty = np.zeros((M, K, K))
    first = engine.expected_counts(Scores(empty, np.eye(K)[0], "linear")).confusion
    second = engine.expected_counts(Scores(empty, np.eye(K)[1], "linear")).confusion
    counts[:, :, 1:], counts[:, :, 0] = first[:, :, 1:], second[:, :, 0]
    return counts
