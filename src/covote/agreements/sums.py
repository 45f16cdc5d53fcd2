"""A tally and a scale in; sums over items, from which all coefficients follow, of all or of redrawn items, out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from covote.agreements.scales import Scale
from covote.agreements.tally import MOST, Tally

Floats = NDArray[np.float64]

_BLOCK = 2**22
"""Numbers held at a time where rows of counts meet a table of closeness."""


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over items; leading axes are those of redrawn crowds. An item with two answers or more is pairable."""

    items: Floats  # (...): items with an answer
    pairable: Floats  # (...)
    same: Floats  # (...): over pairable items, the share of pairs of answers that are the same
    close: Floats  # (...): the same with closeness in place of sameness
    apart: Floats  # (...): distance of the pairs of answers of each pairable item, for one partner of each answer
    shares: Floats  # (..., labels): share of each label among the answers of an item
    answers: Floats  # (..., labels): answers to pairable items
    repeated: Floats  # (..., labels): share of an answer's partners who gave the same label, over answers


_SCALARS = 5


def item_sums(tally: Tally, scale: Scale) -> Any:
    """What one item of each row adds to the sums: sparse (rows, 5 + 3 labels)."""
    counts, n = tally.counts, tally.answers
    paired = n >= 2
    per_answer = np.where(paired, 1 / np.maximum(n - 1, 1), 0.0)
    per_pair = per_answer / np.maximum(n, 1)
    squares = np.asarray(counts.multiply(counts).sum(axis=1), dtype=np.float64).ravel()
    same = squares - n
    close = same if scale.weights == "identity" else _quadratic(counts, scale.closeness) - n
    apart = n**2 - squares if scale.name == "nominal" else _quadratic(counts, scale.distance)
    scalars = np.stack([n > 0, paired, same * per_pair, close * per_pair, apart * per_answer], axis=1)
    again = counts.multiply(counts) - counts
    return sparse.hstack(
        [
            sparse.csr_matrix(scalars.astype(np.float64)),
            sparse.diags(1 / np.maximum(n, 1)) @ counts,
            sparse.diags(paired.astype(np.float64)) @ counts,
            sparse.diags(per_answer) @ again,
        ],
        format="csr",
    )


def total(tally: Tally, parts: Any) -> Sums:
    """The sums over all items; `parts` are those of `item_sums`."""
    return _named(parts.T @ tally.weight)


def redrawn(tally: Tally, parts: Any, draws: int, rng: np.random.Generator) -> Sums:
    """Sums of `draws` crowds of items drawn from these with replacement.

    Where rows are many, items are dealt at random into groups, and groups are redrawn: their spread is the same.
    """
    weight = tally.weight
    if len(weight) > MOST:
        row = np.repeat(np.arange(len(weight)), weight.astype(np.int64))
        group = rng.permutation(len(row)) % MOST
        dealt = sparse.csr_matrix((np.ones(len(row)), (group, row)), shape=(MOST, len(weight)))
        parts, weight = dealt @ parts, np.ones(MOST)
    n = round(weight.sum())
    drawn = rng.multinomial(n, weight / weight.sum(), size=draws)
    return _named(np.asarray((parts.T @ drawn.T.astype(np.float64)).T))


def _named(sums: Floats) -> Sums:
    items, pairable, same, close, apart = (sums[..., i] for i in range(_SCALARS))
    labels = sums[..., _SCALARS:]
    K = labels.shape[-1] // 3
    shares, answers, repeated = labels[..., :K], labels[..., K : 2 * K], labels[..., 2 * K :]
    return Sums(items, pairable, same, close, apart, shares, answers, repeated)


def _quadratic(counts: Any, table: Floats) -> Floats:
    """Row by row, counts^T table counts."""
    step = max(_BLOCK // max(counts.shape[1], 1), 1)
    parts = []
    for start in range(0, counts.shape[0], step):
        rows = counts[start : start + step]
        parts.append(np.asarray(rows.multiply(rows @ table).sum(axis=1), dtype=np.float64).ravel())
    return np.concatenate(parts) if parts else np.zeros(0)
