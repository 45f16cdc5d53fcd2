"""Methods that give every annotator one signed weight: agreements in, oriented weights and label scores out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from covote.counts import PairCounts
from covote.errors import NotApplicableError
from covote.model import Scores

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_DENSE = 64
"""Up to this many annotators a dense eigen-solver is quicker than a sparse one, and exact."""

_WHISPER = 1e-9
"""The vote of an annotator of whom nothing is known: it breaks ties and outweighs nobody."""


def check_binary(n_classes: int, method: str) -> None:
    """Raise where a method for two classes is given more, naming those that apply."""
    if n_classes > 2:
        msg = (
            f"{method} works on two classes and these answers have {n_classes}. Use one of: majority-vote, multispa, "
            "multispa-kl, multispa-ds, mv-ds, spectral-ds, tensor-admm, kos, minmax-entropy."
        )
        raise NotApplicableError(msg)


def signed_agreement(counts: PairCounts) -> Floats:
    """Items on which each pair agrees minus those on which it differs, shape (pairs,).

    >>> c = PairCounts.build([0], [1], [[[3, 1], [0, 4]]], [[4, 4], [3, 5]], 8, ("x", "y"), ("ann", "bob"))
    >>> signed_agreement(c).tolist()
    [6.0]
    """
    same = np.einsum("pkk->p", counts.blocks)
    return np.asarray(2 * same - counts.shared)


def components(n_annotators: int, first: Ints, second: Ints) -> Ints:
    """The connected part each annotator belongs to, when pairs (first, second) are tied together.

    >>> components(3, np.array([0]), np.array([2])).tolist()
    [0, 1, 0]
    """
    ties = coo_array((np.ones(len(first)), (first, second)), shape=(n_annotators, n_annotators))
    return np.asarray(connected_components(ties, directed=False)[1], dtype=np.int64)


def leading_vector(first: Ints, second: Ints, value: Floats, diagonal: Floats, part: Ints) -> tuple[Floats, Floats]:
    """Eigenvector of the largest eigenvalue of the symmetric matrix with these entries, for each part on its own.

    Entries of other parts than the strongest are zero in an eigenvector of the whole, which would leave their items
    without a label. Returns the unit vectors, side by side in one array (annotators,), and the eigenvalue of each
    annotator's part.
    """
    M = len(diagonal)
    rows = np.concatenate([first, second, np.arange(M)])
    cols = np.concatenate([second, first, np.arange(M)])
    matrix = csr_array((np.concatenate([value, value, diagonal]), (rows, cols)), shape=(M, M))
    order = np.argsort(part, kind="stable")
    edges = np.searchsorted(part[order], np.arange(part.max(initial=-1) + 2))
    vector, size = np.ones(M), diagonal.astype(np.float64)
    for p in np.flatnonzero(np.diff(edges) > 1):
        members = order[edges[p] : edges[p + 1]]
        size[members], vector[members] = _top(matrix if len(members) == M else matrix[members][:, members])
    return vector, size


def _top(matrix: csr_array) -> tuple[float, Floats]:
    n = matrix.shape[0]
    if n > _DENSE:
        try:
            value, vector = eigsh(matrix, k=1, which="LA", v0=np.full(n, n**-0.5), maxiter=50 * n)
            return float(value[0]), np.asarray(vector[:, 0])
        except ArpackNoConvergence:
            pass  # two eigenvalues nearly equal: the dense solver separates them or shows a vector of their plane
    values, vectors = eigh(matrix.toarray(), subset_by_index=[n - 1, n - 1])
    return float(values[0]), np.asarray(vectors[:, 0])


def oriented(weight: Floats, answers: Floats, part: Ints) -> Floats:
    """Flip the weights of every part so that its informative annotators count as better than chance.

    A weight measures how far an annotator is from chance, and its square, times the answers given, how much it is
    heard in the decision: the same rule by which the other methods name their classes.

    >>> oriented(np.array([-0.9, 0.3, 0.3, 0.3]), np.full(4, 10.0), np.zeros(4, int)).tolist()
    [0.9, -0.3, -0.3, -0.3]
    """
    say = np.bincount(part, answers * weight**3)
    return np.asarray(weight * np.where(say < 0, -1.0, 1.0)[part])


def threshold_scores(weight: Floats) -> Scores:
    """Votes from weights (K - 1, annotators) on the questions "is the class above t?", t = 0..K-2.

    An answer adds |weight| to all classes on the side it votes for, which is the other side for a negative weight.
    With two classes that is the weighted vote, and shares of votes are probabilities.

    >>> threshold_scores(np.array([[2.0, -1.0]])).table[1].tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    K = len(weight) + 1
    loud = np.abs(weight)
    typical = loud.sum(axis=1, keepdims=True) / max(weight.shape[1], 1)
    weight = np.where(loud > _WHISPER * typical, weight, _WHISPER * np.where(typical > 0, typical, 1.0))
    above = np.arange(K) > np.arange(K - 1)[:, None]  # (thresholds, labels or classes)
    up = above[:, None, :] ^ (weight < 0)[:, :, None]  # (thresholds, annotators, labels)
    with_class = up[..., None] == above[:, None, None, :]  # (thresholds, annotators, labels, classes)
    table = np.einsum("tm,tmlk->mlk", np.abs(weight), with_class)
    return Scores(np.ascontiguousarray(table), np.zeros(K), "linear")
