"""MultiSPA-KL (Algorithm 2): pair counts and a start in, the model of least coupled KL divergence out."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from covote.counts import PairCounts
from covote.methods.loop import iterate
from covote.methods.pair_sweeps import expected_pairs, pooled_sweep
from covote.methods.parameters import Parameters
from covote.methods.pooling import Pooling, cautious, pooled_crowd
from covote.methods.shrinkage import Shrinkage
from covote.methods.trust import trusted_blocks
from covote.model import FLOOR, Fit, Model, Progress, Status, columns, normalised

Floats = NDArray[np.float64]
Weighting = Literal["equal", "shared"]


def multispa_kl(
    counts: PairCounts,
    start: Model,
    *,
    weighting: Weighting = "equal",
    shrinkage: Shrinkage | None = None,
    floor: float = FLOOR,
    max_iter: int = 5000,
    tol: float = 1e-13,
    accelerate: bool = True,
    progress: Progress | None = None,
) -> Fit:
    """Minimise the mean over pairs of KL(R_{m,l} || A_m D A_l^T), Eq. (KL), from `start`.

    Each sweep is the EM step of the pairwise likelihood: with q(k | i, j) = d(k) A_m(i, k) A_l(j, k) / R(i, j), it
    sets A_m(i, k) and d(k) to the expected counts and normalises. It never raises the objective; pairs of sweeps are
    extrapolated (SQUAREM) under the same guarantee. `shrinkage` adds pseudo-answers (default: `thin_only`), which
    keeps thin annotators from being fitted to noise; `Shrinkage()` is the paper's objective.
    Only blocks of full rank count, as in the paper; annotators without one keep their start.
    """
    from covote.kernels import pairs

    K = counts.n_classes
    kept = counts.kept(trusted_blocks(counts))
    layout = Parameters(counts.n_annotators, K)
    weight, reach = _weights(kept, weighting)
    pseudo = (shrinkage or thin_only(K)).counts(counts.label_counts) * reach[:, None, None]
    alone = reach == 0
    offset = _negative_entropy(kept, weight)

    def step(x: Floats) -> tuple[Floats, float]:
        prior, confusion = layout.unpack(x)
        soft, mass = np.zeros_like(confusion), np.zeros(K)
        value = pairs.kl_pass(kept.first, kept.second, kept.blocks, weight, prior, confusion, soft, mass)
        value += _penalty(pseudo, confusion) - offset
        new = columns(soft + pseudo)
        new[alone] = confusion[alone]
        return layout.pack(normalised(mass) if len(weight) else prior, new), value

    begin = start.floored(floor)
    run = iterate(
        step,
        layout.pack(begin.prior, begin.confusion),
        max_iter=max_iter,
        tol=tol,
        project=layout.project if accelerate else None,
        progress=progress,
    )
    model = layout.model(run.state, start)
    return Fit(model.floored(floor).scores(), model, run.status, tuple(-h for h in run.history))


def pooled_kl(
    counts: PairCounts,
    start: Model,
    pooling: Pooling,
    *,
    max_iter: int = 5000,
    floor: float = FLOOR,
    progress: Progress | None = None,
) -> Fit:
    """A few sweeps of the same fit in which annotators borrow from the crowd, for crowds of people who answer little.

    Pairs count by the items they share, every matrix is pulled towards the mean one in each sweep, and the last step
    is `cautious`. The history holds the paper's objective with these weights at every sweep.
    """
    weight, _ = _weights(counts, "shared")
    offset, scale = _negative_entropy(counts, weight), 1 / max(float(counts.shared.sum()), 1e-300)
    model, history = start, []
    rounds = min(pooling.rounds, max_iter)
    for used in range(rounds + 1):
        expected = expected_pairs(counts, model)
        history.append(offset - scale * expected.log_likelihood)
        if progress is not None:
            progress(used, rounds, history[-1])
        if used < rounds:
            model = pooled_sweep(model, expected, pooling)
    model = cautious(model, expected.confusion, counts.n_items, pooled_crowd(counts), pooling)
    status = Status.PLANNED if rounds == pooling.rounds else Status.LIMIT
    return Fit(model.floored(floor).scores(), model, status, tuple(history))


def thin_only(n_classes: int) -> Shrinkage:
    """2K uninformative pseudo-answers per class, half as many for an annotator of 100 answers, few for one of 1000.

    A tenth of an answer on the diagonal keeps a crowd of a few answers each from being called uninformative in all.
    """
    return Shrinkage(own=2.0 * n_classes, diagonal=0.1, fade=100.0)


def kl_objective(counts: PairCounts, model: Model, weighting: Weighting = "equal") -> float:
    """The objective of Eq. (KL) without shrinkage: weighted mean over pairs of KL(R_{m,l} || A_m D A_l^T)."""
    from covote.kernels import pairs

    weight, _ = _weights(counts, weighting)
    scratch, mass = np.zeros_like(model.confusion), np.zeros(model.n_classes)
    value = pairs.kl_pass(
        counts.first, counts.second, counts.blocks, weight, model.prior, model.confusion, scratch, mass
    )
    return _negative_entropy(counts, weight) - float(value)


def _weights(counts: PairCounts, weighting: Weighting) -> tuple[Floats, Floats]:
    """Factor of each pair's counts (pairs,), summing to 1 over counts, and weight per answer of each annotator (M,)."""
    weight = 1 / np.maximum(counts.shared, 1e-300) if weighting == "equal" else np.ones(counts.n_pairs)
    weight = weight / max(float(weight @ counts.shared), 1e-300)
    reach = np.zeros(counts.n_annotators)
    np.add.at(reach, counts.first, weight * counts.shared)
    np.add.at(reach, counts.second, weight * counts.shared)
    return weight, reach / np.maximum(counts.label_counts.sum(axis=1), 1e-300)


def _negative_entropy(counts: PairCounts, weight: Floats) -> float:
    share = counts.blocks / np.maximum(counts.shared, 1e-300)[:, None, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(share > 0, counts.blocks * np.log(share), 0.0).sum(axis=(1, 2))
    return float(weight @ terms)


def _penalty(pseudo: Floats, confusion: Floats) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(pseudo > 0, pseudo * np.log(confusion), 0.0).sum())
