"""Class order: confusion matrices found up to column permutations in, aligned and named ones out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from math import lgamma

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
    state = _Alignment.begin(found, counts)
    aligned: dict[int, Floats] = {}
    group: list[int] = []
    for _ in found:
        i = state.next()
        if state.trust[i] == 0.0:  # nobody aligned so far shares items with those left: a new group begins
            _name_group(aligned, group)
            group = []
        m = int(state.who[i])
        group.append(m)
        aligned[m] = state.found[i][:, best_order(state.gain[i])]
        state.show_columns(i, aligned[m])
    _name_group(aligned, group)
    return aligned


@dataclass(frozen=True, eq=False)
class _Alignment:
    """What is known on the way: for each matrix found, the agreement of its columns with those aligned."""

    counts: PairCounts
    who: NDArray[np.int64]  # (found,): annotators, in order
    place: NDArray[np.int64]  # (annotators,): position among those found, or -1
    found: Floats  # (found, labels, classes)
    quality: Floats  # (found,): |det A_m|
    gain: Floats  # (found, classes in aligned order, own classes)  # IN and OUT
    trust: Floats  # (found,): weight of the aligned partners seen; -1 once aligned  # IN and OUT

    @classmethod
    def begin(cls, found: Mapping[int, Floats], counts: PairCounts) -> _Alignment:
        who = np.array(sorted(found), dtype=np.int64)
        place = np.full(counts.n_annotators, -1)
        place[who] = np.arange(len(who))
        matrices = np.stack([found[m] for m in who.tolist()])
        quality = np.abs(np.linalg.det(matrices))
        return cls(counts, who, place, matrices, quality, np.zeros_like(matrices), np.zeros(len(who)))

    def next(self) -> int:
        """The annotator with most trust, then of best quality, then the first."""
        best = np.flatnonzero(self.trust == self.trust.max())
        return int(best[np.argmax(self.quality[best])])

    def show_columns(self, i: int, aligned: Floats) -> None:
        """Let the i-th annotator, now aligned, show the columns of all its partners that wait."""
        inverse = np.linalg.pinv(aligned.T, rcond=1e-3)
        self.trust[i] = -1.0
        partners, blocks = self.counts.partners(int(self.who[i]))
        other = self.place[partners]
        waits = (other >= 0) & (self.trust[other] >= 0)
        other, blocks = other[waits], blocks[waits]
        shown = columns(np.maximum(blocks.transpose(0, 2, 1) @ inverse, 0.0))  # (partners, their labels, classes)
        weight = blocks.sum(axis=(1, 2)) * max(float(self.quality[i]), 1e-9)
        distance = np.abs(shown[:, :, :, None] - self.found[other][:, :, None, :]).sum(axis=1)
        self.gain[other] -= weight[:, None, None] * distance
        self.trust[other] += weight


def _name_group(aligned: dict[int, Floats], group: list[int]) -> None:
    if group:
        order = class_names(np.stack([aligned[m] for m in group]))
        aligned.update({m: aligned[m][:, order] for m in group})


def class_names(confusion: Floats, weight: Floats | None = None) -> NDArray[np.intp]:
    """The order of columns under which most annotators who know something say what is true.

    Two candidates. One makes the sum of all diagonals largest: the votes. The other lets each annotator weigh
    |det A_m|^2 (times `weight`), so that spammers, whose matrices are nearly singular, do not decide. They differ where
    most of a crowd mislead, and where a few who know most have a swapped key. The likelier one is kept, when each
    annotator is either skilled or answers anyhow (`_support`); a tie goes to the votes.
    Apply as `confusion[:, :, order]`.
    """
    informed = np.linalg.det(confusion) ** 2 if len(confusion) else np.zeros(0)
    informed = informed if weight is None else informed * weight
    if not np.any(informed > 0):
        informed = np.ones(len(confusion))
    votes = best_order(np.einsum("m,mlk->lk", np.ones(len(confusion)) if weight is None else weight, confusion))
    knowing = best_order(np.einsum("m,mlk->lk", informed, confusion))
    return knowing if _support(confusion, knowing) > _support(confusion, votes) + 1e-9 else votes


_SKILL = 4.0


def _support(confusion: Floats, order: NDArray[np.intp]) -> float:
    """Log-likelihood of an order: columns of the skilled half have density ~ (diagonal entry)^4, others a flat one.

    An annotator that fits no order costs at most log 2, so any number of them cannot outvote one who is always right;
    and one who is always right cannot outvote several who mostly are.
    """
    K = len(order)
    diagonal = confusion[:, np.arange(K), order]  # (annotators, classes)
    constant = lgamma(K + _SKILL) - lgamma(K) - lgamma(1 + _SKILL)
    skilled = (constant + _SKILL * np.log(np.maximum(diagonal, 1e-3))).sum(axis=1)
    return float(np.logaddexp(skilled, 0.0).sum())
