"""Flat directions: a model and who shares items with whom in, changes of (A, d) that leave every R_{m,l} alone out.

The Jacobian of (A, d) -> {R_{m,l} = A_m D A_l^T} is taken within the simplex (columns of A_m and d keep their sums).
Whatever the crowd, it has a null space: A_m D^(1/2) U with any rotation U gives the same R_{m,l}, which leaves
K(K-1)/2 directions open. Only the signs pin them down, since probabilities cannot fall below zero; see `freedom`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from covote.counts import PairCounts
from covote.model import Model

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FLAT = 1e-6
"""Scaled eigenvalues of J^T J below this count as zero (rounding leaves some 1e-8)."""

MOST_PARAMETERS = 1600
"""The joint analysis takes the annotators who share most items, as many as keep it to this many parameters."""

MOST_DIRECTIONS = 60
"""A crowd with more flat directions than this is hopeless enough."""

_RIDGE = 1e-8
_EXTRA = 6  # directions beyond the flat ones, to show the gap


@dataclass(frozen=True)
class Layout:
    """Where the coordinates of each core annotator's columns, (K-1) x K of them, and of the prior, K-1, lie."""

    n_core: int
    n_classes: int

    @property
    def own(self) -> int:
        return self.n_classes * (self.n_classes - 1)

    @property
    def total(self) -> int:
        return self.n_core * self.own + self.n_classes - 1

    @property
    def blocks(self) -> list[slice]:
        inner = [slice(m * self.own, (m + 1) * self.own) for m in range(self.n_core)]
        return [*inner, slice(self.n_core * self.own, self.total)]

    def changes(self, directions: Floats) -> tuple[Floats, Floats]:
        """Coordinates (total, directions) -> changes of the confusions and of the prior, directions first."""
        basis, number = tangent_basis(self.n_classes), directions.shape[1]
        shape = (number, self.n_core, self.n_classes - 1, self.n_classes)
        inner = directions[: self.n_core * self.own].T.reshape(shape)
        return np.einsum("ir,dmrk->dmik", basis, inner), directions[self.n_core * self.own :].T @ basis.T


@dataclass(frozen=True, eq=False)
class FlatSpace:
    """Directions by the singular values of the scaled Jacobian; the first `n_flat` change no R_{m,l} at all."""

    singular_values: Floats  # (directions,): 0 = flat, 1 = as well determined as if all other annotators were known
    confusion: Floats  # (directions, core annotators, labels, classes)
    prior: Floats  # (directions, classes)
    information: Floats  # (directions,): of one step along the direction, from the pair counts
    core: Ints  # (core annotators,): codes of those in the joint analysis
    n_flat: int

    @property
    def parameters(self) -> int:
        """Free parameters of the joint analysis."""
        return Layout(len(self.core), int(self.prior.shape[1])).total


def flat_space(counts: PairCounts, model: Model, *, most_parameters: int = MOST_PARAMETERS) -> FlatSpace:
    """The flattest directions of (A, d) -> {R_{m,l}} at `model`, over the pairs that share items.

    Rows of the Jacobian are weighted by their precision (shared items over R); columns are scaled by each
    annotator's own information, so that a thin annotator does not pass for a flat direction of the crowd.
    """
    core = most_shared(counts, max(2, most_parameters // (model.n_classes * (model.n_classes - 1))))
    layout = Layout(len(core), model.n_classes)
    place = np.full(counts.n_annotators, -1)
    place[core] = np.arange(len(core))
    both = (place[counts.first] >= 0) & (place[counts.second] >= 0)
    gram = gram_matrix(model, core, place[counts.first[both]], place[counts.second[both]], _precision(counts)[both])
    scale = _block_scale(gram, layout)
    values, vectors = _smallest(_scaled(gram, scale, layout), layout.n_classes * (layout.n_classes - 1) // 2 + _EXTRA)
    directions = _times((scale[0].transpose(0, 2, 1), scale[1].T), vectors, layout)
    directions /= np.linalg.norm(directions, axis=0)
    information = np.einsum("pr,pr->r", directions, gram @ directions)
    confusion, prior = layout.changes(directions)
    n_flat = int((values < FLAT).sum())
    return FlatSpace(np.sqrt(np.maximum(values, 0.0)), confusion, prior, information, core, n_flat)


def gram_matrix(model: Model, core: Ints, first: Ints, second: Ints, precision: Floats) -> Floats:
    """J^T W J over pairs given as positions in `core`, W = precision / R; shape (parameters, parameters).

    Parameters are, for each core annotator, the (K-1) x K coordinates of its columns, then K-1 of the prior.
    """
    layout = Layout(len(core), model.n_classes)
    K, own, inner = layout.n_classes, layout.own, layout.n_core * layout.own
    gram = np.zeros((layout.total, layout.total))
    blocks = gram[:inner, :inner].reshape(layout.n_core, own, layout.n_core, own)  # a view: writing it fills gram
    diagonal = np.zeros((layout.n_core, own, own))
    edge = gram[:inner, inner:].reshape(layout.n_core, own, K - 1)
    confusion, basis = model.confusion[core], tangent_basis(K)
    step = max(1, 2_000_000 // (K * K * (2 * own + K - 1)))
    for start in range(0, len(first), step):
        m, other = first[start : start + step], second[start : start + step]
        part = _pair_grams(confusion[m], confusion[other], model.prior, basis, precision[start : start + step])
        of_m, of_other, of_d = slice(0, own), slice(own, 2 * own), slice(2 * own, None)
        np.add.at(diagonal, m, part[:, of_m, of_m])
        np.add.at(diagonal, other, part[:, of_other, of_other])
        blocks[m, :, other] = part[:, of_m, of_other]  # a pair comes once
        blocks[other, :, m] = part[:, of_other, of_m]
        np.add.at(edge, m, part[:, of_m, of_d])
        np.add.at(edge, other, part[:, of_other, of_d])
        gram[inner:, inner:] += part[:, of_d, of_d].sum(axis=0)
    everyone = np.arange(layout.n_core)
    blocks[everyone, :, everyone] = diagonal
    gram[inner:, :inner] = gram[:inner, inner:].T
    return gram


def tangent_basis(n: int) -> Floats:
    """Orthonormal columns that span the vectors of length n with sum zero, shape (n, n - 1)."""
    q, _ = np.linalg.qr(np.concatenate([np.ones((n, 1)), np.eye(n)[:, :-1]], axis=1))
    return np.asarray(q[:, 1:])


def _pair_grams(a: Floats, b: Floats, prior: Floats, basis: Floats, precision: Floats) -> Floats:
    """J^T W J of each pair alone, (pairs, own + own + K - 1, ...): coordinates of A_m, of A_l, of d."""
    n, K, _ = a.shape
    rows = np.maximum(np.einsum("pik,k,pjk->pij", a, prior, b), 1e-9)
    of_a = np.einsum("ir,k,pjk->pijrk", basis, prior, b).reshape(n, K * K, -1)
    of_b = np.einsum("jr,k,pik->pijrk", basis, prior, a).reshape(n, K * K, -1)
    of_d = np.einsum("pik,pjk,kr->pijr", a, b, basis).reshape(n, K * K, -1)
    jacobian = np.concatenate([of_a, of_b, of_d], axis=2)
    weight = (precision[:, None, None] / rows).reshape(n, K * K, 1)
    return np.asarray(jacobian.transpose(0, 2, 1) @ (weight * jacobian))


def _precision(counts: PairCounts) -> Floats:
    """Shared items per pair, scaled so that an answer counts once however many partners it meets."""
    answers, met = counts.label_counts.sum(), 2 * counts.shared.sum()
    return counts.shared * min(1.0, float(answers / max(met, 1e-300)))


def most_shared(counts: PairCounts, most: int) -> Ints:
    """Codes of at most so many annotators, those who share most items with others, ascending."""
    shared = np.zeros(counts.n_annotators)
    np.add.at(shared, counts.first, counts.shared)
    np.add.at(shared, counts.second, counts.shared)
    order = np.argsort(-shared, kind="stable")
    return np.sort(order[shared[order] > 0][:most]).astype(np.int64)


def _block_scale(gram: Floats, layout: Layout) -> tuple[Floats, Floats]:
    """Inverse Cholesky factors of the diagonal blocks: (core, own, own), and that of the prior.

    Each block is raised by a trace of ridge, so that singular ones have a factor too.
    """
    inner = layout.n_core * layout.own
    blocks = gram[:inner, :inner].reshape(layout.n_core, layout.own, layout.n_core, layout.own)
    diagonal = blocks[np.arange(layout.n_core), :, np.arange(layout.n_core)]
    return _inverse_factor(diagonal), _inverse_factor(gram[None, inner:, inner:])[0]


def _inverse_factor(blocks: Floats) -> Floats:
    size = blocks.shape[-1]
    ridge = _RIDGE * np.maximum(np.trace(blocks, axis1=1, axis2=2) / size, 1e-300)
    return np.linalg.inv(np.linalg.cholesky(blocks + ridge[:, None, None] * np.eye(size)))


def _scaled(gram: Floats, scale: tuple[Floats, Floats], layout: Layout) -> Floats:
    """F^T G F in the coordinates where every diagonal block is the identity."""
    out = gram
    for _ in range(2):  # rows, then, after the transpose, columns
        out = _times(scale, out.T, layout)
    return (out + out.T) / 2


def _times(scale: tuple[Floats, Floats], matrix: Floats, layout: Layout) -> Floats:
    inner = layout.n_core * layout.own
    width = matrix.shape[1]  # written out: an empty crowd has no size to infer it from
    blocks = np.ascontiguousarray(matrix[:inner]).reshape(layout.n_core, layout.own, width)
    body = scale[0] @ blocks  # contiguous: else the product is not BLAS's
    return np.concatenate([body.reshape(inner, width), scale[1] @ matrix[inner:]])


def _smallest(matrix: Floats, number: int) -> tuple[Floats, Floats]:
    """The smallest eigenpairs of a positive semidefinite matrix, at least `number` and all flat ones up to half of it.

    Inverse subspace iteration on a Cholesky factor: the flat directions stand out in a few rounds.
    """
    n = len(matrix)
    if n <= 600:
        values, vectors = np.linalg.eigh(matrix)
        keep = min(n, max(number, min(int((values < FLAT).sum()) + _EXTRA, MOST_DIRECTIONS)))
        return values[:keep], vectors[:, :keep]
    number = min(number + 8, n)
    factor = scipy.linalg.cho_factor(matrix + 1e-9 * np.eye(n), lower=True, check_finite=False)
    space = np.random.default_rng(0).standard_normal((n, number))
    for _ in range(5):
        space, _ = np.linalg.qr(scipy.linalg.cho_solve(factor, space, check_finite=False))
    values, rotation = np.linalg.eigh(space.T @ matrix @ space)
    return values, space @ rotation
