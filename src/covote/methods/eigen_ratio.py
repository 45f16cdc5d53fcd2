"""EigenRatio: pair counts of two-class answers in, a weight for every annotator and label scores out.

N. Dalvi, A. Dasgupta, R. Kumar, V. Rastogi, "Aggregating crowdsourced binary ratings", WWW 2013.
"""

from __future__ import annotations

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


def eigen_ratio(engine: Engine) -> Fit:
    """How far each annotator is from chance, as the ratio of two eigenvectors.

    With w_m = 2 Pr(m is right) - 1, the rate of agreement minus disagreement of a pair has mean w_m w_l. Let Q hold
    these rates and G be 1 for pairs that share items (both 0 elsewhere): Q = diag(w) G diag(w) in the mean, and where
    G is nearly of rank one (everybody overlaps with everybody alike),
    w = sqrt(lambda(Q) / lambda(G)) v(Q) / v(G) with the top eigenvectors v. Labels are votes weighted by w.
    """
    check_binary(len(engine.classes), "eigen-ratio")
    if len(engine.classes) < 2:
        return majority_vote(engine)
    counts = engine.pair_counts()
    M = counts.n_annotators
    part = components(M, counts.first, counts.second)
    rate = signed_agreement(counts) / counts.shared
    v_rate, size_rate = leading_vector(counts.first, counts.second, rate, np.zeros(M), part)
    v_met, size_met = leading_vector(counts.first, counts.second, np.ones(counts.n_pairs), np.zeros(M), part)
    scale = np.sqrt(np.maximum(size_rate, 0.0) / np.where(size_met > 0, size_met, 1.0))
    # the eigenvector of G is positive; rounding may leave a remote annotator with nothing
    weight = np.clip(scale * v_rate / np.maximum(np.abs(v_met), 1e-12), -1.0, 1.0)
    weight = oriented(weight, counts.label_counts.sum(axis=1), part)
    return Fit(threshold_scores(weight[None]), details={"weight": weight})
