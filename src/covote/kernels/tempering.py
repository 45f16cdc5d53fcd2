"""Softened posteriors, row by row: posteriors and powers in, sums of softened ones out."""

from __future__ import annotations

import numpy as np
from numba import njit

SMALLEST = 1e-300


@njit(cache=True, nogil=True)
def log_row(p, out):  # out: (classes,)  # OUT
    """Out = log p, shifted so that the largest is 0."""
    largest = -np.inf
    for k in range(len(p)):
        out[k] = np.log(max(p[k], SMALLEST))
        largest = max(largest, out[k])
    for k in range(len(p)):
        out[k] -= largest


@njit(cache=True, nogil=True)
def add_softened(posterior, power, share, out):  # posterior, out: (items, classes); power: (items,)  # OUT
    """Out += share * posterior ** power, rows normalised."""
    K = posterior.shape[1]
    row = np.empty(K)
    for n in range(len(posterior)):
        log_row(posterior[n], row)
        total = 0.0
        for k in range(K):
            row[k] = np.exp(power[n] * row[k])
            total += row[k]
        for k in range(K):
            out[n, k] += share * row[k] / total


@njit(cache=True, nogil=True)
def add_chances(posterior, given_class, powers, share, out):  # out: (powers, answers)  # OUT
    """out[t, a] += share * the probability of answer a when the posterior of its item is softened by powers[t]."""
    K = posterior.shape[1]
    row = np.empty(K)
    for a in range(len(posterior)):
        log_row(posterior[a], row)
        for t in range(len(powers)):
            total = chance = 0.0
            for k in range(K):
                soft = np.exp(powers[t] * row[k])
                total += soft
                chance += soft * given_class[a, k]
            out[t, a] += share * chance / total
