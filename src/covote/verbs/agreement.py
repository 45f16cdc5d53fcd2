"""Any table of answers in, an Agreement out."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from covote.agreements import Agreement, measure_agreement
from covote.agreements.scales import Distance
from covote.engines.memory import MemoryEngine
from covote.estimators.tables import read_table

MOST_ANNOTATORS = 100
"""Crowds of at most so many annotators have all their pairs compared unless told otherwise."""


def agreement(
    table: Any,
    *,
    scale: str | Distance | None = None,
    weights: str | None = None,
    ordered: Sequence[Hashable] | None = None,
    pairs: bool | None = None,
    draws: int = 200,
    level: float = 0.9,
    seed: int = 0,
    **reading: Any,
) -> Agreement:
    """How far annotators agree: percent agreement, Krippendorff's alpha, Fleiss' and Cohen's kappa, Gwet's AC1 and AC2.

    `scale` says how labels compare: "nominal" (the default), "ordinal", "interval", "ratio", or a function of two
    labels that gives their distance. `weights` are those of weighted kappas and AC2: "identity", "linear" or
    "quadratic" (the default where the scale is not nominal). `ordered` lists the labels from lowest to highest where
    they are no numbers, and makes the scale ordinal. `pairs` asks for Cohen's kappa of every pair (by default up to
    100 annotators). Intervals are percentiles of `draws` crowds of redrawn items; those of pairs are Fleiss, Cohen and
    Everitt's. Missing answers are left out as each coefficient's literature says. Other arguments: `covote.load`.

    >>> answers = [("ann", "xyx"), ("bob", "xyy")]
    >>> found = agreement([(i, who, label) for who, labels in answers for i, label in enumerate(labels)])
    >>> round(found["percent"], 3), round(found["alpha"], 3)
    (0.667, 0.444)
    """
    loaded, _ = read_table(table, None, reading)
    a = loaded.annotations
    wanted = a.n_annotators <= MOST_ANNOTATORS if pairs is None else pairs
    return measure_agreement(
        a,
        MemoryEngine(a).pair_counts if wanted else None,
        scale=scale,
        weights=weights,
        ordered=ordered,
        draws=draws,
        level=level,
        seed=seed,
    )
