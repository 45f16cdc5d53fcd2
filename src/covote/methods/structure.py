"""What an annotator is believed to be like: its soft counts in, the confusion matrix they are shrunk towards out.

Two structures, from coarse to fine. `accuracy_centre`: right with one probability, else any other label alike.
`habit_centre`: the annotator either knows, and then answers as those who know do, or does not look, and then answers
by a habit of its own; how often it knows, and its habit, are fitted to its counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from covote.model import columns

Floats = NDArray[np.float64]

NAMED = 0.1
"""Answers with the class's own label that join the pooled matrix, as a share of the answers to the class: a class is
called what its items are called, and this keeps it so."""

_STEPS = 8
_CELLS = 2**15  # of the matrices fitted at a time, so that they stay in the cache


def accuracy_centre(soft: Floats) -> Floats:
    """One accuracy an annotator, shrunk by two answers towards the crowd's: (annotators, labels, classes).

    >>> accuracy_centre(np.array([[[8.0, 1.0], [1.0, 8.0]]]))[0].round(2).tolist()
    [[0.88, 0.12], [0.12, 0.88]]
    """
    K = soft.shape[1]
    right, answers = np.einsum("mkk->m", soft), soft.sum(axis=(1, 2))
    crowd = (right.sum() + 1) / (answers.sum() + 2)
    accuracy = ((right + 2 * crowd) / (answers + 2))[:, None, None]
    return np.asarray(np.where(np.eye(K, dtype=bool), accuracy, (1 - accuracy) / max(K - 1, 1)))


def habit_centre(soft: Floats, known: Floats) -> Floats:
    """Knows or answers by habit: (annotators, labels, classes).

    The centre is knows * known + (1 - knows) * habit, fitted to each annotator's counts by a few EM steps; `known`
    (labels, classes) is how those who know answer. One answer of either kind is added to `knows`, and one answer a
    label to the habit.

    >>> spammer, expert = [[50.0, 50.0], [0.0, 0.0]], [[50.0, 0.0], [0.0, 50.0]]
    >>> habit_centre(np.array([spammer, expert]), np.eye(2)).round(1).tolist()
    [[[1.0, 1.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]]
    """
    centre = np.empty_like(soft)
    people = max(_CELLS // max(known.size, 1), 1)
    for start in range(0, len(soft), people):
        centre[start : start + people] = _knows_or_habit(soft[start : start + people], known)
    return centre


def _knows_or_habit(soft: Floats, known: Floats) -> Floats:
    given, K = soft.sum(axis=2), soft.shape[1]  # (annotators, labels)
    answers = given.sum(axis=1)
    habit = (given + 1) / (answers + K)[:, None]
    knows = np.full(len(soft), 0.5)
    for _ in range(_STEPS):
        by_knowledge = knows[:, None, None] * known
        informed = (soft * by_knowledge / (by_knowledge + ((1 - knows)[:, None] * habit)[:, :, None])).sum(axis=2)
        total = informed.sum(axis=1)
        knows = (total + 1) / (answers + 2)
        habit = (given - informed + 1) / (answers - total + K)[:, None]
    return np.asarray(knows[:, None, None] * known + ((1 - knows)[:, None] * habit)[:, :, None])


def pooled(soft: Floats) -> Floats:
    """The crowd's confusion matrix (labels, classes): all answers together, classes kept to their names."""
    K = soft.shape[1]
    total = soft.sum(axis=0)
    return columns(total + np.diag(NAMED * total.sum(axis=0)) + 1 / K)
