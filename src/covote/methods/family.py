"""The family of models that the default chooses from: a member and an engine in, its fit out; all by the one EM.

Members differ in what an annotator's confusion matrix is shrunk towards (`covote.methods.structure`), in how many
pseudo-answers do the shrinking, and in whether the class prior is estimated or fixed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from covote.engines.base import Engine, ExpectedCounts
from covote.methods.em import Fitted, em
from covote.methods.misleading import Misleading
from covote.methods.structure import accuracy_centre, habit_centre, pooled
from covote.model import Model, columns, normalised

Floats = NDArray[np.float64]
Structure = Literal["accuracy", "habit"]

ROUNDS = 10
"""Rounds of EM: enough for the classes to settle. On sparse crowds further ones fit noise, and errors rise again."""

TOLERANCE = 1e-6
"""Rounds end before that when one raises the log-likelihood by less than this part of its size."""


@dataclass(frozen=True)
class Member:
    """One model of the family.

    `strength` counts pseudo-answers for each free number of a column of the confusion matrix; infinite means that the
    structure itself is the model.
    """

    name: str
    about: str
    structure: Structure = "habit"
    strength: float = np.inf

    def __call__(self, soft: ExpectedCounts) -> tuple[Floats, Floats]:
        """The M step: class prior (one item added to each class) and confusions."""
        K, counts = len(soft.prior), soft.confusion
        prior = normalised(soft.prior + 1)
        if self.structure == "accuracy":
            return prior, accuracy_centre(counts)
        if np.isinf(self.strength):
            return prior, habit_centre(counts, np.eye(K))
        centre = habit_centre(counts, pooled(counts))
        return prior, columns(counts + self.strength * max(K - 1, 1) * centre)

    def penalty(self, confusion: Floats) -> float:
        """None: the centre moves with the counts, so the history holds the plain log-likelihood."""
        del confusion
        return 0.0


ACCURACY = Member("accuracy", "one accuracy per annotator", "accuracy")
HABIT = Member("habit", "each annotator knows, or answers by habit")
STEADY = Member("steady", "own confusion matrix, strongly shrunk", strength=8.0)
MIDDLE = Member("middle", "own confusion matrix, shrunk", strength=2.0)
FREE = Member("free", "own confusion matrix, hardly shrunk", strength=0.5)

FAMILY = (ACCURACY, HABIT, STEADY, MIDDLE, FREE)


def start_from(engine: Engine, soft: ExpectedCounts, member: Member) -> Model:
    """The M step of `member` from soft counts, of votes for example."""
    prior, confusion = member(soft)
    return Model(prior, confusion, engine.classes, engine.annotators)


def fit_member(
    engine: Engine,
    member: Member,
    start: Model,
    *,
    prior: Floats | None = None,
    weight: Floats | None = None,
    misleading: Misleading | None = None,
    rounds: int = ROUNDS,
) -> Fitted:
    """`rounds` rounds of EM from `start`; see `covote.methods.em.em` for the rest."""
    return em(
        engine,
        start,
        member,
        prior=prior,
        weight=weight,
        misleading=misleading,
        max_iter=rounds,
        tol=TOLERANCE,
        accelerate=False,
    )
