"""Encoded answers in, an Agreement out: counts once, then arithmetic on small arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from covote.agreements import coefficients as c
from covote.agreements.pairs import Pairs, annotator_agreement, pair_agreement
from covote.agreements.scales import Distance, Scale, make_scale
from covote.agreements.sums import Sums, item_sums, redrawn, total
from covote.agreements.tally import Tally, tally
from covote.agreements.value import Agreement, ClassAgreement, Coefficient
from covote.agreements.words import sentences
from covote.annotations import Annotations
from covote.counts import PairCounts
from covote.errors import InputError

Floats = NDArray[np.float64]


def measure_agreement(
    annotations: Annotations,
    pair_counts: Callable[[], PairCounts] | None,
    *,
    scale: str | Distance | None = None,
    weights: str | None = None,
    ordered: Sequence[Hashable] | None = None,
    draws: int = 200,
    level: float = 0.9,
    seed: int = 0,
) -> Agreement:
    """Every coefficient of these answers; see `covote.agreement`. Pairs are left out where there are no counts."""
    if not (0 < level < 1 and draws >= 2):
        msg = f"Intervals need a level between 0 and 1 and at least two draws, got {level} and {draws}."
        raise InputError(msg)
    counted = tally(annotations)
    check_overlap(counted, annotations)
    labels = list(annotations.classes)
    paired = np.asarray(counted.counts.T @ (counted.weight * (counted.answers >= 2)))
    used = make_scale(labels, paired, scale=scale, weights=weights, ordered=ordered)
    parts = item_sums(counted, used)
    whole = total(counted, parts)
    drawn = redrawn(counted, parts, draws, np.random.default_rng(seed))
    pairs = None if pair_counts is None else pair_agreement(pair_counts(), used.closeness, level)
    found = Agreement(
        round(float(counted.weight @ (counted.answers > 0))),
        round(float(whole.pairable)),
        round(float(counted.weight @ counted.answers)),
        used.name,
        used.weights,
        level,
        draws,
        seed,
        _coefficients(whole, drawn, used, level),
        _classes(whole, drawn, labels, level),
        annotator_agreement(annotations, used.closeness),
        pairs if pairs is None else _strongest_first(pairs),
    )
    return replace(found, sentences=tuple(sentences(found)))


def check_overlap(counted: Tally, annotations: Annotations) -> None:
    """Raise where no item has two answers."""
    if np.any(counted.answers >= 2):
        return
    if annotations.n_annotators == 1:
        msg = f"Only one annotator ({annotations.annotators[0]}) answered. Agreement needs the answers of at least two."
        raise InputError(msg)
    msg = "No item has two answers, so nobody can be compared. Pass items that several annotators answered."
    raise InputError(msg)


def ends(drawn: Floats, value: Floats, level: float) -> tuple[Floats, Floats]:
    """Percentiles of redrawn values, widened where needed to hold the value; draws that are not defined are left out.

    NaN where the value itself is not defined.
    """
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # columns without any defined draw
        low, high = np.nanquantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return np.fmin(low, value) + 0 * value, np.fmax(high, value) + 0 * value


def _coefficients(whole: Sums, drawn: Sums, scale: Scale, level: float) -> tuple[Coefficient, ...]:
    def one(key: str, name: str, formula: Callable[[Sums], Floats | c.Ratio]) -> Coefficient:
        at, redone = formula(whole), formula(drawn)
        value = at.value if isinstance(at, c.Ratio) else at
        low, high = ends(redone.value if isinstance(redone, c.Ratio) else redone, value, level)
        seen = (float(at.observed), float(at.expected)) if isinstance(at, c.Ratio) else (None, None)
        return Coefficient(key, name, float(value), float(low), float(high), *seen)

    near, by = scale.closeness, scale.weights
    on = "" if scale.name == "nominal" else f", {scale.name}"
    found = [
        one("percent", "percent agreement", c.percent_agreement),
        one("alpha", f"Krippendorff's alpha{on}", lambda s: c.krippendorff_alpha(s, scale)),
        one("fleiss", "Fleiss' kappa", c.fleiss_kappa),
        one("ac1", "Gwet's AC1", c.gwet_ac),
    ]
    if scale.weights != "identity":
        found += [
            one("weighted_percent", f"percent agreement, {by}", lambda s: c.percent_agreement(s, weighted=True)),
            one("weighted_fleiss", f"Fleiss' kappa, {by}", lambda s: c.fleiss_kappa(s, near)),
            one("ac2", f"Gwet's AC2, {by}", lambda s: c.gwet_ac(s, near)),
        ]
    return tuple(found)


def _classes(whole: Sums, drawn: Sums, labels: list[Hashable], level: float) -> tuple[ClassAgreement, ...]:
    share = c.divided(whole.answers, whole.answers.sum())
    agreement, alpha = c.class_agreement(whole), c.class_alpha(whole)
    low, high = ends(c.class_alpha(drawn), alpha, level)
    columns = (x.tolist() for x in (share, agreement, alpha, low, high))
    return tuple(ClassAgreement(*row) for row in zip(labels, *columns, strict=True))


def _strongest_first(pairs: Pairs) -> Pairs:
    """Pairs that share most items come first."""
    order = np.argsort(-pairs.shared, kind="stable")
    first, second = ([side[i] for i in order] for side in (pairs.first, pairs.second))
    agreement, kappa, low, high = (x[order] for x in (pairs.agreement, pairs.kappa, pairs.low, pairs.high))
    return Pairs(first, second, pairs.shared[order], agreement, kappa, low, high)
