"""TensorADMM: second and third moments of annotators in, the Dawid-Skene model that fits them all out.

P. Traganitis, A. Pages-Zamora, G. Giannakis, "Blind multiclass ensemble classification", IEEE Transactions on Signal
Processing 2018.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covote.counts import PairCounts
from covote.engines.base import Engine
from covote.methods.dawid_skene import majority_start
from covote.methods.loop import iterate
from covote.methods.parameters import Parameters
from covote.methods.shrinkage import Shrinkage
from covote.methods.spectral_ds import named, spectral_starts
from covote.methods.triples import choose_triples
from covote.model import FLOOR, Fit, Progress

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_TRIAL = 10
"""Sweeps after which starts are compared."""

_CELLS = 1_500_000
"""Numbers kept in third moments at most, unless the option says otherwise."""


def tensor_admm(
    engine: Engine,
    *,
    triples: int | None = None,
    starts: int = 3,
    smoothing: float | None = None,
    seed: int = 0,
    floor: float = FLOOR,
    max_iter: int = 300,
    tol: float = 1e-7,
    accelerate: bool = True,
    progress: Progress | None = None,
) -> Fit:
    """Coupled factorisation of annotator moments within the simplex.

    Minimise half the sum over triples of n |Psi_{mlq} - sum_k d_k a_mk x a_lk x a_qk|^2 and over pairs of
    n |R_{ml} - A_m D A_l^T|^2, n the items shared, over column-stochastic A_m and a probability vector d. The matrices
    take turns, each a quadratic problem on the simplex solved by ADMM; the history (without the constant of the
    moments alone) falls monotonically. All triples count where K^3 times their number is below 1.5 million (or
    `triples` says how many); else those of `choose_triples`. Starts are vote shares and `starts` random groupings
    (`spectral_starts`); the one of least misfit after a few sweeps is run on.

    `smoothing` (default K) draws each matrix towards "uninformative" with the weight of that many answers: without
    it, annotators of three answers are fitted to noise. Labels are maximum a posteriori.
    """
    K, M = len(engine.classes), len(engine.annotators)
    if K < 2:
        model = majority_start(engine)
        return Fit(model.scores(), model)
    counts = engine.pair_counts()
    chosen = choose_triples(counts, _CELLS // K**3 if triples is None else triples)
    problem = _problem(counts, chosen, engine.triple_moments(chosen), float(K) if smoothing is None else smoothing)
    layout = Parameters(M, K)
    begin = majority_start(engine)
    candidates = [begin, *spectral_starts(engine, starts, np.random.default_rng(seed))]
    trials = [iterate(problem.step, layout.pack(c.prior, c.confusion), max_iter=_TRIAL, tol=tol) for c in candidates]
    best = max(trials, key=lambda trial: trial.history[-1])
    run = iterate(
        problem.step,
        best.state,
        max_iter=max_iter,
        tol=tol,
        project=layout.project if accelerate else None,
        progress=progress,
    )
    model = named(engine, layout.model(run.state, begin))
    history = tuple(-h for h in run.history)
    return Fit(model.floored(floor).scores(), model, run.status, history, details={"triples": len(chosen)})


@dataclass(frozen=True, eq=False)
class _Problem:
    """Counts (moments times their weights), who is in which, and the pull of each matrix towards uninformative."""

    triples: Ints  # (T, 3)
    cubes: Floats  # (T, K, K, K)
    pairs: Ints  # (P, 2)
    blocks: Floats  # (P, K, K)
    starts: Ints  # (M + 1,)
    member: Ints  # (3 T + 2 P,): moments by annotator
    pull: Floats  # (M,)
    goal: Floats  # (M, K)

    def step(self, state: Floats) -> tuple[Floats, float]:
        from covote.kernels import tensors

        layout = Parameters(*self.goal.shape)
        prior, confusion = (np.ascontiguousarray(x) for x in layout.unpack(state.copy()))
        value = tensors.coupled_misfit(self.triples, self.cubes, self.pairs, self.blocks, prior, confusion)
        value += 0.5 * float(self.pull @ ((confusion - self.goal[:, :, None]) ** 2).sum(axis=(1, 2)))
        tensors.coupled_sweep(
            self.triples,
            self.cubes,
            self.pairs,
            self.blocks,
            self.starts,
            self.member,
            self.pull,
            self.goal,
            prior,
            confusion,
        )
        return layout.pack(prior, confusion), -value


def _problem(counts: PairCounts, triples: Ints, cubes: Floats, smoothing: float) -> _Problem:
    M, K = counts.n_annotators, counts.n_classes
    pairs = np.stack([counts.first, counts.second], axis=1)
    who = np.concatenate([triples.ravel(), pairs.ravel()])
    member = np.argsort(who, kind="stable").astype(np.int64)
    starts = np.searchsorted(who[member], np.arange(M + 1)).astype(np.int64)
    met = np.concatenate([np.repeat(cubes.sum(axis=(1, 2, 3)), 3), np.repeat(counts.shared, 2)])
    answers = np.maximum(counts.label_counts.sum(axis=1), 1.0)
    # an answer that meets others n times adds about n / K^2 to the quadratic form of its annotator (even classes)
    pull = smoothing * np.bincount(who, met, minlength=M) / answers / K**2
    goal = Shrinkage(own=1.0).counts(counts.label_counts)[:, :, 0]
    goal = goal / goal.sum(axis=1, keepdims=True)
    return _Problem(triples, cubes, pairs, np.ascontiguousarray(counts.blocks), starts, member, pull, goal)
