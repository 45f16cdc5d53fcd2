"""Weighted votes that the field uses, as estimators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.engines.base import Engine
from covote.estimators.base import Aggregator
from covote.methods.gold_majority_vote import gold_majority_vote
from covote.methods.iwmv import iwmv
from covote.methods.mmsr import mmsr
from covote.methods.wawa import wawa
from covote.methods.weighted_vote import Missing, given_weights, weighted_vote
from covote.methods.zero_based_skill import zero_based_skill
from covote.model import Fit, Progress


class HasSkills(Aggregator):
    """Base of the methods that give every annotator one number."""

    @property
    def skills_(self) -> dict[Any, float]:
        """The weight or accuracy of every annotator."""
        skill: NDArray[np.float64] = self._fitted.fit_.details["skill"]
        return dict(zip(self.annotators_, skill.tolist(), strict=True))


@dataclass(kw_only=True, eq=False)
class WeightedVote(HasSkills):
    """Votes with the weights one gives; without any, plain votes.

    >>> votes = [("x", "ann", "cat"), ("x", "bob", "dog"), ("x", "eve", "dog")]
    >>> WeightedVote(skills={"ann": 0.9, "bob": 0.3, "eve": 0.4}).fit_predict(votes)
    {'x': 'cat'}
    """

    skills: Mapping[Any, float] | None = None
    """The weight of every annotator, by name; a negative one votes against its own answers."""
    missing: Missing = "error"
    """Annotators without a skill: an error, no vote ("ignore"), or the weight `default` ("value")."""
    default: float | None = None
    """The weight of annotators without a skill."""

    def _run(self, engine: Engine, progress: Progress | None) -> Fit:
        del progress
        return weighted_vote(engine, given_weights(engine.annotators, self.skills, self.missing, self.default))


@dataclass(kw_only=True, eq=False)
class Wawa(HasSkills):
    """Worker agreement with aggregate: votes weighted by how often each annotator agrees with the majority."""

    def _run(self, engine: Engine, progress: Progress | None) -> Fit:
        del progress
        return wawa(engine)


@dataclass(kw_only=True, eq=False)
class ZeroBasedSkill(HasSkills):
    """Weights that start at chance and move towards agreement with the vote they make."""

    max_iter: int = 100
    """Rounds."""
    rate: float = 1.0
    """Share of the way that a weight moves in the first rounds."""
    halve_every: int = 20
    """Rounds after which the rate is multiplied by `factor`."""
    factor: float = 0.5
    """What the rate is multiplied by."""

    def _run(self, engine: Engine, progress: Progress | None) -> Fit:
        del progress
        return zero_based_skill(
            engine, max_iter=self.max_iter, rate=self.rate, halve_every=self.halve_every, factor=self.factor
        )


@dataclass(kw_only=True, eq=False)
class GoldMajorityVote(HasSkills):
    """Votes weighted by each annotator's accuracy on the gold items given to `fit(table, gold=...)`."""

    takes_history = True

    default: float | None = None
    """The weight of annotators who answered no gold item; the pooled accuracy of the others when None."""

    def _run(self, engine: Engine, progress: Progress | None) -> Fit:
        del progress
        return gold_majority_vote(engine, missing=self.default)


@dataclass(kw_only=True, eq=False)
class IterativeWeightedVote(HasSkills):
    """Votes weighted by K * accuracy - 1, the accuracy taken against the vote itself, until nothing moves."""

    max_iter: int = 100
    """Most rounds."""

    def _run(self, engine: Engine, progress: Progress | None) -> Fit:
        del progress
        return iwmv(engine, max_iter=self.max_iter)


@dataclass(kw_only=True, eq=False)
class MMSR(HasSkills):
    """Skills from a rank-one fit of the agreements that ignores outliers (Ma, Olshevsky 2020)."""

    seed: int = 0
    """Seed of the start."""
    max_iter: int = 10_000
    """Most rounds."""
    tol: float = 1e-10
    """Stop when the fitted agreements move by less than this in a round."""

    def _run(self, engine: Engine, progress: Progress | None) -> Fit:
        return mmsr(engine, seed=self.seed, max_iter=self.max_iter, tol=self.tol, progress=progress)
