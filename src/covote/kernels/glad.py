"""GLAD: answers, abilities and log-eases in; posteriors of items, the expected log-likelihood and its slope out."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def softplus(x):
    """log(1 + exp(x)) without overflow."""
    if x > 30.0:
        return x
    if x < -30.0:
        return 0.0
    return np.log1p(np.exp(x))


@njit(cache=True, nogil=True)
def posterior_pass(offsets, answer, gold, ability, ease, log_prior, out):  # out: (items, classes)  # OUT
    """Posterior of every item: an answer is right with chance sigmoid(ability * exp(ease)), else evenly wrong."""
    K = len(log_prior)
    for n in range(len(offsets) - 1):
        scale = np.exp(ease[n])
        for k in range(K):
            out[n, k] = log_prior[k]
        for a in range(offsets[n], offsets[n + 1]):
            row = np.int64(answer[a])
            x = ability[row // K] * scale
            wrong = -softplus(x) - np.log(K - 1.0)
            for k in range(K):
                out[n, k] += wrong
            out[n, row % K] += -softplus(-x) - wrong
        largest = out[n].max()
        total = 0.0
        for k in range(K):
            out[n, k] = np.exp(out[n, k] - largest)
            total += out[n, k]
        for k in range(K):
            out[n, k] /= total
        if len(gold) and gold[n] >= 0:
            out[n] = 0.0
            out[n, gold[n]] = 1.0


@njit(cache=True, nogil=True)
def value_pass(offsets, answer, weight, right, ability, ease, K, by_ability, by_ease):  # OUT: the last two
    """Expected log-likelihood, given Pr(answer is right), and its slopes, added to `by_ability` and `by_ease`."""
    value = 0.0
    for n in range(len(offsets) - 1):
        w = weight[n] if len(weight) else 1.0
        scale = np.exp(ease[n])
        for a in range(offsets[n], offsets[n + 1]):
            m = np.int64(answer[a]) // K
            x = ability[m] * scale
            p = right[a]
            value += w * (-p * softplus(-x) - (1.0 - p) * (softplus(x) + np.log(K - 1.0)))
            slope = w * (p - 1.0 / (1.0 + np.exp(-x))) * scale
            by_ability[m] += slope
            by_ease[n] += slope * ability[m]
    return value
