"""Passes over items: answers and a table of scores in, posteriors and expected counts out."""

from __future__ import annotations

import numpy as np
from numba import njit

TINY = 1e-200


@njit(cache=True, nogil=True)
def item_products(answer, begin, end, likelihood, prior, out):  # out: (classes,)  # OUT
    """Fill `out` with prior * product of likelihood rows, rescaled so that it cannot underflow; return log scale."""
    K = len(prior)
    log_scale = 0.0
    for k in range(K):
        out[k] = prior[k]
    for a in range(begin, end):
        row = answer[a]
        largest = 0.0
        for k in range(K):
            out[k] *= likelihood[row, k]
            largest = max(largest, out[k])
        if 0.0 < largest < TINY:
            log_scale += np.log(largest)
            for k in range(K):
                out[k] /= largest
    return log_scale


@njit(cache=True, nogil=True)
def posterior_pass(offsets, answer, begin, end, likelihood, prior, out):  # out: (items, classes)  # OUT
    """Posterior of items begin..end; an item that no class explains gets the prior."""
    K = len(prior)
    p = np.empty(K)
    for n in range(begin, end):
        item_products(answer, offsets[n], offsets[n + 1], likelihood, prior, p)
        total = p.sum()
        for k in range(K):
            out[n, k] = p[k] / total if total > 0 else prior[k]


@njit(cache=True, nogil=True)
def em_pass(offsets, answer, weight, gold, span, likelihood, prior, counts, mass):  # counts, mass  # OUT
    """One fused E and M pass over items span[0]..span[1]; returns their log-likelihood.

    counts[row, k] += weight * posterior[k] for every answer row; mass[k] += weight * posterior[k].
    An item with gold[n] >= 0 has that class for certain.
    """
    K = len(prior)
    p = np.empty(K)
    log_likelihood = 0.0
    for n in range(span[0], span[1]):
        w = weight[n] if len(weight) else 1.0
        if w == 0.0:
            continue
        log_scale = item_products(answer, offsets[n], offsets[n + 1], likelihood, prior, p)
        if len(gold) and gold[n] >= 0:
            for k in range(K):
                if k != gold[n]:
                    p[k] = 0.0
        total = p.sum()
        if total > 0:
            log_likelihood += w * (np.log(total) + log_scale)
            for k in range(K):
                p[k] *= w / total
        else:
            log_likelihood = -np.inf
            for k in range(K):
                p[k] = w * prior[k]
            if len(gold) and gold[n] >= 0:
                for k in range(K):
                    p[k] = w if k == gold[n] else 0.0
        for k in range(K):
            mass[k] += p[k]
        for a in range(offsets[n], offsets[n + 1]):
            row = answer[a]
            for k in range(K):
                counts[row, k] += p[k]
    return log_likelihood


@njit(cache=True, nogil=True)
def vote_pass(offsets, answer, weight, gold, span, table, bias, counts, mass):  # counts, mass  # OUT
    """As `em_pass`, with posterior = shares of the positive part of bias + sum of table rows (votes)."""
    K = len(bias)
    p = np.empty(K)
    for n in range(span[0], span[1]):
        w = weight[n] if len(weight) else 1.0
        if w == 0.0:
            continue
        item_shares(answer, offsets[n], offsets[n + 1], table, bias, p)
        for k in range(K):
            if len(gold) and gold[n] >= 0:
                p[k] = 1.0 if k == gold[n] else 0.0
            p[k] *= w
            mass[k] += p[k]
        for a in range(offsets[n], offsets[n + 1]):
            for k in range(K):
                counts[answer[a], k] += p[k]
    return 0.0


@njit(cache=True, nogil=True)
def item_shares(answer, begin, end, table, bias, out):  # out: (classes,)  # OUT
    """Shares of the positive part of bias + sum of table rows; uniform where nothing is positive."""
    K = len(bias)
    for k in range(K):
        out[k] = bias[k]
    for a in range(begin, end):
        for k in range(K):
            out[k] += table[answer[a], k]
    total = 0.0
    for k in range(K):
        out[k] = max(out[k], 0.0)
        total += out[k]
    for k in range(K):
        out[k] = out[k] / total if total > 0 else 1.0 / K


@njit(cache=True, nogil=True)
def shares_pass(offsets, answer, begin, end, table, bias, out):  # out: (items, classes)  # OUT
    """Vote shares of items begin..end."""
    for n in range(begin, end):
        item_shares(answer, offsets[n], offsets[n + 1], table, bias, out[n])
