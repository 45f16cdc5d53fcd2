"""Coupled factorisation of second and third moments: moments and a model in, one sweep of better matrices out."""

from __future__ import annotations

import numpy as np
from numba import njit

from covote.kernels.quadratics import simplex_columns, simplex_vector


@njit(cache=True, nogil=True)
def coupled_sweep(triples, cubes, pairs, blocks, starts, member, pull, goal, prior, confusion):  # the last two OUT
    """Solve for each annotator's matrix in turn, the others held, then for the prior.

    cubes (T, K, K, K) and blocks (P, K, K) are counts: moments times the items behind them, which are their weights.
    `member[starts[m]:starts[m + 1]]` lists the moments of annotator m: 3 t + place for triples, then 3 T + 2 p + place
    for pairs. `pull[m]` draws every column of the matrix of m to goal[m] (K,).
    """
    M, K = goal.shape
    T = len(triples)
    gram = np.empty((M, K, K))
    for m in range(M):
        set_gram(confusion[m], gram[m])
    G = np.empty((K, K))
    H = np.empty((K, K))
    for m in range(M):
        G[:] = 0.0
        H[:] = 0.0
        for e in range(starts[m], starts[m + 1]):
            if member[e] < 3 * T:
                t, place = member[e] // 3, member[e] % 3
                a, b = triples[t, (place + 1) % 3], triples[t, (place + 2) % 3]
                add_gram(gram[a], gram[b], cubes[t].sum(), G)
                add_triple(cubes[t], place, confusion[a], confusion[b], H)
            else:
                p, place = (member[e] - 3 * T) // 2, (member[e] - 3 * T) % 2
                other = pairs[p, 1 - place]
                G += blocks[p].sum() * gram[other]
                add_pair(blocks[p], place, confusion[other], H)
        for i in range(K):
            for r in range(K):
                G[i, r] *= prior[i] * prior[r]
                H[i, r] = H[i, r] * prior[r] + pull[m] * goal[m, i]
            G[i, i] += pull[m]
        simplex_columns(G, H, confusion[m])
        set_gram(confusion[m], gram[m])
    prior_step(triples, cubes, pairs, blocks, gram, confusion, prior)


@njit(cache=True, nogil=True)
def set_gram(a, out):  # out: (K, K)  # OUT
    """Set out to a^T a."""
    K = len(out)
    for r in range(K):
        for s in range(K):
            out[r, s] = 0.0
            for i in range(K):
                out[r, s] += a[i, r] * a[i, s]


@njit(cache=True, nogil=True)
def add_gram(a, b, weight, out):  # out: (K, K)  # IN and OUT
    """Add weight * a * b, entry by entry."""
    for r in range(len(out)):
        for s in range(len(out)):
            out[r, s] += weight * a[r, s] * b[r, s]


@njit(cache=True, nogil=True)
def add_triple(cube, place, a, b, out):  # out: (K, K)  # IN and OUT
    """Add sum over j, k of cube[.., i at `place`, j next, k after next ..] a[j, r] b[k, r] to out[i, r]."""
    K = len(a)
    for i in range(K):
        for j in range(K):
            for k in range(K):
                if place == 0:
                    x = cube[i, j, k]
                elif place == 1:
                    x = cube[k, i, j]
                else:
                    x = cube[j, k, i]
                if x != 0.0:
                    for r in range(K):
                        out[i, r] += x * a[j, r] * b[k, r]


@njit(cache=True, nogil=True)
def add_pair(block, place, other, out):  # out: (K, K)  # IN and OUT
    """Add block @ other (the annotator's own labels in rows), or block^T @ other where it comes second."""
    K = len(other)
    for i in range(K):
        for j in range(K):
            x = block[j, i] if place else block[i, j]
            for r in range(K):
                out[i, r] += x * other[j, r]


@njit(cache=True, nogil=True)
def prior_step(triples, cubes, pairs, blocks, gram, confusion, prior):  # prior  # OUT
    """Solve for the prior, all matrices held."""
    K = len(prior)
    G = np.zeros((K, K))
    h = np.zeros(K)
    part = np.empty((K, K))
    for t in range(len(triples)):
        a, b, c = triples[t, 0], triples[t, 1], triples[t, 2]
        weight = cubes[t].sum()
        part[:] = 0.0
        add_triple(cubes[t], 0, confusion[b], confusion[c], part)
        for r in range(K):
            for s in range(K):
                G[r, s] += weight * gram[a, r, s] * gram[b, r, s] * gram[c, r, s]
                h[r] += part[s, r] * confusion[a, s, r]
    for p in range(len(pairs)):
        a, b = pairs[p, 0], pairs[p, 1]
        part[:] = 0.0
        add_pair(blocks[p], 0, confusion[b], part)
        add_gram(gram[a], gram[b], blocks[p].sum(), G)
        for r in range(K):
            for s in range(K):
                h[r] += part[s, r] * confusion[a, s, r]
    simplex_vector(G, h, prior)


@njit(cache=True, nogil=True)
def coupled_misfit(triples, cubes, pairs, blocks, prior, confusion):
    """Half the weighted squared distance of the moments from the model's, up to the constant of the moments alone."""
    K = len(prior)
    gram = np.empty(confusion.shape)
    for m in range(len(confusion)):
        set_gram(confusion[m], gram[m])
    part = np.empty((K, K))
    value = 0.0
    for t in range(len(triples)):
        a, b, c = triples[t, 0], triples[t, 1], triples[t, 2]
        weight = cubes[t].sum()
        part[:] = 0.0
        add_triple(cubes[t], 0, confusion[b], confusion[c], part)
        for r in range(K):
            for s in range(K):
                size = gram[a, r, s] * gram[b, r, s] * gram[c, r, s]
                value += 0.5 * weight * size * prior[r] * prior[s]
                value -= part[s, r] * confusion[a, s, r] * prior[r]
    for p in range(len(pairs)):
        a, b = pairs[p, 0], pairs[p, 1]
        weight = blocks[p].sum()
        part[:] = 0.0
        add_pair(blocks[p], 0, confusion[b], part)
        for r in range(K):
            for s in range(K):
                value += 0.5 * weight * gram[a, r, s] * gram[b, r, s] * prior[r] * prior[s]
                value -= part[s, r] * confusion[a, s, r] * prior[r]
    return value
