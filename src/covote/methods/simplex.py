"""Arithmetic on the probability simplex: successive projection, projection, constrained least squares."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def successive_projection(points: Floats, k: int) -> NDArray[np.intp]:
    """SPA, the paper's Eq. (spa): indices of `k` columns of `points` (dimension, columns) nearest to the vertices.

    Each step takes the column of largest norm and projects all columns on the complement of what was taken.

    >>> successive_projection(np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]]), 2).tolist()
    [0, 2]
    """
    rest = points.astype(np.float64, copy=True)
    taken = np.empty(k, np.intp)
    for step in range(k):
        norms = np.einsum("iq,iq->q", rest, rest)
        norms[taken[:step]] = -1.0  # a column is taken once, even when all that is left is rounding
        taken[step] = best = int(np.argmax(norms))
        direction = rest[:, best] / max(np.sqrt(max(norms[best], 0.0)), 1e-300)
        rest -= np.outer(direction, direction @ rest)
    return taken


def project_to_simplex(points: Floats) -> Floats:
    """The nearest probability vectors to the columns of `points` (dimension, columns).

    >>> project_to_simplex(np.array([[2.0, 0.2], [0.0, 0.2]])).tolist()
    [[1.0, 0.5], [0.0, 0.5]]
    """
    d = points.shape[0]
    descending = -np.sort(-points, axis=0)
    excess = (np.cumsum(descending, axis=0) - 1) / np.arange(1, d + 1)[:, None]
    active = (descending > excess).sum(axis=0) - 1
    return np.asarray(np.maximum(points - np.take_along_axis(excess, active[None], axis=0), 0.0))


def simplex_least_squares(gram: Floats, target: Floats, *, max_iter: int = 2000, tol: float = 1e-14) -> Floats:
    """Argmin of x^T gram x / 2 - target^T x over probability vectors x, by accelerated projected gradient.

    >>> simplex_least_squares(np.eye(2), np.array([0.7, 0.3])).round(6).tolist()
    [0.7, 0.3]
    """
    k = len(target)
    step = 1 / max(float(np.linalg.eigvalsh(gram)[-1]), 1e-300)
    x = momentum = np.full(k, 1 / k)
    t = 1.0
    for _ in range(max_iter):
        new = project_to_simplex((momentum - step * (gram @ momentum - target))[:, None])[:, 0]
        t_new = (1 + np.sqrt(1 + 4 * t * t)) / 2
        if (momentum - new) @ (new - x) > 0:  # restart where the momentum points uphill
            t_new, momentum = 1.0, new
        else:
            momentum = new + (t - 1) / t_new * (new - x)
        moved = float(np.abs(new - x).max())
        x, t = new, t_new
        if moved < tol:
            break
    return x
