"""Passes over items: answers and a table of scores in, posteriors, labels and expected counts out."""

from __future__ import annotations

import numpy as np
from numba import njit

from covote.kernels.pool import item_pool

TINY = 1e-200
LOG, LINEAR, POOL = 0, 1, 2
"""Links: `table` and `bias` hold probabilities that are multiplied, votes that are added up, or both: `item_pool`."""
FAINT = 1e-280  # products below it may have lost digits, and are computed again with scaling


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
def item_masses(answer, begin, end, link, table, bias, out):  # out: (classes,)  # OUT
    """Masses of the classes of one item, up to a factor whose log is returned: the one place that knows the links."""
    if link == LOG:
        return item_products(answer, begin, end, table, bias, out)
    if link == LINEAR:
        item_shares(answer, begin, end, table, bias, out)
    else:
        item_pool(answer, begin, end, table, bias, out)
    return 0.0


@njit(cache=True, nogil=True)
def item_posterior(answer, begin, end, link, table, bias, out):  # out: (classes,)  # OUT
    """Probabilities of the classes of one item; those of the bias where no class explains its answers."""
    item_masses(answer, begin, end, link, table, bias, out)
    total = out.sum()
    for k in range(len(bias)):
        out[k] = out[k] / total if total > 0 else bias[k]


@njit(cache=True, nogil=True)
def posterior_pass(offsets, answer, span, link, table, bias, out):  # out: (items, classes)  # OUT
    """Probabilities of items span[0]..span[1]."""
    for n in range(span[0], span[1]):
        item_posterior(answer, offsets[n], offsets[n + 1], link, table, bias, out[n])


@njit(cache=True, nogil=True)
def label_pass(offsets, answer, span, link, table, bias, favour, tie, code, confidence):  # code, confidence  # OUT
    """Chosen class and its probability of items span[0]..span[1], without a row of probabilities for each.

    Among classes within `tie` of the best the first in `favour` (classes) is chosen, and the probability has its sign
    changed where there are several.
    """
    p = np.empty((1, len(bias)))
    for n in range(span[0], span[1]):
        item_posterior(answer, offsets[n], offsets[n + 1], link, table, bias, p[0])
        choose_pass(p, favour, tie, code[n : n + 1], confidence[n : n + 1])


@njit(cache=True, nogil=True)
def choose_pass(probability, favour, tie, code, confidence):  # code, confidence  # OUT
    """The same choice from rows of probabilities (items, classes)."""
    for n in range(len(probability)):
        p = probability[n]
        best = p[0]
        for k in range(1, len(p)):
            best = max(best, p[k])
        chosen = -1
        sign = 1.0
        for i in range(len(favour)):
            if p[favour[i]] >= best - tie:
                if chosen < 0:
                    chosen = favour[i]
                else:
                    sign = -1.0
        code[n] = chosen
        confidence[n] = sign * p[chosen]


@njit(cache=True, nogil=True)
def count_pass(offsets, answer, weight, gold, span, link, table, bias, counts, mass):  # counts, mass  # OUT
    """One fused E and M pass over items span[0]..span[1]; returns their log-likelihood (0 for votes).

    counts[row, k] += weight * posterior[k] for every answer row; mass[k] += weight * posterior[k].
    An item with gold[n] >= 0 has that class for certain.
    """
    K = len(bias)
    p = np.empty(K)
    log_likelihood = 0.0
    for n in range(span[0], span[1]):
        w = weight[n] if len(weight) else 1.0
        if w == 0.0:
            continue
        log_scale = item_masses(answer, offsets[n], offsets[n + 1], link, table, bias, p)
        known = gold[n] if len(gold) else -1
        for k in range(K):
            if known >= 0 and k != known:
                p[k] = 0.0
        total = p.sum()
        if link == LOG:
            log_likelihood += w * (np.log(total) + log_scale) if total > 0 else -np.inf
        for k in range(K):
            if total > 0:
                p[k] *= w / total
            elif known >= 0:
                p[k] = w if k == known else 0.0
            else:
                p[k] = w * bias[k]
            mass[k] += p[k]
        for a in range(offsets[n], offsets[n + 1]):
            row = answer[a]
            for k in range(K):
                counts[row, k] += p[k]
    return log_likelihood


@njit(cache=True, nogil=True)
def count_pass_four(offsets, answer, weight, gold, span, likelihood, prior, counts, mass):  # counts, mass  # OUT
    """`count_pass` of link LOG, unrolled for four classes: no array is touched per class.

    Fewer classes are padded with some of prior 0. The log is taken of products of many items' totals. Items that
    need care go through `count_pass` one by one.
    """
    m0 = m1 = m2 = m3 = 0.0
    log_likelihood = 0.0
    product = 1.0
    plain = len(weight) == 0 and len(gold) == 0
    one = np.zeros(2, np.int64)
    for n in range(span[0], span[1]):
        p0, p1, p2, p3 = prior[0], prior[1], prior[2], prior[3]
        for a in range(offsets[n], offsets[n + 1]):
            row = answer[a]
            p0 *= likelihood[row, 0]
            p1 *= likelihood[row, 1]
            p2 *= likelihood[row, 2]
            p3 *= likelihood[row, 3]
        total = (p0 + p1) + (p2 + p3)
        if total < FAINT or (not plain and (len(gold) and gold[n] >= 0)):
            one[0], one[1] = n, n + 1
            log_likelihood += count_pass(offsets, answer, weight, gold, one, LOG, likelihood, prior, counts, mass)
            continue
        w = 1.0
        if plain or len(weight) == 0:
            product *= total
            if product < TINY:
                log_likelihood += np.log(product)
                product = 1.0
        else:
            w = weight[n]
            log_likelihood += w * np.log(total)
        scale = w / total
        p0 *= scale
        p1 *= scale
        p2 *= scale
        p3 *= scale
        m0 += p0
        m1 += p1
        m2 += p2
        m3 += p3
        for a in range(offsets[n], offsets[n + 1]):
            row = answer[a]
            counts[row, 0] += p0
            counts[row, 1] += p1
            counts[row, 2] += p2
            counts[row, 3] += p3
    mass[0] += m0
    mass[1] += m1
    mass[2] += m2
    mass[3] += m3
    return log_likelihood + np.log(product)
