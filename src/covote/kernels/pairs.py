"""Passes over annotator pairs: answers in, pair counts out; pair counts in, one sweep of the coupled KL fit out."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def count_partners(offsets, answer, by_annotator, starts, span, n_classes, partner_count):  # OUT
    """For annotators span[0]..span[1]: how many annotators with a larger code share an item with each."""
    M = len(starts) - 1
    seen = np.full(M, -1, np.int64)
    for m in range(span[0], span[1]):
        found = 0
        for i in range(starts[m], starts[m + 1]):
            n = by_annotator[i]
            for a in range(offsets[n], offsets[n + 1]):
                other = answer[a] // n_classes
                if other > m and seen[other] != m:
                    seen[other] = m
                    found += 1
        partner_count[m] = found


@njit(cache=True, nogil=True)
def count_pairs(offsets, answer, weight, by_annotator, starts, span, n_classes, first_pair, second, blocks):  # OUT
    """Fill `second` (pairs,) and `blocks` (pairs, K, K) for the pairs whose first annotator is span[0]..span[1].

    One dense row of slots per annotator in turn, so memory is proportional to the pairs that exist.
    """
    K = n_classes
    M = len(starts) - 1
    slot = np.full(M, -1, np.int64)
    for m in range(span[0], span[1]):
        used = first_pair[m]
        for i in range(starts[m], starts[m + 1]):
            n = by_annotator[i]
            w = weight[n] if len(weight) else 1.0
            own = -1
            for a in range(offsets[n], offsets[n + 1]):
                other = answer[a] // K
                if other < m:
                    continue
                label = answer[a] - other * K
                if other == m:  # answers of an item are sorted by annotator: own label comes first
                    own = label
                    continue
                if slot[other] < first_pair[m]:
                    slot[other] = used
                    second[used] = other
                    used += 1
                blocks[slot[other], own, label] += w


@njit(cache=True, nogil=True)
def kl_pass(first, second, blocks, weight, prior, confusion, counts, mass):  # counts, mass  # OUT
    """One EM-type sweep of the coupled KL fit over all pairs; returns sum of weight * blocks * log(model).

    counts (annotators, labels, classes) and mass (classes,) receive the expected counts of the sweep.
    """
    K = len(prior)
    joint = np.empty(K)
    objective = 0.0
    for p in range(len(first)):
        m = first[p]
        q = second[p]
        for i in range(K):
            for j in range(K):
                r = weight[p] * blocks[p, i, j]
                if r == 0.0:
                    continue
                total = 0.0
                for k in range(K):
                    joint[k] = prior[k] * confusion[m, i, k] * confusion[q, j, k]
                    total += joint[k]
                if total <= 0.0:
                    objective = -np.inf
                    continue
                objective += r * np.log(total)
                for k in range(K):
                    share = r * joint[k] / total
                    counts[m, i, k] += share
                    counts[q, j, k] += share
                    mass[k] += share
    return objective


@njit(cache=True, nogil=True)
def solve_one(blocks, others, prior, pseudo, sweeps, confusion):  # confusion: (labels, classes)  # IN and OUT
    """Fit one annotator's matrix to its blocks (T, own, theirs), its partners' matrices `others` held fixed.

    `sweeps` EM-type updates of sum blocks * log(A D A_l^T) + sum pseudo * log(A); `confusion` holds the start.
    """
    K = len(prior)
    soft = np.empty((K, K))
    joint = np.empty(K)
    for _ in range(sweeps):
        soft[:] = pseudo
        for t in range(len(blocks)):
            for i in range(K):
                for j in range(K):
                    n = blocks[t, i, j]
                    if n == 0.0:
                        continue
                    total = 0.0
                    for k in range(K):
                        joint[k] = prior[k] * confusion[i, k] * others[t, j, k]
                        total += joint[k]
                    if total > 0.0:
                        for k in range(K):
                            soft[i, k] += n * joint[k] / total
        for k in range(K):
            mass = soft[:, k].sum()
            if mass > 0.0:
                for i in range(K):
                    confusion[i, k] = soft[i, k] / mass
