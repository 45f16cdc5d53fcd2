"""Scores of a result against the truth: error, confusion MSE up to class order, log-loss, calibration."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covote.annotations import Annotations
from covote.labels import TIE
from covote.methods.align import best_order
from covote.model import Model

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Interval:
    """A value with the ends of its interval."""

    value: float
    low: float
    high: float


def item_credit(probability: Floats, truth: Ints) -> Floats:
    """Of every item with truth: 1 where the most probable class is right, the fraction 1/t in a tie of t classes.

    `truth` holds class codes; items with -1 have no truth, -2 marks a class nobody named (never right).

    >>> item_credit(np.array([[0.5, 0.5], [0.9, 0.1]]), np.array([0, 1])).tolist()
    [0.5, 0.0]
    """
    known = truth != -1
    p, y = probability[known], truth[known]
    tied = p >= p.max(axis=1, keepdims=True) - TIE
    right = np.where(y >= 0, tied[np.arange(len(y)), np.maximum(y, 0)], False)
    return np.asarray(right / tied.sum(axis=1))


def error_rate(probability: Floats, truth: Ints) -> float:
    """Share of items with truth that are labelled wrongly, ties counted as fractions."""
    credit = item_credit(probability, truth)
    return float(1 - credit.mean()) if len(credit) else float("nan")


def error_interval(probability: Floats, truth: Ints, *, z: float = 1.6448536269514722) -> Interval:
    """The error with its Wilson interval (90 % by default)."""
    credit = item_credit(probability, truth)
    n = len(credit)
    if n == 0:
        return Interval(float("nan"), float("nan"), float("nan"))
    p = float(1 - credit.mean())
    centre, spread = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return Interval(p, max(0.0, float((centre - spread) / scale)), min(1.0, float((centre + spread) / scale)))


def confusion_mse(truth: Model, found: Model) -> float:
    """The paper's MSE: mean over annotators of sum of squares per column, for the best common class order.

    >>> m = Model(np.ones(2) / 2, np.eye(2)[None], (0, 1), ("a",))
    >>> confusion_mse(m, m.permuted(np.array([1, 0])))
    0.0
    """
    a, b = truth.confusion, found.confusion
    cost = ((a[:, :, :, None] - b[:, :, None, :]) ** 2).sum(axis=1).mean(axis=0)  # (true class, found class)
    order = best_order(-cost)
    return float(cost[np.arange(len(order)), order].mean())


def match_classes(truth: Model, found: Model) -> Model:
    """`found` with its classes reordered to match `truth` best (for synthetic crowds, as in the paper)."""
    cost = ((truth.confusion[:, :, :, None] - found.confusion[:, :, None, :]) ** 2).sum(axis=(0, 1))
    return found.permuted(best_order(-cost))


def log_loss(probability: Floats, truth: Ints, *, floor: float = 1e-6) -> float:
    """Mean of -log of the probability given to the true class, probabilities below `floor` raised to it."""
    known = truth >= 0
    p = probability[known][np.arange(int(known.sum())), truth[known]]
    return float(-np.log(np.maximum(p, floor)).mean()) if len(p) else float("nan")


def calibration_error(probability: Floats, truth: Ints, *, bins: int = 15) -> float:
    """Mean distance between confidence and accuracy over `bins` equal bins of confidence, weighted by items."""
    known = truth != -1
    confidence = probability[known].max(axis=1)
    credit = item_credit(probability, truth)
    place = np.minimum((confidence * bins).astype(int), bins - 1)
    size = np.bincount(place, minlength=bins)
    gap = np.abs(
        np.bincount(place, weights=confidence, minlength=bins) - np.bincount(place, weights=credit, minlength=bins)
    )
    return float(gap.sum() / max(size.sum(), 1))


@dataclass(frozen=True)
class SingleAnnotator:
    """How one annotator alone does on the items it answered that have truth."""

    annotator: Hashable
    answers: int
    error: float


def single_annotators(annotations: Annotations, truth: Ints) -> list[SingleAnnotator]:
    """Error of every annotator who answered an item with truth: the reference rows of single best and worst."""
    known = truth[annotations.item] != -1
    who = annotations.annotator[known]
    wrong = annotations.label[known] != truth[annotations.item[known]]
    answers = np.bincount(who, minlength=annotations.n_annotators)
    errors = np.bincount(who, weights=wrong, minlength=annotations.n_annotators)
    return [
        SingleAnnotator(annotations.annotators[int(m)], int(answers[m]), float(errors[m] / answers[m]))
        for m in np.flatnonzero(answers)
    ]
