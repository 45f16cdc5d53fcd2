"""Theorem 1, annotator by annotator: pair counts and a model in, how near MultiSPA's condition is met out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.counts import PairCounts
from covote.diagnosis.calculators import anchor_bound
from covote.methods.trust import trusted_blocks
from covote.model import Model

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Anchors:
    """The quantities of Theorem 1 for one annotator; from `partners` on, for the partners with the best bound."""

    annotator: Any
    epsilon: float  # how far the best of all trusted partners is from an anchor for the worst class: 0 perfect, 1 none
    worst_class: Any  # the class that no partner singles out
    kappa: float  # condition number of A_m
    sigma_max: float  # largest singular value of A_m
    partners: int  # trusted partners the bound uses
    shared: float  # S: fewest items shared with one of them
    eta: float  # least share of a label among those items
    error_bound: float  # on the columns of A_m; above sqrt(2) it says nothing
    holds: bool  # whether epsilon is within what the theorem admits


def anchors(counts: PairCounts, model: Model, *, failure: float = 0.05) -> tuple[Anchors, ...]:
    """The numbers of Theorem 1 for every annotator with a trusted partner (a block of full rank).

    Partners are added from the thickest block on and the prefix with the least bound is kept: thin blocks lower S
    and eta, knowing ones lower epsilon.
    """
    trusted = counts.kept(trusted_blocks(counts))
    purity = _purity(model.confusion)
    found = []
    for m in range(counts.n_annotators):
        partners, blocks = trusted.partners(m)
        if len(partners):
            found.append(_one(m, partners, blocks, purity, model, failure))
    return tuple(found)


def _purity(confusion: Floats) -> Floats:
    """Pr(label k given class k) over the sum of row k: (annotators, classes); 1 makes an anchor, Eq. (thm1)."""
    rows = confusion.sum(axis=2)
    return np.asarray(np.einsum("mkk->mk", confusion) / np.maximum(rows, 1e-300))


def _one(m: int, partners: NDArray[np.int64], blocks: Floats, purity: Floats, model: Model, failure: float) -> Anchors:
    K = model.n_classes
    shared = blocks.sum(axis=(1, 2))
    order = np.argsort(-shared, kind="stable")
    missing = np.minimum.accumulate(1 - purity[partners[order]], axis=0)  # (partners, classes)
    label_share = (blocks.sum(axis=1) / shared[:, None]).min(axis=1)[order]
    eta = np.minimum.accumulate(label_share)
    values = np.linalg.svd(model.confusion[m], compute_uv=False)
    kappa = float(values[0] / max(values[-1], 1e-300))
    bounds = [
        anchor_bound(
            epsilon=float(missing[t].max()),
            kappa=kappa,
            sigma_max=float(values[0]),
            shared=float(shared[order[t]]),
            eta=float(eta[t]),
            n_classes=K,
            failure=failure,
        )
        for t in _prefixes(len(order))
    ]
    best = int(np.argmin([b.error for b in bounds]))
    t = _prefixes(len(order))[best]
    return Anchors(
        annotator=model.annotators[m],
        epsilon=float(missing[-1].max()),
        worst_class=model.classes[int(missing[-1].argmax())],
        kappa=kappa,
        sigma_max=float(values[0]),
        partners=t + 1,
        shared=float(shared[order[t]]),
        eta=float(eta[t]),
        error_bound=bounds[best].error,
        holds=bounds[best].holds,
    )


def _prefixes(n: int) -> list[int]:
    """Last positions of the prefixes to try: all of few, some of many."""
    return sorted({int(t) for t in np.linspace(0, n - 1, min(n, 24))})
