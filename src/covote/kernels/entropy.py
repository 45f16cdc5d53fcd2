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
    chance = np.empty((np.diff(offsets).max() if len(offsets) > 1 else 0, K, K))
    reach = basis_reach(basis)
    value = 0.0
    for n in range(len(offsets) - 1):
        w = weight[n] if len(weight) else 1.0
        own = answer[offsets[n] : offsets[n + 1]]
        expand(theta[n], basis, tau)
        belief[n] = 1.0
        answer_chances(own, sigma, tau, belief[n], chance)
        value += w * item_belief(own, chance, known[n] if len(known) else belief[n, :0], belief[n])
        value -= w * 0.5 * alpha * (theta[n] * theta[n]).sum()
        for _ in range(2):  # a second step costs less than another pass and gains more than half as much as the first
            item_residual(own, chance, belief[n], residual)
            climb(residual, belief[n], len(own), basis, reach, alpha, theta[n])
            expand(theta[n], basis, tau)
            answer_chances(own, sigma, tau, belief[n], chance)
        annotator_slopes(own, chance, belief[n], w, slope)
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
def answer_chances(own, sigma, tau, belief, chance):  # chance: (at least answers, classes, labels)  # OUT
    """Pr(label given class) for the annotator of each answer, in the classes that are believed in at all."""
    K = len(belief)
    for a in range(len(own)):
        m = own[a] // K
        for c in range(K):
            if belief[c] > NEGLIGIBLE:
                largest = -np.inf
                for k in range(K):
                    chance[a, c, k] = sigma[m, c, k] + tau[c, k]
                    largest = max(largest, chance[a, c, k])
                total = 0.0
                for k in range(K):
                    chance[a, c, k] = np.exp(chance[a, c, k] - largest)
                    total += chance[a, c, k]
                for k in range(K):
                    chance[a, c, k] /= total


@njit(cache=True, nogil=True)
def item_belief(own, chance, known, belief):  # belief: (classes,)  # OUT
    """Posterior of one item's class (none is favoured beforehand), or what is known; returns its log-likelihood."""
    K = len(belief)
    for c in range(K):
        belief[c] = 0.0
        for a in range(len(own)):
            belief[c] += np.log(max(chance[a, c, own[a] % K], 1e-300))
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
def item_residual(own, chance, belief, residual):  # residual: (classes, labels)  # OUT
    """Set residual[c, k] to belief[c] * sum over the item's answers of (answer is k) - Pr(k given c)."""
    K = len(belief)
    residual[:] = 0.0
    for c in range(K):
        if belief[c] > NEGLIGIBLE:
            for a in range(len(own)):
                for k in range(K):
                    residual[c, k] -= belief[c] * chance[a, c, k]
                residual[c, own[a] % K] += belief[c]


@njit(cache=True, nogil=True)
def annotator_slopes(own, chance, belief, weight, slope):  # slope: (annotators, classes, labels + 1)  # OUT
    """Add one item to the slopes and expected answers of those who answered it."""
    K = len(belief)
    for c in range(K):
        if belief[c] > NEGLIGIBLE:
            share = weight * belief[c]
            for a in range(len(own)):
                m = own[a] // K
                for k in range(K):
                    slope[m, c, k] -= share * chance[a, c, k]
                slope[m, c, own[a] % K] += share
                slope[m, c, K] += share
