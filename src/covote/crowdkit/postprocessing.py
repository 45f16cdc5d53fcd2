"""Answers in, answers without those of workers who say hardly anything out."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from covote.crowdkit.metrics.data import uncertainty
from covote.errors import CrowdWarning


def entropy_threshold(answers: Any, workers_skills: Any = None, percentile: int = 10, min_answers: int = 2) -> Any:
    """Drop the workers whose answers have least entropy: those at or below the percentile.

    Workers with fewer than `min_answers` answers are kept. A warning says when half of the answers or more went.
    """
    counts = answers["worker"].value_counts()
    judged = answers[answers["worker"].isin(counts.index[counts >= min_answers])]
    by_worker = uncertainty(judged, workers_skills, compute_by="worker", aggregate=False)
    dropped = by_worker.index[by_worker <= np.percentile(by_worker, percentile)]
    kept = answers[~answers["worker"].isin(dropped)]
    if len(kept) <= len(answers) // 2:
        msg = "At least half of the answers were removed. Lower percentile, or raise min_answers."
        warnings.warn(msg, CrowdWarning, stacklevel=2)
    return kept
