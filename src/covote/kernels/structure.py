"""Fits of simple structures to annotators' counts: soft counts in, confusion matrices out."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def habit_pass(soft, known, steps, centre):  # centre: (annotators, labels, classes)  # OUT
    """Fit `knows * known + (1 - knows) * habit` to the counts of every annotator by `steps` EM steps.

    soft (annotators, labels, classes), known (labels, classes). One answer of either kind is added to `knows`, and one
    answer a label to the habit, which starts at the annotator's own label frequencies.
    """
    M, K, C = soft.shape
    habit = np.empty(K)
    rest = np.empty(K)
    for m in range(M):
        answers = 0.0
        for i in range(K):
            habit[i] = 1.0
            for k in range(C):
                habit[i] += soft[m, i, k]
            answers += habit[i] - 1.0
        for i in range(K):
            habit[i] /= answers + K
        knows = 0.5
        for _ in range(steps):
            informed = 0.0
            for i in range(K):
                rest[i] = 0.0
                by_habit = (1.0 - knows) * habit[i]
                for k in range(C):
                    by_knowledge = knows * known[i, k]
                    share = soft[m, i, k] * by_knowledge / (by_knowledge + by_habit)
                    informed += share
                    rest[i] += soft[m, i, k] - share
            knows = (informed + 1.0) / (answers + 2.0)
            for i in range(K):
                habit[i] = (rest[i] + 1.0) / (answers - informed + K)
        for i in range(K):
            for k in range(C):
                centre[m, i, k] = knows * known[i, k] + (1.0 - knows) * habit[i]
