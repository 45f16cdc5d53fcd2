"""Probabilities, gold labels and systems of items in, a Rate out."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from covote.errors import InputError
from covote.rates.difference import Difference, Items, correlation, mover
from covote.rates.estimate import UNKNOWN, Settings, corrected, gold_alone, model_alone, stratified
from covote.rates.needed import needed
from covote.rates.value import Rate, Share
from covote.rates.words import sentences

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CHOSEN = 3.3
"""Standard deviations from which gold items are taken not to be a random part: one in a thousand by chance."""


def measure_rate(
    items: Items,
    systems: Mapping[Hashable, NDArray[np.int64]],
    *,
    positive: Hashable,
    method: str,
    settings: Settings,
    width: float | None = None,
) -> Rate:
    """The share of all items, of each system (positions of its items), and all differences."""
    if not 0 < settings.level < 1 or (width is not None and not 0 < width < 1):
        msg = f"The level and the width must be between 0 and 1, got {settings.level} and {width}."
        raise InputError(msg)
    whole = share_of(items, settings, width)
    parts = {name: _only(items, where, name) for name, where in systems.items()}
    shares = {name: share_of(part, settings, width) for name, part in parts.items()}
    found = tuple(compare(a, b, parts[a], parts[b], shares[a], shares[b], settings) for a, b in combinations(shares, 2))
    told = tuple(sentences(positive, settings, whole, shares, found))
    return Rate(positive, settings.level, settings.sampled, method, whole, shares, found, told)


def share_of(items: Items, settings: Settings, width: float | None = None) -> Share:
    """The share by every way, and the way to publish.

    That is the plain correction; the one by confidence where gold was evidently not chosen at random; gold alone where
    it is too little to check the judges; the model alone without gold.
    """
    f, gold = items.probability, items.gold
    ways = {
        "model": model_alone(f if items.model is None else items.model, items.doubt, settings),
        "gold": gold_alone(gold, settings),
        "corrected": corrected(f, gold, settings),
        "stratified": stratified(f, gold, settings),
    }
    n = int((gold != UNKNOWN).sum())
    best = "model" if n == 0 else "gold" if n < settings.fewest else "stratified" if chosen(items) else "corrected"
    published = ways[best]
    assert published is not None
    wish = None if width is None or n < settings.fewest else needed(published, len(f), width, settings)
    return Share(len(f), n, **ways, best=best, needed=wish)  # type: ignore[arg-type]


def chosen(items: Items) -> bool:
    """Whether gold items differ from the others in their probabilities by more than chance."""
    f, known = items.probability, items.gold != UNKNOWN
    n, N = int(known.sum()), len(f)
    spread = float(f.std()) * np.sqrt(max(1 / max(n, 1) - 1 / N, 0.0))
    return bool(n > 0 and abs(f[known].mean() - f.mean()) > _CHOSEN * spread + 1e-12)


def compare(
    first: Hashable, second: Hashable, a: Items, b: Items, share_a: Share, share_b: Share, settings: Settings
) -> Difference:
    """The difference of two systems by the estimates to publish."""
    one, two = share_a.estimate, share_b.estimate
    together, shared = correlation(a, b, one, two, settings)
    return Difference(first, second, *mover(one, two, together), shared, together)


def _only(items: Items, where: NDArray[np.int64], system: Hashable) -> Items:
    pair = None if items.pair is None else items.pair[where]
    if pair is not None and len(np.unique(pair)) < len(pair):
        msg = f"System '{system}' has two items of the same pair. Give every item of a system an input of its own."
        raise InputError(msg)
    model = None if items.model is None else items.model[where]
    return Items(items.probability[where], items.gold[where], pair, model, items.doubt)
