"""Quadratic problems on the probability simplex by ADMM: small Gram matrices in, minimisers out.

Written in plain loops: for matrices of a few classes they are quicker than calls of BLAS, and far quicker to compile.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_ROUNDS = 100
_CLOSE = 1e-10


@njit(cache=True, nogil=True)
def simplex_columns(gram, target, found):  # found: (labels, classes)  # IN: start, OUT: better or equal
    """Minimise tr(A gram A^T) / 2 - tr(A target^T) over matrices A with columns in the simplex.

    ADMM in the split A = Z: A <- (target + rho (Z - U)) (gram + rho I)^-1, Z <- projection of A + U, U <- U + A - Z,
    with rho = the mean eigenvalue of gram. The start is kept where Z is no better, so callers descend monotonically.
    """
    L, K = found.shape
    rho, inverse = shifted_inverse(gram)
    Z = found.copy()
    U = np.zeros((L, K))
    A = np.empty((L, K))
    column = np.empty(L)
    for _ in range(_ROUNDS):
        moved = 0.0
        for r in range(K):
            for i in range(L):
                A[i, r] = 0.0
                for s in range(K):
                    A[i, r] += (target[i, s] + rho * (Z[i, s] - U[i, s])) * inverse[s, r]
        for r in range(K):
            for i in range(L):
                column[i] = A[i, r] + U[i, r]
            project(column)
            for i in range(L):
                moved = max(moved, abs(column[i] - Z[i, r]), abs(column[i] - A[i, r]))
                Z[i, r] = column[i]
                U[i, r] += A[i, r] - column[i]
        if moved < _CLOSE:
            break
    if cost(gram, target, Z) < cost(gram, target, found):
        found[:] = Z


@njit(cache=True, nogil=True)
def simplex_vector(gram, target, found):  # found: (classes,)  # IN: start, OUT: better or equal
    """Minimise d^T gram d / 2 - target^T d over probability vectors d, by the same ADMM."""
    K = len(target)
    rho, inverse = shifted_inverse(gram)
    z = found.copy()
    u = np.zeros(K)
    d = np.empty(K)
    for _ in range(_ROUNDS):
        moved = 0.0
        for r in range(K):
            d[r] = 0.0
            for s in range(K):
                d[r] += inverse[r, s] * (target[s] + rho * (z[s] - u[s]))
        new = d + u
        project(new)
        for r in range(K):
            moved = max(moved, abs(new[r] - z[r]), abs(new[r] - d[r]))
            u[r] += d[r] - new[r]
            z[r] = new[r]
        if moved < _CLOSE:
            break
    if cost(gram, target.reshape(1, K), z.reshape(1, K)) < cost(gram, target.reshape(1, K), found.reshape(1, K)):
        found[:] = z


@njit(cache=True, nogil=True)
def cost(gram, target, a):
    """The objective tr(a gram a^T) / 2 - tr(a target^T)."""
    value = 0.0
    for i in range(a.shape[0]):
        for r in range(a.shape[1]):
            value -= a[i, r] * target[i, r]
            for s in range(a.shape[1]):
                value += 0.5 * a[i, r] * gram[r, s] * a[i, s]
    return value


@njit(cache=True, nogil=True)
def shifted_inverse(gram):
    """The mean eigenvalue rho of gram, and (gram + rho I)^-1 by elimination (positive definite: no pivoting)."""
    K = gram.shape[0]
    rho = 0.0
    for r in range(K):
        rho += gram[r, r] / K
    rho = max(rho, 1e-300)
    left = gram.copy()
    inverse = np.zeros((K, K))
    for r in range(K):
        left[r, r] += rho
        inverse[r, r] = 1.0
    for r in range(K):
        pivot = left[r, r]
        for s in range(K):
            left[r, s] /= pivot
            inverse[r, s] /= pivot
        for i in range(K):
            if i != r:
                factor = left[i, r]
                for s in range(K):
                    left[i, s] -= factor * left[r, s]
                    inverse[i, s] -= factor * inverse[r, s]
    return rho, inverse


@njit(cache=True, nogil=True)
def project(x):  # x: (dimension,)  # IN and OUT
    """Move x to the nearest probability vector: x - shift, negative entries cut off."""
    shift = -np.inf
    for _ in range(len(x)):  # Michelot: leave out what falls below the shift until nothing more does
        total = 0.0
        active = 0
        for i in range(len(x)):
            if x[i] > shift:
                total += x[i]
                active += 1
        if (total - 1.0) / active <= shift:
            break
        shift = (total - 1.0) / active
    for i in range(len(x)):
        x[i] = max(x[i] - shift, 0.0)
