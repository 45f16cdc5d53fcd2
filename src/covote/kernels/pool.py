"""The default's kernels: the pool of model and votes for one item, and answers held out one by one."""

from __future__ import annotations

import numpy as np
from numba import njit

STEP = 0.05
"""Powers are multiples of it, so that one exponential serves all of them."""


@njit(cache=True, nogil=True)
def item_pool(answer, begin, end, table, prior, out):  # out: (classes,)  # OUT
    """Masses of the classes of one item: logs of the model's posterior and of vote shares, weighted and added.

    Rows of `table` are those of answers (likelihood of every class, of a hard item, votes), then two more: the prior
    of every class and of hard items, and (model weight, vote weight, floor). An item without answers gets `prior`.
    """
    K = len(prior)
    if begin == end:
        for k in range(K):
            out[k] = prior[k]
        return
    first, numbers = table[len(table) - 2], table[len(table) - 1]
    p, v = first[: K + 1].copy(), np.zeros(K)
    for a in range(begin, end):
        row = table[answer[a]]
        v[answer[a] % K] += row[K + 1]
        largest = 0.0
        for k in range(K + 1):
            p[k] *= row[k]
            largest = max(largest, p[k])
        for k in range(K + 1):
            p[k] /= largest
    total, votes = p.sum(), v.sum()
    spread = numbers[2] / K
    for k in range(K):
        model = (p[k] + p[K] * prior[k]) / total
        share = v[k] / votes if votes > 0 else 1.0 / K
        out[k] = np.exp(
            numbers[0] * np.log((1 - numbers[2]) * model + spread)
            + numbers[1] * np.log((1 - numbers[2]) * share + spread)
        )


@njit(cache=True, nogil=True)
def heldout_pass(
    offsets, answer, weight, span, tables, own, shrunk, steps, sums, squares
):  # sums (powers,), squares (powers, powers)  # OUT
    """Log-probability of each answer given the others to its item, these raised to every power; returns the answers.

    `tables` are (logs of the likelihoods of classes and hard items (rows, states), logs of the priors of states, logs
    of the priors of classes); `own` (rows, classes) are soft counts, shrunk to (pooled matrix, strength by annotator).
    """
    table, bias, prior = tables
    pooled, strength = shrunk
    J, K, T = len(bias), len(prior), len(steps)
    z, p, mine = np.empty(J), np.empty(J), np.empty(K)
    base, power = np.empty(K), np.empty(K)
    product, item = np.empty(T), np.empty(T)
    answers = 0.0
    for n in range(span[0], span[1]):
        w = weight[n] if len(weight) else 1.0
        begin, end = offsets[n], offsets[n + 1]
        if w == 0.0 or end - begin < 2:
            continue
        z[:] = 0.0
        for a in range(begin, end):
            for j in range(J):
                z[j] += table[answer[a], j]
        top = -np.inf
        for j in range(J):
            top = max(top, z[j] + bias[j])
        total = 0.0
        for j in range(J):
            p[j] = np.exp(z[j] + bias[j] - top)
            total += p[j]
        item[:] = 0.0
        product[:] = 1.0
        for a in range(begin, end):
            row = answer[a]
            label = row % K
            start = row - label
            s = strength[row // K]
            top = -np.inf
            for k in range(K):
                answered = 0.0
                for other in range(K):
                    answered += own[start + other, k]
                without = p[k] / total
                mine[k] = (max(own[row, k] - without, 0.0) + s * pooled[label, k]) / (max(answered - without, 0.0) + s)
                base[k] = z[k] - table[row, k]
                top = max(top, base[k])
            for k in range(K):
                base[k] = np.exp(STEP * (base[k] - top))
                power[k] = np.exp(prior[k])
            done = 0
            for t in range(T):
                while done < steps[t]:
                    for k in range(K):
                        power[k] *= base[k]
                    done += 1
                right = every = 0.0
                for k in range(K):
                    every += power[k]
                    right += power[k] * mine[k]
                product[t] *= right / every
                if product[t] < 1e-200:
                    item[t] += np.log(product[t])
                    product[t] = 1.0
        answers += w * (end - begin)
        for t in range(T):
            item[t] += np.log(product[t])
            sums[t] += w * item[t]
        for t in range(T):
            for u in range(T):
                squares[t, u] += w * (item[t] - item[u]) ** 2
    return answers
