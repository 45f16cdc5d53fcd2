"""One-coin Dawid-Skene: answers in; one accuracy for every annotator and a class prior out, by EM.

Each annotator m is right with probability p_m whatever the class, and errs evenly. Y. Zhang, X. Chen, D. Zhou,
M. Jordan, "Spectral methods meet EM", 2016, calls it the one-coin model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covote.engines.base import Engine, ExpectedCounts
from covote.methods.em import em
from covote.methods.majority_vote import majority_vote, vote_scores
from covote.model import Fit, Model, Progress, normalised

Floats = NDArray[np.float64]

_INSIDE = 1e-10
"""Accuracies stay this far from 0 and 1, where one answer would veto a class."""


def one_coin(
    engine: Engine,
    *,
    right: float = 0.0,
    wrong: float = 0.0,
    max_iter: int = 500,
    tol: float = 1e-8,
    accelerate: bool = True,
    progress: Progress | None = None,
) -> Fit:
    """EM from vote shares; `right` and `wrong` pseudo-answers are added to every annotator's.

    The history holds log-likelihood + the log of the pseudo-answers' weight, which never falls.
    """
    M, K = len(engine.annotators), len(engine.classes)
    if K < 2:
        return majority_vote(engine)
    step = OneCoin(right, wrong)
    prior, confusion = step(engine.expected_counts(vote_scores(M, K)))
    start = Model(prior, confusion, engine.classes, engine.annotators)
    fitted = em(engine, start, step, max_iter=max_iter, tol=tol, accelerate=accelerate, progress=progress)
    model = fitted.model
    details = {"skill": model.confusion[:, 0, 0], "log_likelihood": fitted.log_likelihood}
    return Fit(model.scores(), model, fitted.status, fitted.history, details=details)


@dataclass(frozen=True)
class OneCoin:
    """The M step: the expected share of right answers, on the diagonal; the rest is spread evenly."""

    right: float = 0.0
    wrong: float = 0.0

    def __call__(self, soft: ExpectedCounts) -> tuple[Floats, Floats]:
        return normalised(soft.prior), coin_confusion(self.accuracy(soft), soft.confusion.shape[1])

    def accuracy(self, soft: ExpectedCounts) -> Floats:
        """Expected share of right answers, (annotators,); one half for an annotator without any answer."""
        hits = np.einsum("mkk->m", soft.confusion) + self.right
        answers = soft.confusion.sum(axis=(1, 2)) + self.right + self.wrong
        return np.asarray(np.where(answers > 0, hits / np.where(answers > 0, answers, 1.0), 0.5))

    def penalty(self, confusion: Floats) -> float:
        """Log of the pseudo-answers' weight."""
        K = confusion.shape[1]
        accuracy = confusion[:, 0, 0]
        return float(self.right * np.log(accuracy).sum() + self.wrong * np.log((1 - accuracy) / (K - 1)).sum())


def coin_confusion(accuracy: Floats, n_classes: int) -> Floats:
    """Confusions (annotators, labels, classes) with `accuracy` (annotators,) on the diagonal.

    >>> coin_confusion(np.array([0.8]), 3)[0].round(2).tolist()
    [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    """
    p = np.clip(accuracy, _INSIDE, 1 - _INSIDE)[:, None, None]
    eye = np.eye(n_classes)
    return np.asarray(p * eye + (1 - p) / max(n_classes - 1, 1) * (1 - eye))
