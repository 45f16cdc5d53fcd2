"""The paper's three methods and their relatives as estimators."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from covote.counts import PairCounts
from covote.engines.base import Engine
from covote.estimators.base import Aggregator
from covote.estimators.streams import CountsAggregator
from covote.methods.dawid_skene import SAFE, Prior, dawid_skene, majority_start, pooled_dawid_skene
from covote.methods.majority_vote import majority_vote
from covote.methods.multispa import POOLING, Align, chosen_start, multispa
from covote.methods.multispa_kl import Weighting, multispa_kl, pooled_kl
from covote.methods.pooling import pooled_crowd
from covote.methods.shrinkage import Shrinkage
from covote.model import FLOOR, Fit, Model, Progress


@dataclass(kw_only=True, eq=False)
class MajorityVote(Aggregator):
    """Every answer one vote. Tied classes share the probability; the label chosen among them is the one with most
    votes in the whole crowd, then the first in class order.

    >>> votes = [("x", "ann", "cat"), ("x", "bob", "cat"), ("x", "eve", "dog"), ("y", "ann", "dog")]
    >>> MajorityVote().fit_predict(votes)
    {'x': 'cat', 'y': 'dog'}
    """

    def _run(self, engine: Engine, progress: Progress | None) -> Fit:
        del progress
        return majority_vote(engine)


@dataclass(kw_only=True, eq=False)
class MultiSPA(CountsAggregator):
    """Algorithm 1 of the paper: the model from pairwise co-occurrences by linear algebra."""

    align: Align = "pairs"
    """How annotators are brought into one class order: through shared items, or each to its own diagonal."""
    solve_again: bool = True
    """Solve every matrix once more from all its blocks."""
    pooling: bool = True
    """Let annotators of few answers borrow from the crowd, and start from it where blocks are too thin for SPA.
    With `solve_again` and this False, the method is Algorithm 1 to the letter."""
    prior: Prior = "estimated"
    """Label with the estimated class prior (MAP) or a uniform one (ML)."""
    floor: float = FLOOR
    """Delta: smaller probabilities are raised to it before labelling."""

    def _run_counts(self, counts: PairCounts, progress: Progress | None) -> Fit:
        del progress
        fit = multispa(
            counts,
            align=self.align,
            solve_again=self.solve_again,
            floor=self.floor,
            pooling=POOLING if self.pooling else None,
        )
        return labelled(fit, self.prior, self.floor)


@dataclass(kw_only=True, eq=False)
class MultiSPAKL(CountsAggregator):
    """Algorithm 2 of the paper: the model that fits all co-occurrences best in Kullback-Leibler divergence."""

    init: Literal["multispa"] | Model = "multispa"
    """Where the fit starts: MultiSPA, or any model given."""
    smoothing: float | None = None
    """None: annotators of few answers borrow from the crowd, in 22 sweeps. A number: the paper's criterion with
    that many uninformative pseudo-answers per class, until it falls no more; 0 is the criterion itself."""
    weighting: Weighting = "equal"
    """With `smoothing`: pairs count alike (the paper) or by the number of items they share."""
    prior: Prior = "estimated"
    """Label with the estimated class prior (MAP) or a uniform one (ML)."""
    floor: float = FLOOR
    """Delta: smaller probabilities of the start are raised to it."""
    max_iter: int = 5000
    """Most sweeps over the pairs."""
    tol: float = 1e-13
    """With `smoothing`: stop when a sweep lowers the objective by less than this."""
    accelerate: bool = True
    """With `smoothing`: extrapolate pairs of sweeps; the objective falls monotonically either way."""

    def _run_counts(self, counts: PairCounts, progress: Progress | None) -> Fit:
        start = chosen_start(counts, pooled_crowd(counts))
        model = self.init if isinstance(self.init, Model) else start.model
        assert model is not None
        if start.details["start"] == "votes" and self.smoothing is None:
            return labelled(start, self.prior, self.floor)
        if self.smoothing is None:
            fit = pooled_kl(counts, model, POOLING, max_iter=self.max_iter, floor=self.floor, progress=progress)
        else:
            fit = multispa_kl(
                counts,
                model,
                weighting=self.weighting,
                shrinkage=Shrinkage(own=self.smoothing),
                floor=self.floor,
                max_iter=self.max_iter,
                tol=self.tol,
                accelerate=self.accelerate,
                progress=progress,
            )
        return replace(labelled(fit, self.prior, self.floor), notes=start.notes, details=start.details)


@dataclass(kw_only=True, eq=False)
class DawidSkene(Aggregator):
    """Expectation maximisation for the Dawid-Skene model, with a choice of start.

    `multispa-ds` and `mv-ds` are settings of it.
    """

    takes_history = True

    init: Literal["majority", "multispa", "multispa-kl"] | Model = "multispa"
    """Where EM starts: vote shares, one of the co-occurrence methods, or any model given."""
    smoothing: float | None = None
    """None: annotators of few answers borrow from the crowd, in 22 rounds. A number: that many pseudo-answers in
    every cell of every confusion matrix, until the likelihood rises no more; 0 for plain maximum likelihood."""
    diagonal: float = 3.0
    """With `smoothing`: further pseudo-answers where label and class agree: annotators are believed to be better than
    chance."""
    prior: Prior = "estimated"
    """Class prior: estimated, or uniform throughout."""
    max_iter: int = 500
    """Most passes over the answers."""
    tol: float = 1e-8
    """With `smoothing`: stop when a pass raises the objective by less than this (relative to its size)."""
    accelerate: bool = True
    """With `smoothing`: extrapolate pairs of passes; the objective rises monotonically either way."""

    def _run(self, engine: Engine, progress: Progress | None) -> Fit:
        if self.smoothing is None:
            return self._run_pooled(engine, progress)
        shrinkage = Shrinkage(flat=self.smoothing, diagonal=self.diagonal)
        start = self._start(engine, shrinkage)
        assert start.model is not None
        fit = dawid_skene(
            engine,
            start.model,
            shrinkage=shrinkage,
            prior=self.prior,
            max_iter=self.max_iter,
            tol=self.tol,
            accelerate=self.accelerate,
            progress=progress,
        )
        return replace(fit, notes=start.notes, details={**start.details, **fit.details})

    def _run_pooled(self, engine: Engine, progress: Progress | None) -> Fit:
        counts = engine.pair_counts()
        start = self._start(engine, SAFE, counts)
        assert start.model is not None
        if start.details.get("start") == "votes":
            return labelled(start, self.prior, FLOOR)
        starts = [start.model]
        if isinstance(self.init, str) and self.init != "majority":
            starts.append(majority_start(engine))
        fit = pooled_dawid_skene(
            engine,
            starts,
            pooled_crowd(counts),
            POOLING,
            prior=self.prior,
            max_iter=self.max_iter,
            progress=progress,
        )
        return replace(fit, notes=start.notes, details={**start.details, **fit.details})

    def _start(self, engine: Engine, shrinkage: Shrinkage, counts: PairCounts | None = None) -> Fit:
        if isinstance(self.init, Model):
            return Fit(self.init.scores(), self.init)
        if self.init == "majority":
            model = majority_start(engine, shrinkage=shrinkage)
            return Fit(model.scores(), model)
        counts = engine.pair_counts() if counts is None else counts
        start = chosen_start(counts, pooled_crowd(counts))
        if self.init == "multispa-kl" and start.model is not None:
            return replace(pooled_kl(counts, start.model, POOLING), notes=start.notes, details=start.details)
        return start


def labelled(fit: Fit, prior: Prior, floor: float) -> Fit:
    """The fit with scores for MAP or ML labelling."""
    assert fit.model is not None
    return replace(fit, scores=fit.model.floored(floor).scores(uniform=prior == "uniform"))
