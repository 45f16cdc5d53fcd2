"""Pair counts in, agreement and Cohen's kappa of every pair out; sums of one annotator against all others likewise."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from covote.agreements.coefficients import divided
from covote.agreements.tally import MOST, distinct_items
from covote.annotations import Annotations
from covote.counts import PairCounts

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Every pair of annotators who share items; arrays of one length."""

    first: list[Hashable]
    second: list[Hashable]
    shared: NDArray[np.int64]  # items both answered
    agreement: Floats  # share of them with the same label (closeness, where labels are weighted)
    kappa: Floats  # Cohen's, weighted where labels are
    low: Floats
    high: Floats

    def __len__(self) -> int:
        return len(self.first)

    def columns(self) -> dict[str, list[Any]]:
        """Plain columns, for a frame of any library: `pandas.DataFrame(pairs.columns())`."""
        return {name: list(map(plain, values)) for name, values in vars(self).items()}


@dataclass(frozen=True, eq=False)
class Annotators:
    """Every annotator against the others: all pairs of one of its answers with another answer to the same item."""

    annotator: list[Hashable]
    answers: NDArray[np.int64]
    compared: NDArray[np.int64]  # pairs of answers
    agreement: Floats
    kappa: Floats  # of the pooled pairs: 0 where it answers as if it did not look

    def __len__(self) -> int:
        return len(self.annotator)

    def columns(self) -> dict[str, list[Any]]:
        """Plain columns, for a frame of any library."""
        return {name: list(map(plain, values)) for name, values in vars(self).items()}


def plain(value: Any) -> Any:
    """A Python value; None for NaN."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and np.isnan(value) else value


def cohen_kappa(blocks: Floats, closeness: Floats) -> tuple[Floats, Floats, Floats]:
    """Observed agreement, kappa and its standard error of tables (pairs, labels, labels).

    The error is that of Fleiss, Cohen and Everitt (1969), which holds for any closeness.

    >>> seen, kappa, error = cohen_kappa(np.array([[[20.0, 5.0], [10.0, 15.0]]]), np.eye(2))
    >>> seen.round(2).tolist(), kappa.round(2).tolist(), error.round(3).tolist()
    ([0.7], [0.4], [0.127])
    """
    n = blocks.sum(axis=(1, 2))
    p = divided(blocks, n[:, None, None])
    rows, cols = p.sum(axis=2), p.sum(axis=1)
    observed = (p * closeness).sum(axis=(1, 2))
    to_cols, to_rows = cols @ closeness.T, rows @ closeness  # mean closeness of each label to the other's labels
    expected = (rows * to_cols).sum(axis=1)
    kappa = divided(observed - expected, 1 - expected)
    pull = (to_cols[:, :, None] + to_rows[:, None, :]) * (1 - kappa)[:, None, None]
    spread = (p * (closeness - pull) ** 2).sum(axis=(1, 2)) - (kappa - expected * (1 - kappa)) ** 2
    return observed, kappa, np.sqrt(np.maximum(divided(spread, n * (1 - expected) ** 2), 0))


def pair_agreement(counts: PairCounts, closeness: Floats, level: float) -> Pairs:
    """Agreement of all pairs; intervals are within -1 and 1."""
    agreement, kappa, error = cohen_kappa(np.asarray(counts.blocks), closeness)
    reach = NormalDist().inv_cdf(0.5 + level / 2) * error
    names = list(counts.annotators)
    return Pairs(
        [names[m] for m in counts.first],
        [names[m] for m in counts.second],
        np.asarray(counts.blocks).sum(axis=(1, 2)).round().astype(np.int64),
        agreement,
        kappa,
        np.maximum(kappa - reach, -1.0),
        np.minimum(kappa + reach, 1.0),
    )


def annotator_agreement(annotations: Annotations, closeness: Floats) -> Annotators:
    """Each annotator against all others who answered the same items."""
    items, weight = distinct_items(annotations)
    met, close, own, others = (_sums_small if items.n_items <= MOST else _sums)(items, weight, closeness)
    row, col = divided(own, met[:, None]), divided(others, met[:, None])
    expected = ((row @ closeness) * col).sum(axis=1)
    observed = divided(close, met)
    answers = np.bincount(items.answer, weights=_spread(items, weight), minlength=closeness.shape[0] * len(met))
    return Annotators(
        items.annotators.to_list(),
        answers.reshape(len(met), -1).sum(axis=1).round().astype(np.int64),
        met.round().astype(np.int64),
        observed,
        divided(observed - expected, 1 - expected),
    )


def _spread(items: Annotations, weight: Floats | None) -> Floats | None:
    return None if weight is None else np.repeat(weight, np.diff(items.offsets))


def _sums(a: Annotations, weight: Floats | None, closeness: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    from covote.kernels.label_sets import annotator_sums

    M, K = a.n_annotators, a.n_classes
    out = np.zeros(M), np.zeros(M), np.zeros((M, K)), np.zeros((M, K))
    annotator_sums(a.offsets, a.answer, np.empty(0) if weight is None else weight, closeness, *out)
    return out


def _sums_small(a: Annotations, weight: Floats | None, closeness: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """The same without compiled code."""
    M, K = a.n_annotators, a.n_classes
    item, who, label = a.item, a.annotator, a.label
    w = np.ones(a.n_items) if weight is None else weight
    counts = sparse.csr_matrix((np.ones(len(item)), (item, label)), shape=(a.n_items, K))
    partners = w[item] * (np.diff(a.offsets)[item] - 1)
    near = np.asarray((counts @ closeness)[item, label]).ravel() - closeness[label, label]
    seen = sparse.csr_matrix((w[item], (who, item)), shape=(M, a.n_items)) @ counts
    own = sparse.csr_matrix((partners, (who, label)), shape=(M, K)).toarray()
    itself = sparse.csr_matrix((w[item], (who, label)), shape=(M, K)).toarray()
    met = np.bincount(who, weights=partners.astype(np.float64), minlength=M)
    close = np.bincount(who, weights=w[item] * near, minlength=M)
    return np.asarray(met), np.asarray(close), own, seen.toarray() - itself
