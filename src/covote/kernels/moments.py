"""Third-order moments of groups of annotators: answers in, moments out."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def group_moment_pass(offsets, answer, weight, group, begin, end, n_classes, second, third):  # OUT
    """Sum over items begin..end the outer products of the three group means of one-hot answers.

    `group[annotator]` is 0, 1 or 2 (or -1: left out); second (3, K, K) holds the pairs (0,1), (0,2), (1,2) and
    third (K, K, K). An item counts where all its groups have an answer (for a pair: both of the pair).
    """
    K = n_classes
    mean = np.zeros((3, K))
    size = np.zeros(3)
    for n in range(begin, end):
        mean[:] = 0.0
        size[:] = 0.0
        for a in range(offsets[n], offsets[n + 1]):
            g = group[answer[a] // K]
            if g >= 0:
                mean[g, answer[a] % K] += 1.0
                size[g] += 1.0
        w = weight[n] if len(weight) else 1.0
        for g in range(3):
            if size[g] > 0:
                for k in range(K):
                    mean[g, k] /= size[g]
        pair = 0
        for g in range(3):
            for h in range(g + 1, 3):
                if size[g] > 0 and size[h] > 0:
                    for i in range(K):
                        for j in range(K):
                            second[pair, i, j] += w * mean[g, i] * mean[h, j]
                pair += 1
        if size[0] > 0 and size[1] > 0 and size[2] > 0:
            for i in range(K):
                for j in range(K):
                    for k in range(K):
                        third[i, j, k] += w * mean[0, i] * mean[1, j] * mean[2, k]
