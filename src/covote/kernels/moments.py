"""Third-order moments of groups and of triples of annotators: answers in, moments out."""

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


@njit(cache=True, nogil=True)
def triple_pass(item, label, starts, weight, triples, span, n_items, out):  # out: (triples, K, K, K)  # OUT
    """Count the joint answers of triples span[0]..span[1]; answers come sorted by annotator, `starts` (M + 1,).

    The items that the first two share are marked once for all consecutive triples that begin with the same two.
    """
    K = out.shape[1]
    joint = np.full(n_items, -1, np.int64)  # label of the first * K + label of the second, where both answered
    first = -1
    second = -1
    for t in range(span[0], span[1]):
        if triples[t, 0] != first or triples[t, 1] != second:
            if first >= 0:
                for i in range(starts[first], starts[first + 1]):
                    joint[item[i]] = -1
            first = triples[t, 0]
            second = triples[t, 1]
            mark_shared(item, label, starts, first, second, K, joint)
        third = triples[t, 2]
        for i in range(starts[third], starts[third + 1]):
            code = joint[item[i]]
            if code >= 0:
                out[t, code // K, code % K, label[i]] += weight[item[i]] if len(weight) else 1.0


@njit(cache=True, nogil=True)
def mark_shared(item, label, starts, first, second, n_classes, joint):  # joint: (items,)  # OUT
    """Set `joint` to label of first * K + label of second on the items both answered (lists sorted by item)."""
    i = starts[first]
    j = starts[second]
    while i < starts[first + 1] and j < starts[second + 1]:
        if item[i] < item[j]:
            i += 1
        elif item[i] > item[j]:
            j += 1
        else:
            joint[item[i]] = label[i] * n_classes + label[j]
            i += 1
            j += 1
