"""The methods the paper compares with, as estimators."""

from __future__ import annotations

from dataclasses import dataclass

from covote.engines.base import Engine
from covote.estimators.base import Aggregator
from covote.methods.eigen_ratio import eigen_ratio
from covote.methods.ghosh_svd import Scale, ghosh_svd
from covote.methods.kos import kos
from covote.methods.minmax_entropy import Kind, minmax_entropy
from covote.methods.shrinkage import Shrinkage
from covote.methods.spectral_ds import spectral_ds
from covote.methods.tensor_admm import tensor_admm
from covote.model import FLOOR, Fit, Progress


@dataclass(kw_only=True, eq=False)
class SpectralDS(Aggregator):
    """EM from the second and third moments of three groups of annotators (Zhang, Chen, Zhou, Jordan 2014)."""

    groupings: int = 10
    """Random cuts into three groups; EM goes on from the most likely one."""
    seed: int = 0
    """Seed of the groupings and of the tensor power method's starts."""
    smoothing: float | None = None
    """Uninformative pseudo-answers per annotator and class in EM; K when None."""
    diagonal: float = 1.0
    """Pseudo-answers where label and class agree."""
    floor: float = FLOOR
    """Delta: smaller probabilities of a start are raised to it."""
    max_iter: int = 500
    """Most passes of EM over the answers."""
    tol: float = 1e-8
    """Stop when a pass raises the objective by less than this (relative to its size)."""

    def _run(self, engine: Engine, progress: Progress | None) -> Fit:
        own = float(len(engine.classes)) if self.smoothing is None else self.smoothing
        return spectral_ds(
            engine,
            groupings=self.groupings,
            seed=self.seed,
            floor=self.floor,
            shrinkage=Shrinkage(diagonal=self.diagonal, own=own),
            max_iter=self.max_iter,
            tol=self.tol,
            progress=progress,
        )


@dataclass(kw_only=True, eq=False)
class TensorADMM(Aggregator):
    """Coupled factorisation of second and third annotator moments (Traganitis, Pages-Zamora, Giannakis 2018)."""

    triples: int | None = None
    """About how many annotator triples to count; by the number of classes when None, all in small crowds."""
    starts: int = 3
    """Random groupings to start from, beside vote shares."""
    seed: int = 0
    """Seed of the starts."""
    smoothing: float | None = None
    """Pull of each matrix towards uninformative, in answers; K when None, 0 for the plain moments."""
    floor: float = FLOOR
    """Delta: smaller probabilities are raised to it before labelling."""
    max_iter: int = 300
    """Most sweeps over the moments."""
    tol: float = 1e-7
    """Stop when a sweep lowers the misfit by less than this (relative to its size)."""
    accelerate: bool = True
    """Extrapolate pairs of sweeps; the misfit falls monotonically either way."""

    def _run(self, engine: Engine, progress: Progress | None) -> Fit:
        return tensor_admm(
            engine,
            triples=self.triples,
            starts=self.starts,
            seed=self.seed,
            smoothing=self.smoothing,
            floor=self.floor,
            max_iter=self.max_iter,
            tol=self.tol,
            accelerate=self.accelerate,
            progress=progress,
        )


@dataclass(kw_only=True, eq=False)
class KOS(Aggregator):
    """Messages between items and annotators (Karger, Oh, Shah 2011 and 2013); classes are taken in their order.

    >>> truth = ["no", "no", "no", "yes", "yes", "yes"]
    >>> lie = {"no": "yes", "yes": "no"}
    >>> votes = [(i, a, lie[t] if a == "eve" else t) for i, t in enumerate(truth) for a in ("ann", "bob", "eve")]
    >>> KOS().fit_predict(votes)
    {0: 'no', 1: 'no', 2: 'no', 3: 'yes', 4: 'yes', 5: 'yes'}
    """

    centre: bool = True
    """Pass messages on answers minus the annotator's mean, so that uneven classes are not taken for agreement."""
    level: bool = True
    """Divide an annotator's messages by the root of its answers, so that the busiest do not drown the rest."""
    seed: int | None = None
    """Start from Normal(1, 1) messages of this seed, as published; from plain votes when None."""
    max_iter: int = 100
    """Most rounds of messages."""
    tol: float = 1e-10
    """Stop when messages turn by less than this (1 - cosine) in a round."""

    def _run(self, engine: Engine, progress: Progress | None) -> Fit:
        del progress
        return kos(engine, centre=self.centre, level=self.level, seed=self.seed, max_iter=self.max_iter, tol=self.tol)


@dataclass(kw_only=True, eq=False)
class EigenRatio(Aggregator):
    """Weights from the ratio of eigenvectors of agreement and co-labelling (Dalvi et al. 2013); two classes."""

    def _run(self, engine: Engine, progress: Progress | None) -> Fit:
        del progress
        return eigen_ratio(engine)


@dataclass(kw_only=True, eq=False)
class GhoshSVD(Aggregator):
    """Weights from the top singular vector of the signed answers (Ghosh, Kale, McAfee 2011); two classes."""

    scale: Scale = "unit"
    """Scale each annotator's answers to length 1, or take them as they are ("none", as published)."""

    def _run(self, engine: Engine, progress: Progress | None) -> Fit:
        del progress
        return ghosh_svd(engine, scale=self.scale)


@dataclass(kw_only=True, eq=False)
class MinmaxEntropy(Aggregator):
    """Regularised minimax conditional entropy (Zhou, Liu, Platt, Meek 2014): items may be hard, annotators biased.

    Probabilities rest on every item's own multipliers; `predict` on new items uses the confusions alone.
    """

    kind: Kind = "categorical"
    """Free multipliers, or "ordinal": near classes are confused more easily than far ones."""
    gamma: float = 0.25
    """Strength of the regularisation, which scales with the classes and the answers per annotator and item."""
    max_iter: int = 1000
    """Most passes over the answers."""
    tol: float = 1e-8
    """Stop when a pass lowers the objective by less than this (relative to its size)."""
    accelerate: bool = True
    """Extrapolate pairs of passes; the objective falls monotonically either way."""

    def _run(self, engine: Engine, progress: Progress | None) -> Fit:
        return minmax_entropy(
            engine,
            kind=self.kind,
            gamma=self.gamma,
            max_iter=self.max_iter,
            tol=self.tol,
            accelerate=self.accelerate,
            progress=progress,
        )
