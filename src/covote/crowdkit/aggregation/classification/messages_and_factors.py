"""KOS and MMSR in crowd-kit's manners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from covote.crowdkit.aggregation.base import BaseClassificationAggregator
from covote.crowdkit.aggregation.classification.votes import MajorityVote
from covote.crowdkit.frames import COLUMNS, Coded
from covote.methods.mmsr import Settings, mmsr

Floats = NDArray[np.float64]

_MOST = 1e300
"""Messages above it end the rounds, as in crowd-kit."""


@dataclass(eq=False)
class KOS(BaseClassificationAggregator):
    """Messages between tasks and workers, for two labels; an exact tie gets the label that appears first."""

    n_iter: int = 100
    """Most rounds."""
    random_state: int = 0
    """Seed of the first messages."""

    def fit(self, data: Any) -> Self:
        """Learn from the answers."""
        coded = Coded.of(data)
        if not coded.size:
            self.labels_ = pd.Series([], dtype="O", name="agg_label")
            return self
        appearance = pd.unique(coded.label)
        if len(appearance) != 2:
            msg = f"KOS works on two labels and these answers have {len(appearance)}. Use DawidSkene."
            raise ValueError(msg)
        sign = np.where(coded.label == appearance[0], 1.0, -1.0)
        first = np.random.RandomState(self.random_state).normal(1, 1, coded.size)
        message = self._messages(coded, sign, first)
        total = np.bincount(coded.task, sign * message, minlength=len(coded.tasks))
        self.labels_ = coded.label_series(np.where(total >= 0, appearance[0], appearance[1]), ordered=True)
        return self

    def _messages(self, coded: Coded, sign: Floats, message: Floats) -> Floats:
        """Each worker's messages to its tasks after the rounds: sums over the others' answers, there and back."""
        for _ in range(self.n_iter):
            heard = sign * message
            total = np.bincount(coded.task, heard)[coded.task]
            if (np.abs(total) > _MOST).any():
                break
            heard = sign * (total - heard)
            total = np.bincount(coded.worker, heard)[coded.worker]
            if (np.abs(total) > _MOST).any():
                break
            message = total - heard
        return message


@dataclass(eq=False)
class MMSR(BaseClassificationAggregator):
    """Skills from a robust rank-one fit of the agreements.

    As in crowd-kit, workers who share no task count as disagreeing when signs are chosen, and where a worker has fewer
    than four partners only the largest ratio is kept. `covote.MMSR` does neither.
    """

    n_iter: int = 10_000
    """Most rounds."""
    tol: float = 1e-10
    """Stop when the fitted agreements move by less than this."""
    random_state: int | None = 0
    """Seed of the start."""

    skills_ = None
    """Log-odds of every worker."""
    scores_ = None
    """Shares of the votes weighted by skill; they may be negative."""
    loss_history_ = None
    """How far the fitted agreements moved, every round."""

    def fit(self, data: Any) -> Self:
        """Learn the skills."""
        coded = Coded.of(data[COLUMNS].drop_duplicates(["task", "worker"], keep="last"))
        M, engine = len(coded.workers), coded.engine()
        counts = engine.pair_counts()
        partners = np.bincount(np.concatenate([counts.first, counts.second]), minlength=M)
        start = np.random.RandomState(self.random_state).uniform(size=M)
        settings = Settings(trim=int(partners.min()) // 2 - 1 if M else 0, start=start, unmet_differ=True)
        fit = mmsr(engine, max_iter=self.n_iter, tol=self.tol, settings=settings)
        self.skills_ = coded.by_worker(fit.details.get("skill", np.ones(M)), "skill", ordered=False)
        self.loss_history_ = list(fit.history)
        return self

    def predict(self, data: Any) -> Any:
        """Labels by the votes of `data`, weighted by the skills learnt."""
        return self._vote(data).labels_

    def predict_score(self, data: Any) -> Any:
        """Shares of the weighted votes."""
        return self._vote(data).scores_

    def fit_predict(self, data: Any, *args: Any, **options: Any) -> Any:
        """Fit, then the labels."""
        return self.fit(data, *args, **options).predict(data)

    def fit_predict_score(self, data: Any) -> Any:
        """Fit, then the shares of the weighted votes."""
        return self.fit(data).predict_score(data)

    def _vote(self, data: Any) -> Self:
        voted = MajorityVote().fit(data, skills=self.skills_)
        self.labels_, self.scores_ = voted.labels_, voted.probas_
        return self
