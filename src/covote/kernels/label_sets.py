"""Labels of items in order, and sums of each annotator against the others."""

from __future__ import annotations

import numpy as np
from numba import njit

_SHORT = 32  # answers up to which an insertion sort is faster than a library call


@njit(cache=True, nogil=True)
def sort_labels(offsets, answer, n_classes, out):  # out: (labels,)  # OUT
    """The label codes of every item in ascending order: items with the same labels then look the same."""
    for n in range(len(offsets) - 1):
        begin, end = offsets[n], offsets[n + 1]
        for a in range(begin, end):
            out[a] = answer[a] % n_classes
        if end - begin > _SHORT:
            out[begin:end] = np.sort(out[begin:end])
            continue
        for a in range(begin + 1, end):
            label = out[a]
            b = a
            while b > begin and out[b - 1] > label:
                out[b] = out[b - 1]
                b -= 1
            out[b] = label


@njit(cache=True, nogil=True)
def annotator_sums(offsets, answer, weight, closeness, met, close, own, others):  # met, close, own, others  # OUT
    """Sums over all answers of an annotator and all other answers to the same item, each item counted `weight` times.

    met[m]: pairs; close[m]: their closeness; own[m, k]: pairs by m's label; others[m, k]: pairs by the other's label.
    """
    K = len(closeness)
    count = np.zeros(K, np.int64)
    for n in range(len(offsets) - 1):
        begin, end = offsets[n], offsets[n + 1]
        size = end - begin
        if size < 2:
            continue
        w = weight[n] if len(weight) else 1.0
        for a in range(begin, end):
            count[answer[a] % K] += 1
        few = size < K  # walk over the answers or over the classes, whichever are fewer
        for a in range(begin, end):
            m, k = answer[a] // K, answer[a] % K
            met[m] += w * (size - 1)
            own[m, k] += w * (size - 1)
            if few:
                for b in range(begin, end):
                    j = answer[b] % K
                    if b != a:
                        others[m, j] += w
                        close[m] += w * closeness[k, j]
            else:
                for j in range(K):
                    met_here = count[j] - (j == k)
                    others[m, j] += w * met_here
                    close[m] += w * met_here * closeness[k, j]
        for a in range(begin, end):
            count[answer[a] % K] = 0
