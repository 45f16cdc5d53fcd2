"""MultiSPA (Algorithm 1): pair counts in, a model out, by linear algebra alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covote.counts import PairCounts
from covote.methods.align import align_by_diagonal, align_by_pairs, class_names
from covote.methods.simplex import simplex_least_squares, successive_projection
from covote.model import FLOOR, Fit, Model, Status, columns

Floats = NDArray[np.float64]


def multispa(
    counts: PairCounts,
    *,
    min_partners: int = 7,
    min_answers: float = 0.0,
    align: str = "pairs",
    floor: float = FLOOR,
) -> Fit:
    K = counts.n_classes
    trusted = counts.kept(trusted_blocks(counts))
    found = {}
    for m in range(counts.n_annotators):
        partners, blocks = trusted.partners(m)
        if len(partners) <= min_partners:
            continue
        a = spa_confusion(blocks, min_answers)
        if a is not None:
            found[m] = a
    if align == "pairs":
        aligned = align_by_pairs(found, trusted)
    else:
        aligned = dict(zip(found, align_by_diagonal(np.stack(list(found.values())))))
    who = np.array(sorted(aligned))
    stack = np.stack([aligned[m] for m in who])
    stack = stack[:, :, class_names(stack)]
    prior = estimate_prior(counts, who, stack)
    confusion = complete(counts, who, stack, prior)
    model = Model(prior, columns(confusion, floor), counts.classes, counts.annotators)
    return Fit(model.scores(), model, Status.DIRECT, details={"identified": who})


def trusted_blocks(counts: PairCounts) -> NDArray[np.bool_]:
    return np.linalg.matrix_rank(counts.blocks) == counts.n_classes


def spa_confusion(blocks: Floats, min_answers: float) -> Floats | None:
    K = blocks.shape[1]
    z = blocks.transpose(1, 0, 2).reshape(K, -1)  # (own labels, partners * their labels)
    total = z.sum(axis=0)
    z = z[:, total > min_answers] / total[total > min_answers]
    if z.shape[1] < K:
        return None
    return z[:, successive_projection(z, K)]


def estimate_prior(counts: PairCounts, who, stack) -> Floats:
    K = counts.n_classes
    place = np.full(counts.n_annotators, -1)
    place[who] = np.arange(len(who))
    f, s = place[counts.first], place[counts.second]
    ok = (f >= 0) & (s >= 0)
    w = counts.shared[ok]
    a, b = stack[f[ok]], stack[s[ok]]
    R = counts.blocks[ok] / w[:, None, None]
    gram = np.einsum("p,pik,pil,pjk,pjl->kl", w, a, a, b, b, optimize=True)
    target = np.einsum("p,pij,pik,pjk->k", w, R, a, b, optimize=True)
    return simplex_least_squares(gram / w.sum(), target / w.sum())


def complete(counts, who, stack, prior, sweeps: int = 30) -> Floats:
    K, M = counts.n_classes, counts.n_annotators
    confusion = np.zeros((M, K, K))
    pooled = columns(np.einsum("mlk->lk", stack)[None])[0]
    confusion[:] = pooled
    confusion[who] = stack
    known = np.zeros(M, bool)
    known[who] = True
    for m in np.flatnonzero(~known):
        partners, blocks = counts.partners(m)
        use = known[partners]
        if not use.any():
            continue
        n, others = blocks[use], confusion[partners[use]]  # (T, K, K)
        a = pooled.copy()
        for _ in range(sweeps):
            joint = a[None, :, None, :] * others[:, None, :, :] * prior  # (T, own, theirs, class)
            joint /= np.maximum(joint.sum(axis=3, keepdims=True), 1e-300)
            a = columns((np.einsum("tij,tijk->ik", n, joint) + 1.0 * pooled)[None])[0]
        confusion[m] = a
    return confusion
