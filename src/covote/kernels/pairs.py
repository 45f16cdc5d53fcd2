"""Passes over annotator pairs: answers in, pair counts out; pair counts in, one sweep of the coupled KL fit out."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def count_all_pairs(offsets, answer, weight, span, left, right, table):  # table: (all pairs * K * K,)  # OUT
    """Add the pairs of answers of items span[0]..span[1] to a table with a cell for every two answers of two people.

    The cell of rows a < b is left[a] + right[b]; the answers of an item are sorted by annotator.
    """
    for n in range(span[0], span[1]):
        end = offsets[n + 1]
        if len(weight):
            for a in range(offsets[n], end):
                cell = left[answer[a]]
                for b in range(a + 1, end):
                    table[cell + right[answer[b]]] += weight[n]
        else:
            for a in range(offsets[n], end):
                cell = left[answer[a]]
                for b in range(a + 1, end):
                    table[cell + right[answer[b]]] += 1


@njit(cache=True, nogil=True)
def sort_by_annotator(offsets, answer, who, place, by_annotator):  # place, by_annotator  # OUT
    """Items of each annotator, in order: `place` (annotators,) holds where each one's items begin, and moves on."""
    for n in range(len(offsets) - 1):
        for a in range(offsets[n], offsets[n + 1]):
            m = who[answer[a]]
            by_annotator[place[m]] = n
            place[m] += 1


@njit(cache=True, nogil=True)
def list_partners(
    offsets, answer, who, by_annotator, starts, span, found, second, shared
):  # found, second, shared  # OUT
    """Partners with a larger code of annotators span[0].., sorted, and how many items each pair shares.

    `found[m]` counts the partners of m; `second` and `shared` are filled one annotator after the other. Stops
    before an annotator whose partners might not fit and returns its code.
    """
    M = len(starts) - 1
    overlap = np.zeros(M, np.int64)
    used = 0
    for m in range(span[0], span[1]):
        if used + M - m > len(second):
            return m
        begin = used
        for i in range(starts[m], starts[m + 1]):
            n = by_annotator[i]
            for a in range(offsets[n + 1] - 1, offsets[n] - 1, -1):  # sorted by annotator: own answer ends the search
                other = who[answer[a]]
                if other == m:
                    break
                if overlap[other] == 0:
                    second[used] = other
                    used += 1
                overlap[other] += 1
        second[begin:used].sort()
        for p in range(begin, used):
            shared[p] = overlap[second[p]]
            overlap[second[p]] = 0
        found[m] = used - begin
    return span[1]


@njit(cache=True, nogil=True)
def fill_pairs(offsets, answer, weight, who, by_annotator, starts, span, first_pair, second, blocks):  # blocks  # OUT
    """Count into `blocks` (pairs, K, K) the listed pairs whose first annotator is span[0]..span[1].

    The partners of m are second[first_pair[m]:first_pair[m + 1]]; others are passed over. One row of slots for the
    annotator in turn, so memory is proportional to the pairs listed.
    """
    K = blocks.shape[1]
    slot = np.full(len(starts) - 1, -1, np.int64)
    for m in range(span[0], span[1]):
        for p in range(first_pair[m], first_pair[m + 1]):
            slot[second[p]] = p
        for i in range(starts[m], starts[m + 1]):
            n = by_annotator[i]
            w = weight[n] if len(weight) else 1.0
            own = offsets[n]
            while who[answer[own]] != m:
                own += 1
            label = answer[own] - m * K
            for a in range(own + 1, offsets[n + 1]):
                other = who[answer[a]]
                if slot[other] >= 0:
                    blocks[slot[other], label, answer[a] - other * K] += w
        for p in range(first_pair[m], first_pair[m + 1]):
            slot[second[p]] = -1


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


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def solve_one(blocks, others, prior, pseudo, sweeps, confusion):  # confusion: (labels, classes)  # IN and OUT
    """Fit one annotator's matrix to its blocks (T, own, theirs), its partners' matrices `others` held fixed.

    `sweeps` EM-type updates of sum blocks * log(A D A_l^T) + sum pseudo * log(A); `confusion` holds the start.
    Blocks and matrices are laid side by side first, so that the loops run along T * theirs columns.
    """
    K = len(prior)
    T = len(blocks)
    own = np.empty((K, T * K))  # counts of own label i
    theirs = np.empty((K, T * K))  # prior[k] * Pr(their label given k)
    for t in range(T):
        for j in range(K):
            for k in range(K):
                own[k, t * K + j] = blocks[t, k, j]
                theirs[k, t * K + j] = prior[k] * others[t, j, k]
    share = np.empty(T * K)
    soft = np.empty((K, K))
    for _ in range(sweeps):
        for i in range(K):
            share[:] = 0.0
            for k in range(K):
                for q in range(T * K):
                    share[q] += confusion[i, k] * theirs[k, q]
            for q in range(T * K):
                share[q] = own[i, q] / share[q] if share[q] > 0.0 else 0.0
            for k in range(K):
                reach = 0.0
                for q in range(T * K):
                    reach += share[q] * theirs[k, q]
                soft[i, k] = pseudo[i, k] + confusion[i, k] * reach
        for k in range(K):
            mass = soft[:, k].sum()
            if mass > 0.0:
                for i in range(K):
                    confusion[i, k] = soft[i, k] / mass


@njit(cache=True, nogil=True)
def full_rank(blocks, out):  # out: (pairs,)  # OUT
    """Whether each K x K block has full rank: elimination with complete pivoting meets no pivot of rounding size."""
    K = blocks.shape[1]
    a = np.empty((K, K))
    for p in range(len(blocks)):
        a[:] = blocks[p]
        size = np.abs(a).max()
        out[p] = size > 0.0
        for step in range(K):
            row, column, largest = step, step, 0.0
            for i in range(step, K):
                for j in range(step, K):
                    if abs(a[i, j]) > largest:
                        row, column, largest = i, j, abs(a[i, j])
            if largest <= 1e-13 * K * size:
                out[p] = False
                break
            for j in range(K):
                a[step, j], a[row, j] = a[row, j], a[step, j]
            for i in range(K):
                a[i, step], a[i, column] = a[i, column], a[i, step]
            for i in range(step + 1, K):
                factor = a[i, step] / a[step, step]
                for j in range(step, K):
                    a[i, j] -= factor * a[step, j]
