"""Pooling: annotators seen too rarely borrow from the crowd; soft counts in, confusion matrices for everybody out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covote.counts import PairCounts
from covote.model import FLOOR, Model, columns, normalised

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Pooling:
    """How far an annotator is believed to be like the crowd; what each number is worth is in docs/paper-methods.md."""

    pull: float = 2.0
    """Pseudo-answers per class towards the mean matrix of all annotators, in every round of a fit."""
    rounds: int = 22
    """Rounds of a fit; further ones fit noise."""
    caution: float = 1.0
    """The last step adds caution * K * (K + 2) pseudo-answers per class towards the pooled co-occurrences ..."""
    fade: float = 5.0
    """... half as many for an annotator of fade * K^2 answers, and hardly any for one of far more."""


@dataclass(frozen=True, eq=False)
class Crowd:
    """The crowd as one annotator: its confusion matrix (labels, classes) and the class prior."""

    matrix: Floats
    prior: Floats


def pooled_crowd(counts: PairCounts) -> Crowd:
    """The crowd's matrix and prior from the sum of all pair counts: a start that never needs a thick block.

    All blocks of all pairs together are C = P D P^T, with P the crowd's matrix. If the crowd confuses class a with b
    as often as b with a, then P D is symmetric, D is the distribution of labels, and
    P = D^1/2 (D^-1/2 C D^-1/2)^1/2 D^-1/2. An annotator counts by the root of its answers, so that a few busy ones do
    not speak for all.

    >>> c = PairCounts.build([0], [1], [[[41, 9], [9, 41]]], [[50, 50], [50, 50]], 100, ("x", "y"), ("ann", "bob"))
    >>> pooled_crowd(c).matrix.round(2).tolist()
    [[0.9, 0.1], [0.1, 0.9]]
    """
    answers = np.maximum(counts.label_counts.sum(axis=1), 1.0)
    weight = 1 / np.sqrt(answers[counts.first] * answers[counts.second])
    weight *= counts.shared.sum() / max(float(weight @ counts.shared), 1e-300)
    joint = np.einsum("p,pij->ij", weight, counts.blocks)
    joint = joint + joint.T
    joint += np.diag(normalised(joint.sum(axis=0) + 1.0))  # a class nobody met keeps a trace on the diagonal
    joint /= joint.sum()
    prior = joint.sum(axis=0)
    root = np.sqrt(prior)
    size, direction = np.linalg.eigh(joint / np.outer(root, root))
    half = (direction * np.sqrt(np.maximum(size, 0.0))) @ direction.T
    return Crowd(columns(np.maximum(root[:, None] * half / root, 0.0), FLOOR), prior)


def mean_matrix(soft: Floats) -> Floats:
    """The mean matrix of all annotators, each counted once however many answers it gave; `soft` (M, labels, classes).

    Whoever answers much is often better than the rest, and the rarely seen are to be shrunk towards the rarely seen.
    """
    share = 1 / np.maximum(soft.sum(axis=(1, 2)), 1.0)
    return columns(np.einsum("m,mlk->lk", share / max(float(share.mean()), 1e-300), soft) + 1 / soft.shape[1])


def without_own(soft: Floats) -> Floats:
    """Soft counts of an annotator's answers as the other answers see them: of n equal answers, n - 1 count.

    Otherwise an answer would be a witness for itself, and a label used once would be believed without any reason.
    """
    given = soft.sum(axis=2, keepdims=True)  # (annotators, labels, 1)
    return np.asarray(soft * (1 - 1 / np.maximum(given, 1.0)))


def pulled(soft: Floats, pooling: Pooling) -> Floats:
    """The matrices of the next round: soft counts joined by pseudo-answers towards the mean matrix."""
    seen = without_own(soft)
    return columns(seen + pooling.pull * mean_matrix(seen))


def cautious(model: Model, soft: Floats, n_items: float, crowd: Crowd, pooling: Pooling) -> Model:
    """The model that labels: `soft` of the last round, with as many pseudo-answers from the crowd as K asks for.

    Rounds make a thin crowd too sure of itself. The pooled co-occurrences do not, since they have K^2 numbers and not
    M K^2, so they weigh most where an annotator gave few answers for its K^2 cells.
    """
    K = model.n_classes
    strength = pooling.caution * K * (K + 2) / (1 + soft.sum(axis=(1, 2)) / (pooling.fade * K * K))
    confusion = columns(without_own(soft) + strength[:, None, None] * crowd.matrix)
    prior = normalised(n_items * model.prior + pooling.caution * K * K * crowd.prior)
    return Model(prior, confusion, model.classes, model.annotators)
