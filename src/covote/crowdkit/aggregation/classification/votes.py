"""Weighted votes in crowd-kit's manners: MajorityVote, Wawa, GoldMajorityVote and ZeroBasedSkill.

Of tied labels the first in sorted order wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from covote.crowdkit.aggregation.base import BaseClassificationAggregator, WithProbabilities
from covote.crowdkit.aggregation.utils import add_skills_to_data, get_accuracy
from covote.crowdkit.frames import COLUMNS, Coded, first_best, shares
from covote.errors import NotFittedError

Floats = NDArray[np.float64]


@dataclass(eq=False)
class MajorityVote(WithProbabilities):
    """The label with most votes, or most weight where `fit` is given skills."""

    default_skill: float | None = None
    """The skill of workers without one, with on_missing_skill="value"."""
    on_missing_skill: str = "error"
    """Answers of workers without a skill: "error", "ignore" (they do not count), or "value" (default_skill)."""

    skills_ = None
    """Share of each worker's answers that are the label chosen."""

    def fit(self, data: Any, skills: Any = None) -> Self:
        """Count the votes; `skills` is a Series of weights by worker."""
        data = data[COLUMNS]
        if skills is not None:
            data = add_skills_to_data(data, skills, self.on_missing_skill, self.default_skill)
        coded = Coded.of(data)
        weight = None
        if skills is not None:
            weight = data.drop_duplicates("worker").set_index("worker")["skill"].reindex(coded.workers).to_numpy(float)
        probas = shares(coded.votes(weight))
        chosen = first_best(probas)
        self.probas_ = coded.by_task(probas, ordered=True)
        self.labels_ = coded.label_series(chosen, ordered=True)
        self.skills_ = coded.by_worker(coded.accuracy(chosen), "skill")
        return self


class WeightedBySkill(WithProbabilities):
    """Aggregators that learn skills, then vote with them."""

    skills_: Any = None
    """The skill of every worker."""

    def predict(self, data: Any) -> Any:
        """Labels by the votes of `data`, weighted by the skills learnt."""
        return self._vote(data).labels_

    def predict_proba(self, data: Any) -> Any:
        """Shares of the weighted votes."""
        return self._vote(data).probas_

    def fit_predict(self, data: Any, *args: Any, **options: Any) -> Any:
        """Fit, then the labels."""
        self.fit(data, *args, **options)
        return self.predict(data)

    def fit_predict_proba(self, data: Any, *args: Any, **options: Any) -> Any:
        """Fit, then the shares of the weighted votes."""
        self.fit(data, *args, **options)
        return self.predict_proba(data)

    def _vote(self, data: Any) -> Self:
        if self.skills_ is None:
            msg = f"This {type(self).__name__} is not fitted yet. Call fit(data) first."
            raise NotFittedError(msg)
        voted = MajorityVote().fit(data, skills=self.skills_)
        self.labels_, self.probas_ = voted.labels_, voted.probas_
        return self


@dataclass(eq=False)
class Wawa(WeightedBySkill):
    """Votes weighted by agreement with the majority vote."""

    def fit(self, data: Any) -> Self:
        """Learn the skills."""
        self.skills_ = MajorityVote().fit(data).skills_
        return self


@dataclass(eq=False)
class GoldMajorityVote(WeightedBySkill):
    """Votes weighted by accuracy on tasks whose label is known."""

    def fit(self, data: Any, true_labels: Any) -> Self:  # type: ignore[override]
        """Learn the skills; `true_labels` is a Series by task, which may give several labels to one."""
        self.skills_ = get_accuracy(data[COLUMNS], true_labels, by="worker").rename("skill")
        return self


@dataclass(eq=False)
class ZeroBasedSkill(WeightedBySkill):
    """Skills that start at chance and move towards agreement with the vote they make."""

    n_iter: int = 100
    """Rounds."""
    lr_init: float = 1.0
    """Share of the way that a skill moves in the first rounds."""
    lr_steps_to_reduce: int = 20
    """Rounds after which that share is multiplied by `lr_reduce_factor`."""
    lr_reduce_factor: float = 0.5
    """See `lr_steps_to_reduce`."""
    eps: float = 1e-5
    """How far above chance skills start."""

    def fit(self, data: Any) -> Self:
        """Learn the skills."""
        coded = Coded.of(data)
        rate = self.lr_init
        skill = np.full(len(coded.workers), 1 / max(len(coded.labels), 1) + self.eps)
        for turn in range(1, self.n_iter + 1):
            if turn % self.lr_steps_to_reduce == 0:
                rate *= self.lr_reduce_factor
            skill = skill + rate * (coded.accuracy(first_best(shares(coded.votes(skill)))) - skill)
        self.skills_ = coded.by_worker(skill, "skill")
        return self


__all__ = ["BaseClassificationAggregator", "GoldMajorityVote", "MajorityVote", "Wawa", "ZeroBasedSkill"]
