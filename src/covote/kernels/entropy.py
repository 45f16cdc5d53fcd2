"""Minimax conditional entropy: answers and multipliers in, beliefs of items and better multipliers out."""

from __future__ import annotations

import numpy as np
from numba import njit

NEGLIGIBLE = 1e-10
"""Classes believed in less than this are left out of the slopes: after a few passes that is most of them."""


@njit(cache=True, nogil=True)
def entropy_pass(offsets, answer, weight, known, basis, sigma, alpha, theta, belief, slope):  # OUT from theta on
    """One pass over items: beliefs, then rising steps of the item multipliers, then slopes for the annotators'.

    Pr(label k | item n, annotator m, class c) is the softmax over k of sigma[m, c, k] + tau[n, c, k], where
    tau[n] = basis @ theta[n], or theta[n] itself where the basis is empty. OUT: theta (items, P), belief (items,
    classes), slope (annotators, classes, labels + 1) = derivative of the expected log-likelihood by sigma at the new
    theta, and last the answers expected under the class. Rows of `known` (items, classes) that do not begin with a
    negative number are beliefs that stay. Returns the log-likelihood at the old theta minus alpha / 2 * |theta|^2.
    """
    K = sigma.shape[1]
    tau = np.empty((K, K))
    residual = np.empty((K, K))
    reach = basis_reach(basis)
    value = 0.0
    for n in range(len(offsets) - 1):
        w = weight[n] if len(weight) else 1.0
        own = answer[offsets[n] : offsets[n + 1]]
        expand(theta[n], basis, tau)
        value += w * item_belief(own, sigma, tau, known[n] if len(known) else belief[n, :0], belief[n])
        value -= w * 0.5 * alpha * (theta[n] * theta[n]).sum()
        for _ in range(2):  # a second step costs less than another pass and gains more than half as much as the first
            item_residual(own, sigma, tau, belief[n], residual)
            climb(residual, belief[n], len(own), basis, reach, alpha, theta[n])
            expand(theta[n], basis, tau)
        annotator_slopes(own, sigma, tau, belief[n], w, slope)
    return value


@njit(cache=True, nogil=True)
def basis_reach(basis):
    """Row sums of basis[c]^T basis[c] by class, (classes, P): as no entry is negative, they bound its curvature."""
    K, P = basis.shape[1], basis.shape[2]
    reach = np.zeros((K, P))
    for c in range(len(basis)):
        for k in range(K):
            for p in range(P):
                reach[c, p] += basis[c, k, p] * basis[c, k].sum()
    return reach


@njit(cache=True, nogil=True)
def expand(theta, basis, tau):  # tau: (classes, labels)  # OUT
    """Set tau to basis @ theta, or theta in rows where the basis is empty."""
    K = tau.shape[0]
    for c in range(K):
        for k in range(K):
            if len(basis):
                tau[c, k] = (basis[c, k] * theta).sum()
            else:
                tau[c, k] = theta[c * K + k]


@njit(cache=True, nogil=True)
def climb(residual, belief, answers, basis, reach, alpha, theta):  # theta: (P,)  # IN and OUT
    """One step of theta that never lowers the objective: the curvature of log-sum-exp is at most 1/2 (Boehning)."""
    K = len(belief)
    for p in range(len(theta)):
        if len(basis):
            slope = 0.0
            curvature = 0.0
            for c in range(K):
                curvature += belief[c] * reach[c, p]
                for k in range(K):
                    slope += basis[c, k, p] * residual[c, k]
        else:
            slope = residual[p // K, p % K]
            curvature = belief[p // K]
        theta[p] += (slope - alpha * theta[p]) / (0.5 * answers * curvature + alpha)


@njit(cache=True, nogil=True)
def item_belief(own, sigma, tau, known, belief):  # belief: (classes,)  # OUT
    """Posterior of one item's class (none is favoured beforehand), or what is known; returns its log-likelihood."""
    K = len(belief)
    row = np.empty(K)
    for c in range(K):
        belief[c] = 0.0
        for a in range(len(own)):
            m = own[a] // K
            belief[c] += log_softmax(sigma[m, c], tau[c], row, own[a] - m * K)
    if len(known) and known[0] >= 0.0:
        value = 0.0
        for c in range(K):
            if known[c] > 0.0:
                value += known[c] * (belief[c] - np.log(known[c]))
            belief[c] = known[c]
        return value
    largest = belief.max()
    total = 0.0
    for c in range(K):
        belief[c] = np.exp(belief[c] - largest)
        total += belief[c]
    for c in range(K):
        belief[c] /= total
    return largest + np.log(total)


@njit(cache=True, nogil=True)
def item_residual(own, sigma, tau, belief, residual):  # residual: (classes, labels)  # OUT
    """residual[c, k] = belief[c] * sum over the item's answers of (answer is k) - Pr(k given c)."""
    K = len(belief)
    row = np.empty(K)
    residual[:] = 0.0
    for c in range(K):
        if belief[c] > NEGLIGIBLE:
            for a in range(len(own)):
                m = own[a] // K
                softmax(sigma[m, c], tau[c], row)
                for k in range(K):
                    residual[c, k] -= belief[c] * row[k]
                residual[c, own[a] - m * K] += belief[c]


@njit(cache=True, nogil=True)
def annotator_slopes(own, sigma, tau, belief, weight, slope):  # slope: (annotators, classes, labels + 1)  # OUT
    """Add one item to the slopes and expected answers of those who answered it."""
    K = len(belief)
    row = np.empty(K)
    for c in range(K):
        share = weight * belief[c]
        if share > NEGLIGIBLE:
            for a in range(len(own)):
                m = own[a] // K
                softmax(sigma[m, c], tau[c], row)
                for k in range(K):
                    slope[m, c, k] -= share * row[k]
                slope[m, c, own[a] - m * K] += share
                slope[m, c, K] += share


@njit(cache=True, nogil=True)
def softmax(a, b, out):  # out: (labels,)  # OUT
    """exp(a + b) / sum exp(a + b)."""
    largest = -np.inf
    for k in range(len(out)):
        out[k] = a[k] + b[k]
        largest = max(largest, out[k])
    total = 0.0
    for k in range(len(out)):
        out[k] = np.exp(out[k] - largest)
        total += out[k]
    for k in range(len(out)):
        out[k] /= total


@njit(cache=True, nogil=True)
def log_softmax(a, b, scratch, label):
    """Entry `label` of log softmax(a + b)."""
    softmax(a, b, scratch)
    # from the logits where the probability underflows
    return np.log(scratch[label]) if scratch[label] > 1e-300 else a[label] + b[label] - (a + b).max()
