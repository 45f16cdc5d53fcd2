"""M-MSR: pair counts in; annotator skills from a robust rank-one fit of their agreements out.

Q. Ma, A. Olshevsky, "Adversarial crowdsourcing through robust rank-one matrix completion", NeurIPS 2020.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from covote.counts import PairCounts
from covote.engines.base import Engine
from covote.methods.majority_vote import majority_vote
from covote.methods.weighted_vote import weighted_vote
from covote.model import Fit, Progress, Status

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LARGE = 1e100
"""Factors beyond it are as good as infinite, and their squares still have a number."""

_DENSE = 200
"""Up to this many nodes the signs come from a dense eigen-solver, which is exact."""


@dataclass(frozen=True, eq=False)
class Settings:
    """What else decides the fit."""

    trim: int | None = None  # outermost ratios left out on either side; by the sparsest annotator when None
    start: Floats | None = None  # (annotators,): start of both factors; random when None
    unmet_differ: bool = False  # whether annotators without a shared item count as disagreeing when signs are chosen


def mmsr(
    engine: Engine,
    *,
    seed: int = 0,
    max_iter: int = 10_000,
    tol: float = 1e-10,
    settings: Settings | None = None,
    progress: Progress | None = None,
) -> Fit:
    """Skills s with s_i s_j near C_ij = (K * agreement_ij - 1) / (K - 1), then a vote weighted by their log-odds.

    |C| = u v^T is fitted by alternating means of ratios without the outermost (the published filter), then the signs
    are chosen that fit those of C best. The history holds how much u v^T moved in each round.
    """
    settings = settings or Settings()
    K = len(engine.classes)
    counts = engine.pair_counts()
    if K < 2 or counts.n_pairs == 0:
        return majority_vote(engine)
    agreement = np.einsum("pkk->p", counts.blocks) / counts.shared
    value = (K * agreement - 1) / (K - 1)
    u, history, status = _factors(counts, np.abs(value), settings, seed, max_iter, tol, progress)
    skill = u * _signs(counts, value, settings.unmet_differ)
    edge = 1 / np.sqrt(max(counts.n_items, 4.0))
    skill = np.clip(skill, -1 / (K - 1) + edge, 1 - edge)
    chance = skill * (K - 1) / K + 1 / K
    weight = np.log(chance * (K - 1) / (1 - chance))
    fit = weighted_vote(engine, weight)
    return Fit(fit.scores, None, status, history, details={"skill": weight, "chance": chance})


def _factors(
    counts: PairCounts,
    value: Floats,
    settings: Settings,
    seed: int,
    max_iter: int,
    tol: float,
    progress: Progress | None,
) -> tuple[Floats, tuple[float, ...], Status]:
    """|skill| of every annotator; those without partners keep the middle of what is known."""
    from covote.kernels import trimmed

    M = len(counts.annotators)
    matrix = _symmetric(
        counts, np.arange(1, counts.n_pairs + 1, dtype=np.float64), M
    )  # numbered, so that no agreement of 0 is lost
    starts, partner = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    ordered = value[matrix.data.astype(np.int64) - 1]
    trim = settings.trim
    if trim is None:
        trim = max(int(np.diff(starts).min()) // 2 - 1, 0)
    u = np.random.default_rng(seed).random(M) if settings.start is None else settings.start.copy()
    v, least = u.copy(), 1 / np.sqrt(max(counts.n_items, 1.0))
    history, status = [], Status.LIMIT
    for turn in range(max_iter):
        old_u, old_v = u.copy(), v.copy()
        trimmed.trimmed_sweep(starts, partner, ordered, u, trim, least, v)
        trimmed.trimmed_sweep(starts, partner, ordered, v, trim, least, u)
        history.append(_moved(u, v, old_u, old_v))
        if progress is not None:
            progress(turn + 1, max_iter, history[-1])
        if not np.isfinite(history[-1]):
            u, v = old_u, old_v
            break
        if history[-1] < tol:
            status = Status.CONVERGED
            break
    u, v = np.clip(u, -_LARGE, _LARGE), np.clip(v, -_LARGE, _LARGE)
    size = float(np.sqrt(float(np.linalg.norm(u)) / max(float(np.linalg.norm(v)), 1e-300)))
    return np.nan_to_num(u / max(size, 1e-300), posinf=1e6), tuple(history), status


def _moved(u: Floats, v: Floats, old_u: Floats, old_v: Floats) -> float:
    """Frobenius norm of u v^T - old_u old_v^T, from inner products alone."""
    with np.errstate(over="ignore", invalid="ignore"):
        square = (u @ u) * (v @ v) + (old_u @ old_u) * (old_v @ old_v) - 2 * (u @ old_u) * (v @ old_v)
    if not np.isfinite(square):  # factors that run away: no fit of these agreements
        return float("inf")
    if square > 1e-6 * (u @ u) * (v @ v):
        return float(np.sqrt(square))
    du, dv = u - old_u, v - old_v  # u v' - o p' = du v' + o dv'; exact where the difference above would cancel
    small = float((du @ du) * (v @ v) + (old_u @ old_u) * (dv @ dv) + 2 * (du @ old_u) * (v @ dv))
    return float(max(small, 0.0) ** 0.5)


def _symmetric(counts: PairCounts, value: Floats, n: int) -> csr_array:
    rows, cols = np.concatenate([counts.first, counts.second]), np.concatenate([counts.second, counts.first])
    return csr_array(coo_array((np.concatenate([value, value]), (rows, cols)), shape=(n, n)))


def _signs(counts: PairCounts, value: Floats, unmet_differ: bool) -> Floats:
    """Signs of annotators, most of them positive: those who disagree want different ones.

    A pair that agrees is joined through a node of its own, so that signs which fit make the graph two-sided; the
    eigenvector of the most negative eigenvalue of its normalised adjacency shows the sides.
    """
    M = len(counts.annotators)
    sign = np.sign(value)
    differ, alike = sign < 0, np.flatnonzero(sign > 0)
    if unmet_differ:
        block = np.ones((M, M))
        block[counts.first[~differ], counts.second[~differ]] = block[counts.second[~differ], counts.first[~differ]] = 0
        rows, cols = np.nonzero(block)
    else:
        first, second = counts.first[differ], counts.second[differ]
        rows, cols = np.concatenate([first, second]), np.concatenate([second, first])
    node = M + np.arange(len(alike))
    ends = np.concatenate([counts.first[alike], counts.second[alike]])
    both = np.concatenate([node, node])
    rows, cols = np.concatenate([rows, ends, both]), np.concatenate([cols, both, ends])
    n = M + len(alike)
    adjacency = csr_array(coo_array((np.ones(len(rows)), (rows, cols)), shape=(n, n)))
    scale = 1 / np.sqrt(np.maximum(adjacency.sum(axis=1), 1.0))
    side = np.sign(_lowest(diags_array(scale) @ adjacency @ diags_array(scale)))[:M]
    side = np.where(side == 0, 1.0, side)
    return np.asarray(side if side.sum() >= 0 else -side)


def _lowest(matrix: csr_array) -> Floats:
    """The eigenvector of the most negative eigenvalue."""
    n = matrix.shape[0]
    if n > _DENSE:
        try:
            start = np.random.default_rng(0).random(n)
            return np.asarray(eigsh(matrix, k=1, which="SA", v0=start, maxiter=100 * n, tol=1e-10)[1][:, 0])
        except ArpackNoConvergence:
            if n > 20 * _DENSE:
                return np.ones(n)  # the signs do not tell two sides apart
    return np.asarray(np.linalg.eigh(matrix.toarray())[1][:, 0])
