"""Calibration: posteriors that are too sure in, ones that mean what they say out; answers are all it needs.

Models of answers claim too much: they take the answers to an item for independent evidence. A posterior q is softened
to q ** t, normalised. Where annotators err independently, as those of a crowd drawn from its model do, t is 1. Where
they err together (`covote.methods.redrawn` tells how probable that is), it is a product of what three witnesses say:

- held-out answers: the temperature under which posteriors predict them best;
- the information claimed: answers that each tell a large part of what there is to know about an item cannot all be
  independent, so I times the entropy of the class counts as one in 1 + I of it;
- whose errors they are: where annotators differ in skill, disagreement is theirs and the rest may be trusted; where all
  are alike, it is the items that are hard, for everybody at once.

The exponents and the constant are the same for every crowd; they were chosen on some crowds and checked on others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from covote.annotations.value import Annotations
from covote.methods.heldout import Forecast

Floats = NDArray[np.float64]

UNSEEN = 1.4
"""The constant of `temperatures`: how far the truth lies from the answers, beyond what answers show."""

ALIKE = 0.2
"""The exponent of the skill share in `temperatures`."""

_GRID = np.geomspace(0.1, 1.5, 12)
_ROWS = 2**12  # softened at a time, so that they stay in the cache


def tempered(posterior: Floats, temperature: Floats, share: float = 1.0, onto: Floats | None = None) -> Floats:
    """Soften: posterior ** temperature, rows normalised, times `share`, added to `onto` (zeros when None).

    `posterior` and the result are (items, classes), `temperature` is (items,).

    >>> tempered(np.array([[0.9, 0.1]]), np.array([0.5])).round(2).tolist()
    [[0.75, 0.25]]
    """
    out = np.zeros_like(posterior) if onto is None else onto
    for start in range(0, len(posterior), _ROWS):
        rows = slice(start, start + _ROWS)
        soft = np.exp(temperature[rows, None] * _logs(posterior[rows]))
        out[rows] += soft * (share / soft.sum(axis=1, keepdims=True))
    return out


def _logs(posterior: Floats) -> Floats:
    """Logarithms (items, classes), shifted so that the largest of a row is 0."""
    log = np.log(np.maximum(posterior, 1e-300))
    return np.asarray(log - log.max(axis=1, keepdims=True))


def heldout_temperature(forecasts: Sequence[Forecast], shares: Sequence[float]) -> float:
    """The temperature under which forecasts, mixed by `shares`, predict the answers set aside best; 1 without any."""
    answers = len(forecasts[0].posterior)
    if answers == 0:
        return 1.0
    total = np.zeros(len(_GRID))
    for start in range(0, answers, _ROWS):
        rows = slice(start, start + _ROWS)
        chance = np.zeros((len(_GRID), len(forecasts[0].posterior[rows])))
        for one, share in zip(forecasts, shares, strict=True):
            chance += share * _chances(one.posterior[rows], one.given_class[rows]) if share else 0.0
        total += np.log(np.maximum(chance, 1e-300)).sum(axis=1)
    return float(_GRID[int(total.argmax())])


def _chances(posterior: Floats, given_class: Floats) -> Floats:
    """Probability of each answer (grid, answers) when the posterior of its item is softened by each of the grid."""
    log = _logs(posterior)
    soft = np.exp(_GRID[:, None, None] * log)  # (grid, answers, classes)
    return np.asarray((soft * given_class).sum(axis=2) / soft.sum(axis=2))


def power_for(confidence: float, posterior: Floats) -> float:
    """The power that softens `posterior` (items, classes) to this mean confidence, between 0.02 and 1.5.

    >>> round(power_for(0.75, np.array([[0.9, 0.1]])), 2)
    0.5
    """
    low, high = np.log(0.02), np.log(1.5)
    for _ in range(12):
        middle = (low + high) / 2
        sure = float(tempered(posterior, np.full(len(posterior), np.exp(middle))).max(axis=1).mean())
        low, high = (middle, high) if sure < confidence else (low, middle)
    return float(np.exp((low + high) / 2))


def claimed_information(annotations: Annotations, information: Floats) -> Floats:
    """Sum over an item's answers of the `information` (annotators,) that each is worth: (items,)."""
    each = information[annotations.annotator]
    return np.asarray(np.bincount(annotations.item, weights=each, minlength=annotations.n_items), np.float64)


def skill_share(accuracy: Floats, answers: Floats) -> float:
    """Part of the variance of being right that annotators account for, between 0.01 and 1.

    >>> round(skill_share(np.array([1.0, 0.5]), np.array([10.0, 10.0])), 2)
    0.33
    """
    weight = answers / max(float(answers.sum()), 1e-300)
    mean = float(weight @ accuracy)
    between = float(weight @ (accuracy - mean) ** 2)
    return float(np.clip(between / max(mean * (1 - mean), 1e-12), 0.01, 1.0))


def temperatures(heldout: float, claimed: Floats, skill: float, shared: float = 1.0) -> Floats:
    """The temperature of every item, (items,): `claimed` is the item's, the others are the crowd's.

    `shared` is the probability that annotators err together: the logarithm of the temperature is its mean over
    whether they do.

    >>> [temperatures(0.64, np.array([3.0]), 1.0, shared).round(2).item() for shared in (0.0, 0.5, 1.0)]
    [1.0, 0.75, 0.56]
    """
    together = UNSEEN * skill**ALIKE * np.sqrt(heldout / (1 + claimed))
    return np.asarray(together**shared)
