"""Class order: confusion matrices found up to column permutations in, aligned and named ones out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from covote.counts import PairCounts
from covote.model import columns

Floats = NDArray[np.float64]

_FEW = 5


def best_order(gain: Floats) -> NDArray[np.intp]:
    """`order` that maximises the sum of gain[k, order[k]] (Hungarian method).

    >>> best_order(np.array([[0.1, 0.9], [0.8, 0.3]])).tolist()
    [1, 0]
    """
    if len(gain) <= _FEW:  # trying all orders is quicker than importing the solver
        orders = _all_orders(len(gain))
        return np.asarray(orders[np.argmax(gain[np.arange(len(gain)), orders].sum(axis=1))])
    from scipy.optimize import linear_sum_assignment

    return np.asarray(linear_sum_assignment(gain, maximize=True)[1])


@cache
def _all_orders(n: int) -> NDArray[np.intp]:
    return np.array(list(permutations(range(n))), dtype=np.intp).reshape(-1, n)


def align_by_diagonal(found: Mapping[int, Floats]) -> dict[int, Floats]:
    """The cheap alternative: reorder the columns of each matrix so that its own diagonal is as large as can be."""
    return {m: a[:, best_order(a)] for m, a in found.items()}


def align_by_pairs(found: Mapping[int, Floats], counts: PairCounts) -> dict[int, Floats]:
    """Bring the columns of all `found` matrices into one order through the blocks R_{m,l}, then name the classes.

    From R_{l,m} = A_l D A_m^T follows A_l D = R_{l,m} A_m^{-T}: an aligned annotator m shows the columns of l in its
    own order, and the Hungarian method matches them with those found ("Estimation of Prior Probability Vector").
    All aligned partners vote, weighted by shared items and by |det A_m|; the annotator with most votes is aligned
    next. Each group that no path connects to the others is aligned and named on its own (`class_names`).
    """
    quality = {m: abs(float(np.linalg.det(a))) for m, a in found.items()}
    gain = {m: np.zeros_like(a) for m, a in found.items()}
    trust = dict.fromkeys(found, 0.0)
    aligned: dict[int, Floats] = {}
    group: list[int] = []
    while len(aligned) < len(found):
        waiting = [m for m in found if m not in aligned]
        m = max(waiting, key=lambda m: (trust[m], quality[m], -m))
        if trust[m] == 0.0:  # nobody aligned so far shares items with those left: a new group begins
            _name_group(aligned, group)
            group = []
        group.append(m)
        aligned[m] = found[m][:, best_order(gain[m])]
        _show_columns(m, aligned, found, counts, quality[m], gain, trust)
    _name_group(aligned, group)
    return aligned


def _show_columns(
    m: int,
    aligned: Mapping[int, Floats],
    found: Mapping[int, Floats],
    counts: PairCounts,
    quality: float,
    gain: dict[int, Floats],  # IN and OUT: agreement of columns, by annotator
    trust: dict[int, float],  # IN and OUT
) -> None:
    inverse = np.linalg.pinv(aligned[m].T, rcond=1e-3)
    partners, blocks = counts.partners(m)
    for other, block in zip(partners.tolist(), blocks, strict=True):
        if other in found and other not in aligned:
            shown = columns(np.maximum(block.T @ inverse, 0.0))  # (labels of other, classes in aligned order)
            weight = float(block.sum()) * max(quality, 1e-9)
            gain[other] -= weight * np.abs(shown[:, :, None] - found[other][:, None, :]).sum(axis=0)
            trust[other] += weight


def _name_group(aligned: dict[int, Floats], group: list[int]) -> None:
    if group:
        order = class_names(np.stack([aligned[m] for m in group]))
        aligned.update({m: aligned[m][:, order] for m in group})


def class_names(confusion: Floats, weight: Floats | None = None) -> NDArray[np.intp]:
    """The order of columns that makes the informative annotators most nearly diagonal.

    Each annotator weighs |det A_m|^2 (times `weight`), so that spammers, whose matrices are nearly singular, do not
    decide what the classes are called. Apply as `confusion[:, :, order]`.
    """
    informed = np.linalg.det(confusion) ** 2 if len(confusion) else np.zeros(0)
    informed = informed if weight is None else informed * weight
    if not np.any(informed > 0):
        informed = np.ones(len(confusion))
    return best_order(np.einsum("m,mlk->lk", informed, confusion))
