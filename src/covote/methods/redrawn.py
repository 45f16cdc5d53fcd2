"""The crowd drawn again from its own model: answers and a fit in, the probability that annotators err together out.

Annotators who err independently, given the class, look like a crowd drawn from their fitted model. Hard items, looks
that fool everybody and copied answers show: the number of answers that name an item's class varies more from item to
item than independence allows. How much more chance alone would make it is seen by drawing crowds from the
model, on the same items by the same annotators, and fitting these too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations.value import Annotations
from covote.engines.base import HasAnnotations
from covote.methods.family import MIDDLE, fit_member
from covote.methods.heldout import glimpse
from covote.model import Model, pick

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DRAWS = 4
"""Crowds drawn; more would sharpen the comparison by less than a tenth."""

ENOUGH = 50_000
"""Answers that suffice: of larger crowds, a part of the items is drawn again."""

FEW_ROUNDS = 4
"""Rounds of EM for each crowd: it starts from a fit, or from the model that it was drawn from."""

USUAL = 0.8
"""Probability that annotators err together before anything is seen: four crowds in five do."""

EXPLAINED = 0.5
"""The same where groups of copies were found that leave no pair's agreement unexplained: an even chance."""

TYPICAL = 0.03
"""Correlation of the errors of two annotators on an item where they err together: the middle of those seen."""


@dataclass(frozen=True, eq=False)
class Dispersion:
    """Variance of the answers that name an item's class over what independence makes it: 1 under the true model."""

    value: float
    error: float  # standard error, over items
    partners: float  # answers that an answer meets on its item, on average


def shared_errors(
    engine: HasAnnotations, model: Model, weight: Floats, prior: Floats | None = None, usual: float = USUAL
) -> float:
    """Probability that annotators err together, by the dispersion of the crowd and of ones drawn from its model.

    `model` is where the fit starts, `weight` (annotators,) what an answer of each annotator is worth to it, a `prior`
    (classes,) is held fixed. Where the crowd is too small or thin to tell, the probability stays near `usual`.
    """
    engine = glimpse(engine, ENOUGH)
    if not (np.diff(engine.annotations.offsets) > 1).any():
        return usual
    seen, fitted = _fit(engine, model, weight, prior)
    drawn = [_fit(_redrawn(engine, fitted, seed), fitted, None, prior)[0] for seed in range(DRAWS)]
    error = float(np.mean([d.error for d in drawn]))
    surplus = (seen.value - float(np.mean([d.value for d in drawn]))) / (error * np.sqrt(1 + 1 / DRAWS))
    return probability(surplus, TYPICAL * seen.partners / error, usual)


def probability(surplus: float, power: float, usual: float = USUAL) -> float:
    """Probability of shared errors, given the `surplus` of dispersion in standard errors.

    For independent annotators it is standard normal. Shared errors add the positive half of a normal variable of
    deviation `power`; their sum has the density 2 N(surplus; 0, 1 + power^2) Phi(surplus power / sqrt(1 + power^2)).

    >>> [round(probability(surplus, power=6.0), 2) for surplus in (-2.0, 0.0, 2.0, 4.0)]
    [0.18, 0.4, 0.9, 1.0]
    >>> round(probability(2.0, power=0.0), 2)  # a crowd that could not show it
    0.8
    """
    spread = 1 + power**2
    growth = math.exp(min(0.5 * surplus**2 * (1 - 1 / spread), 300.0)) / math.sqrt(spread)
    positive = math.erfc(-surplus * power / math.sqrt(2 * spread))  # 2 Phi
    odds = usual / (1 - usual) * growth * positive
    return odds / (1 + odds)


def _fit(engine: HasAnnotations, start: Model, weight: Floats | None, prior: Floats | None) -> tuple[Dispersion, Model]:
    same: Any = engine
    fit = fit_member(same, MIDDLE, start, prior=prior, weight=weight, rounds=FEW_ROUNDS)
    return dispersion(engine.annotations, fit.model, fit.posterior(same)), fit.model


def dispersion(a: Annotations, model: Model, posterior: Floats) -> Dispersion:
    """Over items of several answers: squares of (answers that name the class - those expected) / their variance.

    The class is unknown; squares and variances are averaged over the `posterior` (items, classes).
    """
    several = np.diff(a.offsets) > 1
    right = np.einsum("mkk->mk", model.confusion)  # (annotators, classes)
    square, variance = np.zeros(a.n_items), np.zeros(a.n_items)
    for k in range(a.n_classes):
        chance = right[a.annotator, k]
        surplus = np.bincount(a.item, (a.label == k) - chance, minlength=a.n_items)
        square += posterior[:, k] * surplus**2
        variance += posterior[:, k] * np.bincount(a.item, chance * (1 - chance), minlength=a.n_items)
    square, variance, partners = square[several], variance[several], np.diff(a.offsets)[several] - 1
    total = max(float(variance.sum()), 1e-12)
    value = float(square.sum()) / total
    error = float(np.sqrt(((square - value * variance) ** 2).sum())) / total
    return Dispersion(value, max(error, 1 / len(square)), float(variance @ partners) / total)


def _redrawn(engine: HasAnnotations, model: Model, seed: int) -> HasAnnotations:
    some: Any = engine
    drawn: HasAnnotations = replace(some, annotations=redraw(engine.annotations, model, seed), gold=None)
    return drawn


def redraw(a: Annotations, model: Model, seed: int) -> Annotations:
    """The same annotators answer the same items, as `model` has it.

    Random numbers are handed out by what items, annotators and classes are like and not by their names or order, so
    that a shuffled table gives the same crowd.
    """
    rng = np.random.default_rng(seed)
    classes, rank = np.argsort(-model.prior, kind="stable"), _ranks(model.informativeness)
    place = _ranks(_marks(a, rank, _ranks(-model.prior)))  # of every item
    truth = pick(rng.random(a.n_items)[place], np.cumsum(model.prior[classes]))
    order = np.lexsort((rank[a.annotator], place[a.item]))
    number = np.empty(a.n_labels)
    number[order] = rng.random(a.n_labels)
    chances = np.cumsum(model.confusion[:, classes][:, :, classes], axis=1)  # (annotators, labels, classes)
    label = classes[pick(number, chances[a.annotator, :, truth[a.item]])]
    answer = (a.annotator * a.n_classes + label).astype(a.answer.dtype)
    return Annotations(a.offsets, answer, a.items, a.annotators, a.classes)


def _ranks(values: NDArray[Any]) -> Ints:
    rank = np.empty(len(values), np.int64)
    rank[np.argsort(values, kind="stable")] = np.arange(len(values))
    return rank


def _marks(a: Annotations, annotator_rank: Ints, class_rank: Ints) -> NDArray[np.uint64]:
    """A number for every item that depends on its answers alone; items answered alike may be taken for one another."""
    key = (annotator_rank[a.annotator] * a.n_classes + class_rank[a.label] + 1).astype(np.uint64)
    for shift in (33, 29):  # a hash of each answer, so that sums over an item differ
        key = (key ^ (key >> np.uint64(shift))) * np.uint64(0x9E3779B97F4A7C15)
    mark = np.zeros(a.n_items, np.uint64)
    np.add.at(mark, a.item, key ^ (key >> np.uint64(31)))
    return mark
