"""Probabilities of items and true labels of some in; the share of positive items with its interval, by four ways, out.

Gold items are taken for a random part of all items, or of each stratum. The target is the share among these very items;
with `sampled` it is that of the population they were drawn from.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

UNKNOWN = -1
"""Gold of an item whose true label is not known; otherwise 1 (positive) or 0."""


@dataclass(frozen=True)
class Settings:
    """The numbers that decide an interval."""

    level: float = 0.9
    sampled: bool = False
    pseudo: float = 1.0
    """Errors of the judges added to the gold, half of each kind, with as many right answers, so that few gold labels
    never prove judges perfect. Chosen among 0.5, 1 and 2 on drawn panels; no real crowd had a say."""
    fewest: int = 10
    """Gold labels below which judges are not corrected."""
    strata: int = 4
    """Most strata of equal size by the probability of the positive class; each holds `fewest` gold labels."""

    @property
    def z(self) -> float:
        """Standard deviations on either side."""
        return NormalDist().inv_cdf(0.5 + self.level / 2)


@dataclass(frozen=True)
class Estimate:
    """A share with its interval, and how many independent gold labels would give that interval."""

    value: float
    low: float
    high: float
    worth: float  # inf where nothing is left to chance
    gold: int = 0
    left: float = 1.0  # share of the variance of gold labels that the judges leave

    @property
    def width(self) -> float:
        """High minus low."""
        return self.high - self.low


def wilson(p: float, n: float, z: float) -> tuple[float, float]:
    """Wilson's interval of a share seen on n items; n need not be whole.

    >>> [round(x, 3) for x in wilson(0.5, 100, 1.645)]
    [0.419, 0.581]
    """
    centre, reach = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return max(0.0, float((centre - reach) / scale)), min(1.0, float((centre + reach) / scale))


def gold_alone(gold: Ints, settings: Settings) -> Estimate | None:
    """What the gold labels say without any judge; None without gold."""
    known = gold[gold != UNKNOWN]
    if not len(known):
        return None
    return estimate(float(known.mean()), noise(1.0, len(known), len(gold), settings), len(known), settings)


def model_alone(probability: Floats, doubt: float, settings: Settings) -> Estimate:
    """Mean probability; its variance is that of the items' classes and `doubt`, that of what the model learnt.

    With infinite doubt the interval is everything: who does not know the judges knows nothing.
    """
    p = float(probability.mean())
    if np.isinf(doubt):
        return Estimate(p, 0.0, 1.0, 0.0)
    variance = item_variance(probability) + doubt
    return estimate(p, variance / max(p * (1 - p), 1e-12) + settings.sampled / len(probability), 0, settings)


def item_variance(probability: Floats) -> float:
    """Variance of the share of items that are positive with these probabilities."""
    return float((probability * (1 - probability)).sum()) / len(probability) ** 2


def corrected(probability: Floats, gold: Ints, settings: Settings) -> Estimate | None:
    """Prediction-powered inference (PPI++): gold mean + weight * (mean probability of all items - of gold items).

    None with fewer gold labels than `fewest`.
    """
    known = gold != UNKNOWN
    n = int(known.sum())
    if n < settings.fewest:
        return None
    y, f = gold[known].astype(np.float64), probability[known]
    fit = power(y, f, settings.pseudo)
    p = float(y.mean() + fit.weight * (probability.mean() - f.mean()))
    return estimate(p, noise(fit.left, n, len(gold), settings), n, settings, fit.left)


def stratified(probability: Floats, gold: Ints, settings: Settings, strata: Ints | None = None) -> Estimate | None:
    """The same within strata of the probability, then the mean over strata by their sizes.

    Right also where gold was chosen by confidence, as long as it is random within a stratum. None with few gold labels.
    """
    known = gold != UNKNOWN
    n, N = int(known.sum()), len(gold)
    if n < settings.fewest:
        return None
    part = cut(probability, known, settings) if strata is None else strata
    y, f = gold[known].astype(np.float64), probability[known]
    fit = power(y, f, settings.pseudo)
    rest = gold - fit.weight * probability
    p, variance = fit.weight * float(probability.mean()), 0.0
    for h in np.unique(part):
        inside = part == h
        r = rest[inside & known]
        size, m = int(inside.sum()), len(r)
        p += size / N * float(r.mean())
        added = 2 * settings.pseudo * m / n
        square = (float(((r - r.mean()) ** 2).sum()) + added * fit.pseudo_square) / max(m - 1 + added, 1e-12)
        variance += (size / N) ** 2 * square * (1 / m - 1 / size)
    left = variance / fit.total / (1 / n - 1 / N) if n < N else 0.0
    return estimate(p, variance / fit.total + settings.sampled / N, n, settings, left)


@dataclass(frozen=True)
class Power:
    """How well probabilities explain the gold."""

    weight: float  # of the probabilities
    left: float  # share of the variance of gold that they leave
    total: float  # variance of gold
    pseudo_square: float  # mean squared rest of the pseudo items


def power(y: Floats, f: Floats, pseudo: float) -> Power:
    """The weight of least variance, not below 0; pseudo items, a quarter of each kind, steady all of it."""
    w = np.concatenate([np.ones(len(y)), np.full(4, pseudo / 2)])
    y, f = np.concatenate([y, [1.0, 0.0, 1.0, 0.0]]), np.concatenate([f, [1.0, 0.0, 0.0, 1.0]])
    dy, df = y - np.average(y, weights=w), f - np.average(f, weights=w)
    weight = max(float(w @ (dy * df) / (w @ (df * df))), 0.0)
    rest, total = dy - weight * df, float(w @ (dy * dy))
    return Power(weight, float(w @ rest**2) / total, total / float(w.sum()), float((rest[-4:] ** 2).mean()))


def cut(probability: Floats, known: NDArray[np.bool_], settings: Settings) -> Ints:
    """Stratum of every item: of equal sizes by probability, joined until each holds `fewest` gold labels, (items,).

    Items of the same probability stay together.
    """
    edges = np.unique(np.quantile(probability, np.arange(1, settings.strata) / settings.strata))
    part = np.searchsorted(edges, probability, side="right")
    place, held, count = np.zeros(part.max() + 1, np.int64), 0, 0
    gold = np.bincount(part[known], minlength=len(place))
    for h in range(len(place)):
        place[h] = count
        held += int(gold[h])
        if held >= settings.fewest:
            count, held = count + 1, 0
    last = max(count - 1, 0) if held < settings.fewest else count
    return np.asarray(np.minimum(place, last)[part])


def noise(left: float, n: int, N: int, settings: Settings) -> float:
    """Variance of an estimate from n of N items in units of p (1 - p), if judges leave this share of it."""
    return left * (1 / n - 1 / N) + settings.sampled / N


def estimate(p: float, noise: float, n: int, settings: Settings, left: float = 1.0) -> Estimate:
    """A share within 0 and 1 with its interval."""
    p = min(max(p, 0.0), 1.0)
    if noise <= 1e-15:
        return Estimate(p, p, p, float("inf"), n, left)
    low, high = wilson(p, 1 / noise, settings.z)
    return Estimate(p, min(low, p), max(high, p), 1 / noise, n, left)
