"""Shares of two systems in, their difference with its interval out, paired where they saw the same inputs."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covote.rates.estimate import UNKNOWN, Estimate, Settings, power

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Difference:
    """Share of the first system minus that of the second."""

    first: Hashable
    second: Hashable
    value: float
    low: float
    high: float
    paired: int  # inputs that both systems have, 0 where items are not paired
    correlation: float  # of the two estimates

    @property
    def clear(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, eq=False)
class Items:
    """The items of one system."""

    probability: Floats  # of the positive class, from any judges: gold corrects it
    gold: Ints
    pair: Ints | None = None  # the input of each item, no input twice
    model: Floats | None = None  # the same from a model of the judges, for the share without gold
    doubt: float = float("inf")  # variance of the model's share from what it had to learn about the judges


def mover(a: Estimate, b: Estimate, correlation: float) -> tuple[float, float, float]:
    """A - b with the ends of its interval, from the intervals of both (Newcombe 1998; Zou and Donner 2008)."""
    d, r = a.value - b.value, 2 * correlation
    down, up = a.value - a.low, a.high - a.value
    other_down, other_up = b.value - b.low, b.high - b.value
    low = d - np.sqrt(max(down**2 + other_up**2 - r * down * other_up, 0.0))
    high = d + np.sqrt(max(up**2 + other_down**2 - r * up * other_down, 0.0))
    return d, max(float(low), -1.0), min(float(high), 1.0)


def correlation(a: Items, b: Items, first: Estimate, second: Estimate, settings: Settings) -> tuple[float, int]:
    """Correlation of the estimates of two systems and the inputs that they share."""
    if a.pair is None or b.pair is None:
        return 0.0, 0
    shared, ia, ib = np.intersect1d(a.pair, b.pair, return_indices=True)
    N = len(shared)
    ya, yb, fa, fb = a.gold[ia], b.gold[ib], a.probability[ia], b.probability[ib]
    both = (ya != UNKNOWN) & (yb != UNKNOWN)
    n, covariance = int(both.sum()), 0.0
    if n >= settings.fewest and min(first.gold, second.gold) > 0:
        rests = [y[both] - _weight(items, settings) * f[both] for y, f, items in ((ya, fa, a), (yb, fb, b))]
        covariance = _covariance(*rests) * n / (first.gold * second.gold) * (1 - n / N)
    if settings.sampled and settings.fewest <= N:
        truths = (ya[both], yb[both]) if n >= settings.fewest else (fa, fb)
        covariance += _covariance(*truths) * N / (len(a.gold) * len(b.gold))
    spread = np.prod([max(e.value * (1 - e.value), 1e-12) / e.worth for e in (first, second)])
    return float(np.clip(covariance / np.sqrt(spread), -0.99, 0.99)) if spread > 0 else 0.0, N


def _weight(items: Items, settings: Settings) -> float:
    known = items.gold != UNKNOWN
    if known.sum() < settings.fewest:
        return 0.0
    return power(items.gold[known].astype(np.float64), items.probability[known], settings.pseudo).weight


def _covariance(x: NDArray[np.generic], y: NDArray[np.generic]) -> float:
    return float(np.cov(np.asarray(x, np.float64), np.asarray(y, np.float64))[0, 1])
