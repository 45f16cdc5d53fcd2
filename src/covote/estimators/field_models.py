"""Models of answers that the field uses, as estimators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from covote.engines.base import Engine
from covote.estimators.base import Aggregator
from covote.estimators.field_votes import HasSkills
from covote.methods import ebcc as subtypes
from covote.methods import mace as trusting
from covote.methods.bwa import bwa
from covote.methods.glad import glad
from covote.methods.ibcc import ibcc
from covote.methods.one_coin import one_coin
from covote.model import Fit, Progress


@dataclass(kw_only=True, eq=False)
class OneCoinDawidSkene(HasSkills):
    """One accuracy for every annotator, whatever the class; errors fall evenly on the other classes."""

    takes_history = True

    right: float = 0.0
    """Right pseudo-answers of every annotator; 0 for plain maximum likelihood."""
    wrong: float = 0.0
    """Wrong pseudo-answers of every annotator."""
    max_iter: int = 500
    """Most passes over the answers."""
    tol: float = 1e-8
    """Stop when a pass raises the objective by less than this (relative to its size)."""
    accelerate: bool = True
    """Extrapolate pairs of passes; the objective rises monotonically either way."""

    def _run(self, engine: Engine, progress: Progress | None) -> Fit:
        return one_coin(
            engine,
            right=self.right,
            wrong=self.wrong,
            max_iter=self.max_iter,
            tol=self.tol,
            accelerate=self.accelerate,
            progress=progress,
        )


@dataclass(kw_only=True, eq=False)
class GLAD(HasSkills):
    """Abilities of annotators and eases of items (Whitehill et al. 2009)."""

    max_iter: int = 100
    """Most rounds."""
    tol: float = 1e-5
    """Stop when a round raises the expected log-posterior per answer and class by less than this."""

    def _run(self, engine: Engine, progress: Progress | None) -> Fit:
        return glad(engine, max_iter=self.max_iter, tol=self.tol, progress=progress)

    @property
    def ease_(self) -> dict[Any, float]:
        """The ease of every item: near 0 where all annotators guess, large where all but the worst are right."""
        import numpy as np

        ease = np.exp(self._fitted.fit_.details["ease"]).tolist()
        return dict(zip(self.loaded_.annotations.items, ease, strict=True))


@dataclass(kw_only=True, eq=False)
class MACE(HasSkills):
    """Annotators know the class or answer by habit (Hovy et al. 2013); `skills_` is how often they know it."""

    learning: trusting.Learning = "vb"
    """Variational Bayes, or plain EM."""
    starts: int = 10
    """Random starts; the one of best evidence is kept."""
    seed: int = 0
    """Seed of the starts."""
    max_iter: int = 50
    """Rounds from each start."""

    def _run(self, engine: Engine, progress: Progress | None) -> Fit:
        prior = trusting.Prior(self.learning)
        return trusting.mace(
            engine, prior=prior, starts=self.starts, seed=self.seed, max_iter=self.max_iter, progress=progress
        )


@dataclass(kw_only=True, eq=False)
class BWA(HasSkills):
    """Bayesian weighted average: each class against the rest, annotators weighing by their precision."""

    precision: float = 15.0
    """Pseudo-answers behind the prior precision of annotators."""
    pull: float = 1.0
    """Weight of the mean of all items in each item's average."""
    max_iter: int = 500
    """Most rounds of each class."""
    tol: float = 1e-3
    """Stop when no average moves by more than this share of its size."""

    def _run(self, engine: Engine, progress: Progress | None) -> Fit:
        del progress
        return bwa(engine, precision=self.precision, pull=self.pull, max_iter=self.max_iter, tol=self.tol)


@dataclass(kw_only=True, eq=False)
class IBCC(Aggregator):
    """Bayesian Dawid-Skene: confusions are integrated over, not maximised (Kim, Ghahramani 2012)."""

    takes_history = True

    smoothing: float = 1.0
    """Pseudo-answers in every cell of every confusion matrix."""
    diagonal: float = 3.0
    """Further pseudo-answers where label and class agree."""
    max_iter: int = 500
    """Most passes over the answers."""
    tol: float = 1e-8
    """Stop when a pass raises the evidence by less than this (relative to its size)."""
    accelerate: bool = True
    """Extrapolate pairs of passes; the evidence rises monotonically either way."""

    def _run(self, engine: Engine, progress: Progress | None) -> Fit:
        return ibcc(
            engine,
            smoothing=self.smoothing,
            diagonal=self.diagonal,
            max_iter=self.max_iter,
            tol=self.tol,
            accelerate=self.accelerate,
            progress=progress,
        )


@dataclass(kw_only=True, eq=False)
class EBCC(Aggregator):
    """Classes are mixtures of subtypes, so that annotators may err together (Li, Rubinstein, Cohn 2019)."""

    subtypes: int = 10
    """Subtypes of every class."""
    starts: int = 3
    """Random starts; the one of best evidence is kept."""
    seed: int = 0
    """Seed of the starts."""
    max_iter: int = 500
    """Most passes over the answers from each start."""
    tol: float = 1e-6
    """Stop when a pass raises the evidence by less than this (relative to its size)."""

    def _run(self, engine: Engine, progress: Progress | None) -> Fit:
        beliefs = subtypes.Beliefs(subtypes=self.subtypes)
        return subtypes.ebcc(
            engine,
            beliefs=beliefs,
            starts=self.starts,
            seed=self.seed,
            max_iter=self.max_iter,
            tol=self.tol,
            progress=progress,
        )
