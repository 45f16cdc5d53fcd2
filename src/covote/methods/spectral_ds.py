"""Spectral-D&S: group moments in, a start for EM and then the Dawid-Skene model out.

Y. Zhang, X. Chen, D. Zhou, M. Jordan, "Spectral methods meet EM: a provably optimal algorithm for crowdsourcing",
NIPS 2014 and JMLR 2016, Algorithms 1 and 2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from covote.counts import PairCounts
from covote.engines.base import Engine, Moments
from covote.methods.dawid_skene import dawid_skene, majority_start
from covote.methods.naming import name_order
from covote.methods.shrinkage import Shrinkage
from covote.methods.tensor_power import tensor_power
from covote.model import FLOOR, Fit, Model, Progress, Status, columns, normalised

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SINGULAR = 1e-6
"""A second moment whose smallest singular value is below this share of its largest shows fewer than K classes."""

_TRIES = 4
"""Groupings tried for each one wanted: with few classes told apart well, many have a moment that is not positive."""

_TRIAL = 12
"""EM passes after which starts are compared."""

_SWEEPS = 30


def spectral_ds(
    engine: Engine,
    *,
    groupings: int = 10,
    seed: int = 0,
    floor: float = FLOOR,
    shrinkage: Shrinkage | None = None,
    max_iter: int = 500,
    tol: float = 1e-8,
    progress: Progress | None = None,
) -> Fit:
    """EM from the moments of three groups of annotators.

    The annotators are cut into three groups at random; means of one-hot answers Z_0, Z_1, Z_2 of the groups have
    E[Z_a Z_b^T] = C_a W C_b^T and E[Z_0 x Z_1 x Z_2] = sum_h w_h c_0h x c_1h x c_2h. Moving two of the views to the
    third, whitening and the tensor power method give C and W (Algorithm 1); the matrix of each annotator then fits
    its co-occurrences with the two groups it is not in. One grouping may be unlucky: of `groupings` of them, the start
    that a few EM passes carry to the greatest likelihood is run to the end (Algorithm 2). Entries below `floor` are
    raised to it. Where every grouping has a singular moment, EM starts from vote shares and the status says so.
    `shrinkage` steadies EM (default: one pseudo-answer on the diagonal, K uninformative ones).
    """
    K = len(engine.classes)
    steady = shrinkage if shrinkage is not None else Shrinkage(diagonal=1.0, own=float(K))
    starts = spectral_starts(engine, groupings, np.random.default_rng(seed)) if K > 1 else []
    trials = [
        dawid_skene(engine, named(engine, start).floored(floor), shrinkage=steady, max_iter=_TRIAL) for start in starts
    ]
    best = max(trials, key=lambda fit: fit.history[-1]).model if trials else None
    start = best if best is not None else majority_start(engine, shrinkage=steady)
    fit = dawid_skene(engine, start.floored(floor), shrinkage=steady, max_iter=max_iter, tol=tol, progress=progress)
    details = {**fit.details, "starts": len(starts)}
    if K > 1 and not starts:
        return replace(fit, status=Status.FALLBACK, notes=(SINGULAR_NOTE,), details=details)
    assert fit.model is not None
    # gold items have named the classes during EM; else its informative annotators do
    model = fit.model if engine.has_gold else named(engine, fit.model)
    return replace(fit, model=model, scores=model.scores(), details=details)


SINGULAR_NOTE = (
    "The moments of annotator groups are singular (too few annotators, shared items or classes in use): EM started "
    "from vote shares."
)


def named(engine: Engine, model: Model) -> Model:
    """The model with its classes named by the informative annotators, as their soft counts show them."""
    return model.permuted(name_order(engine.expected_counts(model.floored().scores()).confusion))


def spectral_starts(engine: Engine, groupings: int, rng: np.random.Generator) -> list[Model]:
    """One model for every random grouping whose moments are not singular, classes in an arbitrary order each."""
    counts = engine.pair_counts()
    if counts.n_annotators < 3:
        return []
    found: list[Model] = []
    for _ in range(_TRIES * groupings):
        if len(found) == groupings:
            break
        groups = _random_groups(counts.label_counts.sum(axis=1), rng)
        parts = group_model(engine.group_moments(groups), rng)
        if parts is not None:
            found.append(annotator_model(counts, groups, parts))
    return found


def _random_groups(answers: Floats, rng: np.random.Generator) -> Ints:
    """Three groups of annotators at random with about a third of the answers each, none empty."""
    order = rng.permutation(len(answers))
    share = (np.cumsum(answers[order]) - answers[order] / 2) / max(float(answers.sum()), 1e-300)
    groups = np.empty(len(answers), np.int64)
    groups[order] = np.clip((3 * share).astype(np.int64), 0, 2)
    for g in np.setdiff1d(np.arange(3), groups):  # one annotator outweighs a group: hand over from the largest
        groups[np.flatnonzero(groups == np.bincount(groups).argmax())[0]] = g
    return groups


@dataclass(frozen=True, eq=False)
class GroupModel:
    """Confusions (3, K, K) of the groups' mean answers and the prior (K,)."""

    confusion: Floats
    prior: Floats


def group_model(moments: Moments, rng: np.random.Generator) -> GroupModel | None:
    """Algorithm 1 with each group in turn as the third view: the one whose model fits the third moment best."""
    if moments.triple_items <= 0 or np.any(moments.pair_items <= 0):
        return None
    pairs = moments.pairs / moments.pair_items[:, None, None]
    second = {(0, 1): pairs[0], (0, 2): pairs[1], (1, 2): pairs[2]}
    second.update({(b, a): m.T for (a, b), m in list(second.items())})
    sizes = np.array([np.linalg.svd(m, compute_uv=False) for m in pairs])
    if np.any(sizes[:, -1] < _SINGULAR * sizes[:, 0]):
        return None
    third = moments.triple / moments.triple_items
    options = [_from_view(second, third, c, rng) for c in range(3)]
    fits = [(_misfit(third, o), o) for o in options if o is not None]
    return min(fits, key=lambda f: f[0])[1] if fits else None


def _from_view(
    second: dict[tuple[int, int], Floats], third: Floats, c: int, rng: np.random.Generator
) -> GroupModel | None:
    """Views a and b moved to c by B_a = M_cb M_ab^-1, then M2 = sum w c_h c_h^T and M3 = sum w c_h x c_h x c_h."""
    a, b = (g for g in range(3) if g != c)
    move_a = second[c, b] @ np.linalg.inv(second[a, b])
    move_b = second[c, a] @ np.linalg.inv(second[b, a])
    m2 = move_a @ second[a, b] @ move_b.T
    m3 = np.einsum("ia,jb,abk->ijk", move_a, move_b, np.moveaxis(third, (a, b, c), (0, 1, 2)))
    values, vectors = np.linalg.eigh((m2 + m2.T) / 2)
    if values[0] < _SINGULAR * values[-1]:
        return None
    whiten, colour = vectors * values**-0.5, vectors * values**0.5
    white = np.einsum("ijk,ia,jb,kc->abc", m3, whiten, whiten, whiten)
    size, direction = tensor_power(_symmetric(white), rng)
    if np.any(size <= _SINGULAR):
        return None
    prior = normalised(size**-2)
    confusion = np.empty((3, *m2.shape))
    confusion[c] = columns(np.maximum((colour @ direction) * size, FLOOR))
    for g in (a, b):  # M_gc = C_g W C_c^T
        shown = second[g, c] @ np.linalg.pinv((confusion[c] * prior).T, rcond=_SINGULAR)
        confusion[g] = columns(np.maximum(shown, FLOOR))
    return GroupModel(confusion, prior)


def _symmetric(t: Floats) -> Floats:
    from itertools import permutations

    return np.asarray(sum(np.transpose(t, p) for p in permutations(range(3))) / 6)


def _misfit(third: Floats, parts: GroupModel) -> float:
    return float(((third - np.einsum("h,ih,jh,kh->ijk", parts.prior, *parts.confusion)) ** 2).sum())


def annotator_model(counts: PairCounts, groups: Ints, parts: GroupModel) -> Model:
    """Matrices of annotators from their co-occurrences with the groups they are not in, given the groups' model."""
    from covote.kernels import pairs

    M, K = counts.n_annotators, counts.n_classes
    met = np.zeros((M, 3, K, K))  # own label, label of somebody in the group
    np.add.at(met, (counts.first, groups[counts.second]), counts.blocks)
    np.add.at(met, (counts.second, groups[counts.first]), counts.blocks.transpose(0, 2, 1))
    met[np.arange(M), groups] = 0.0
    answers, total = counts.label_counts.sum(axis=1), met.sum(axis=(1, 2, 3))
    met *= (answers / np.where(total > 0, total, 1.0))[:, None, None, None]  # an answer counts once, not once a pair
    pseudo = Shrinkage(own=float((K - 1) ** 2)).counts(counts.label_counts)
    confusion = np.full((M, K, K), 1 / K)
    for m in range(M):
        pairs.solve_one(met[m], parts.confusion, parts.prior, pseudo[m], _SWEEPS, confusion[m])
    return Model(parts.prior, columns(confusion), counts.classes, counts.annotators)
