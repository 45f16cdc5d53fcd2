"""Ghosh-SVD: pair counts of two-class answers in, a weight for every annotator and label scores out.

A. Ghosh, S. Kale, P. McAfee, "Who moderates the moderators? Crowdsourcing abuse detection in user-generated
content", EC 2011.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from covote.engines.base import Engine
from covote.methods.majority_vote import majority_vote
from covote.methods.signed import (
    check_binary,
    components,
    leading_vector,
    oriented,
    signed_agreement,
    threshold_scores,
)
from covote.model import Fit

Scale = Literal["unit", "none"]


def ghosh_svd(engine: Engine, *, scale: Scale = "unit") -> Fit:
    """Label items by the top left singular vector of the signed answers U (items x annotators; +1, -1, 0).

    U^T U holds agreements minus disagreements, so its top eigenvector v, the right singular vector, comes from pair
    counts; an item's entry of the left one is U v, a weighted vote. The paper's model has everybody answer
    equally often; where they do not, the vector settles on the few who answered most, and `scale="unit"` first
    divides each annotator's answers by the root of their number (columns of length 1). Where all answered equally
    often that changes nothing. `scale="none"` is the plain matrix.
    """
    check_binary(len(engine.classes), "ghosh-svd")
    if len(engine.classes) < 2:
        return majority_vote(engine)
    counts = engine.pair_counts()
    answers = counts.label_counts.sum(axis=1)
    part = components(counts.n_annotators, counts.first, counts.second)
    shrink = np.where(answers > 0, answers, 1.0) ** -0.5 if scale == "unit" else np.ones(counts.n_annotators)
    value = signed_agreement(counts) * shrink[counts.first] * shrink[counts.second]
    vector, _ = leading_vector(counts.first, counts.second, value, answers * shrink**2, part)
    weight = oriented(vector * shrink, answers, part)
    return Fit(threshold_scores(weight[None]), details={"weight": weight})
