"""Weighted votes: a weight for every annotator in, shares of the weighted votes out."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from covote.engines.base import Engine
from covote.errors import InputError
from covote.methods.hard_votes import signed_vote_scores
from covote.model import Fit, Scores

Floats = NDArray[np.float64]
Missing = Literal["error", "ignore", "value"]


def weighted_vote(engine: Engine, weight: Floats) -> Fit:
    """Every answer of annotator m counts weight[m] votes for its label; shares of votes are the probabilities.

    A negative weight votes for the other classes. The label of most weight wins, as in plain votes.
    """
    K = len(engine.classes)
    return Fit(Scores(signed_vote_scores(weight, K), np.zeros(K), "linear"), details={"skill": weight})


def given_weights(
    annotators: tuple[Hashable, ...],
    skills: Mapping[Hashable, float] | None,
    missing: Missing = "error",
    default: float | None = None,
) -> Floats:
    """The weights of annotators from a mapping; those it lacks are an error, have no vote, or the default weight.

    >>> given_weights(("ann", "bob"), {"ann": 2.0}, "value", 1.0).tolist()
    [2.0, 1.0]
    """
    if skills is None:
        return np.ones(len(annotators))
    unknown = [a for a in annotators if a not in skills]
    if unknown and missing == "error":
        msg = (
            f"There is no skill for {len(unknown)} annotators, the first of them {unknown[0]!r}. Pass their skills, "
            "or missing='ignore' or 'value'."
        )
        raise InputError(msg)
    if missing == "value" and default is None:
        msg = "missing='value' needs the weight of annotators without a skill. Pass default=, for example 0.5."
        raise InputError(msg)
    other = float(default) if missing == "value" and default is not None else 0.0
    return np.array([float(skills.get(a, other)) for a in annotators])
