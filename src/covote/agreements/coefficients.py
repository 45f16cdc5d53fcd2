"""Sums over items in, coefficients of agreement out; formulas hold for redrawn crowds on leading axes, too.

Missing answers are handled as in Gwet, Handbook of Inter-Rater Reliability (2014): every pair of answers to an item
counts, an item counts once however many answers it has, and items with one answer speak for how common labels are
(Fleiss, Gwet) or not at all (Krippendorff). What is not defined is NaN.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covote.agreements.scales import Scale
from covote.agreements.sums import Sums

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ratio:
    """A coefficient (observed - expected) / (1 - expected), with its two parts."""

    observed: Floats
    expected: Floats

    @property
    def value(self) -> Floats:
        return divided(self.observed - self.expected, 1 - self.expected)


def divided(top: Floats, bottom: Floats) -> Floats:
    """Top / bottom, NaN where the bottom is 0 up to rounding."""
    zero = np.abs(bottom) < 1e-12
    return np.asarray(np.where(zero, np.nan, top / np.where(zero, 1.0, bottom)))


def percent_agreement(s: Sums, *, weighted: bool = False) -> Floats:
    """Chance that two answers to an item, drawn at random, are the same (or their mean closeness)."""
    return divided(s.close if weighted else s.same, s.pairable)


def fleiss_kappa(s: Sums, closeness: Floats | None = None) -> Ratio:
    """Fleiss' kappa, generalised to missing answers; with closeness, weighted."""
    p = divided(s.shares, s.items[..., None])
    expected = (p * p).sum(axis=-1) if closeness is None else ((p @ closeness) * p).sum(axis=-1)
    return Ratio(percent_agreement(s, weighted=closeness is not None), expected)


def gwet_ac(s: Sums, closeness: Floats | None = None) -> Ratio:
    """Gwet's AC1; with closeness, AC2."""
    p = divided(s.shares, s.items[..., None])
    K = p.shape[-1]
    total = float(K if closeness is None else closeness.sum())
    factor = total / (K * (K - 1)) if K > 1 else np.nan
    return Ratio(percent_agreement(s, weighted=closeness is not None), factor * (p * (1 - p)).sum(axis=-1))


def krippendorff_alpha(s: Sums, scale: Scale) -> Floats:
    """Krippendorff's alpha: 1 - observed / expected disagreement, by the distances of the scale."""
    n = s.answers.sum(axis=-1)
    if scale.name == "nominal":
        expected = n * n - (s.answers * s.answers).sum(axis=-1)
    else:
        expected = ((s.answers @ scale.distance) * s.answers).sum(axis=-1)
    return 1 - divided((n - 1) * s.apart, expected)


def class_agreement(s: Sums) -> Floats:
    """Given one answer of a class, the chance that another answer to the item is the same, (..., labels)."""
    return divided(s.repeated, s.answers)


def class_alpha(s: Sums) -> Floats:
    """Krippendorff's alpha of each class against all others taken together, (..., labels)."""
    n = s.answers.sum(axis=-1, keepdims=True)
    return 1 - divided((n - 1) * (s.answers - s.repeated), s.answers * (n - s.answers))
