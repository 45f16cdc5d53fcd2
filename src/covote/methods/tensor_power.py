"""Robust tensor power method: a symmetric K x K x K tensor in, its orthogonal components out.

A. Anandkumar, R. Ge, D. Hsu, S. Kakade, M. Telgarsky, "Tensor decompositions for learning latent variable models",
JMLR 2014, Algorithm 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def tensor_power(
    tensor: Floats, rng: np.random.Generator, *, restarts: int = 20, rounds: int = 60
) -> tuple[Floats, Floats]:
    """Values (K,) and unit vectors (K, components), such that tensor is nearly sum_h value_h v_h x v_h x v_h.

    For each component: random starts run together through v <- T(I, v, v) / |T(I, v, v)|, the one of the largest
    T(v, v, v) is run on, and taken off the tensor.

    >>> tensor = np.einsum("h,ih,jh,kh->ijk", [2.0, 1.0], *[np.eye(2)] * 3)
    >>> values, vectors = tensor_power(tensor, np.random.default_rng(0))
    >>> values.round(6).tolist(), np.abs(vectors).round(6).tolist()
    ([2.0, 1.0], [[1.0, 0.0], [0.0, 1.0]])
    """
    K = len(tensor)
    rest = tensor.copy()
    values, vectors = np.empty(K), np.empty((K, K))
    for h in range(K):
        starts = rng.normal(size=(restarts * K, K))
        found = _run(rest, starts, rounds)
        best = found[[int(np.argmax(np.einsum("ijk,ri,rj,rk->r", rest, found, found, found)))]]
        best = _run(rest, best, rounds)[0]
        values[h], vectors[:, h] = np.einsum("ijk,i,j,k->", rest, best, best, best), best
        rest = rest - values[h] * np.einsum("i,j,k->ijk", best, best, best)
    return values, vectors


def _run(tensor: Floats, vectors: Floats, rounds: int) -> Floats:
    """Power rounds for all rows of `vectors` (starts, K) at once."""
    flat = tensor.reshape(len(tensor), -1)  # (K, K * K)
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
    for _ in range(rounds):
        outer = (vectors[:, :, None] * vectors[:, None, :]).reshape(len(vectors), -1)
        image = outer @ flat.T
        vectors = image / np.maximum(np.linalg.norm(image, axis=1, keepdims=True), 1e-300)
    return vectors
