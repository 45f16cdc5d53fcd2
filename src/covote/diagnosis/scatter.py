"""How widely rows scatter over the simplex: rows of confusion matrices in, the uniform purity level gamma out.

gamma is the radius of the largest R(r), ball of radius r cut with the simplex, that the hull of the rows holds (Lin et
al.; the proof of Theorem 4). gamma >= 1 / sqrt(K - 1) makes the rows sufficiently scattered.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from scipy.spatial import ConvexHull, QhullError

from covote.diagnosis.flatness import tangent_basis

Floats = NDArray[np.float64]

EXACT_CLASSES = 5
"""Up to this many classes the hull's facets are enumerated; above, random directions give an upper bound."""

_DIRECTIONS = 4000


@dataclass(frozen=True)
class Scatter:
    """The purity level of some rows and the level that suffices for identification from pairs."""

    gamma: float
    needed: float  # 1 / sqrt(K - 1)
    exact: bool  # False: gamma is at most this

    @property
    def sufficient(self) -> bool:
        """Whether gamma is known to reach the level needed."""
        return self.exact and self.gamma >= self.needed - 1e-9


def scatter(rows: Floats, *, seed: int = 0) -> Scatter:
    """The purity level of nonnegative rows (rows, K), which are first scaled to sum 1.

    >>> scatter(np.eye(3)).gamma, scatter(np.ones((4, 3))).gamma > 0.5774
    (1.0, False)
    """
    K = rows.shape[1]
    total = rows.sum(axis=1)
    points = rows[total > 0] / total[total > 0, None]
    needed = float(1 / np.sqrt(K - 1))
    if K <= EXACT_CLASSES:
        return Scatter(_exact(points), needed, True)
    inner = (points - 1 / K) @ tangent_basis(K)
    u = np.random.default_rng(seed).standard_normal((_DIRECTIONS, K - 1))
    u = np.concatenate([u, -inner, tangent_basis(K), -tangent_basis(K)])  # also away from rows, along the vertices
    u = u[np.linalg.norm(u, axis=1) > 1e-9]
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    reach = float((u @ inner.T).max(axis=1).min(initial=np.inf)) if len(points) else 0.0
    return Scatter(_radius(max(reach, 0.0), K), needed, False)


def _radius(reach: float, n_classes: int) -> float:
    """Norm of a point at distance `reach` from the centre of the simplex."""
    return float(min(np.sqrt(1 / n_classes + reach**2), 1.0))


def _exact(points: Floats) -> float:
    """The least norm over the points of the simplex on or beyond a facet of the hull."""
    K = points.shape[1]
    inner = (points - 1 / K) @ tangent_basis(K)  # (rows, K - 1), the centre at the origin
    if K == 2:
        low, high = (inner.min(initial=0.0), inner.max(initial=0.0)) if len(inner) else (0.0, 0.0)
        return _radius(min(max(high, 0.0), max(-low, 0.0)), K)
    try:
        facets = np.unique(np.round(ConvexHull(inner).equations, 9), axis=0)  # (facets, K): normal, offset
    except (QhullError, ValueError):
        return _radius(0.0, K)  # too few rows, or rows in a plane: the hull has no inside
    reach = -facets[:, -1]
    if reach.min() <= 0:
        return _radius(0.0, K)
    normals = facets[:, :-1] @ tangent_basis(K).T  # (facets, K), in the simplex's own coordinates
    best = 1.0
    for normal, distance in sorted(zip(normals, reach, strict=True), key=lambda pair: float(pair[1])):
        if _radius(distance, K) >= best:
            break
        best = min(best, _least_norm_beyond(normal, distance))
    return best


def _least_norm_beyond(normal: Floats, distance: float) -> float:
    """Least norm of x in the simplex with normal @ x >= distance; 1 where the facet is one of the simplex itself.

    Nearest is the foot of the perpendicular from the centre if it lies in the simplex, else a corner of the cut,
    found by nonnegative least squares with the two equations weighted heavily.
    """
    K = len(normal)
    if normal.max() <= distance + 1e-7:
        return 1.0
    foot = 1 / K + distance * normal
    if foot.min() >= -1e-12:
        return float(np.linalg.norm(foot))
    heavy = 1e6
    system = np.vstack([np.eye(K), heavy * np.ones(K), heavy * normal])
    target = np.concatenate([np.zeros(K), [heavy, heavy * distance]])
    return float(np.linalg.norm(nnls(system, target)[0]))
