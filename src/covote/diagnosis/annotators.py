"""Every annotator in one row: counts, a model and perhaps answers and intervals in, a table of plain values out."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from covote.annotations import Annotations
from covote.counts import PairCounts
from covote.intervals import Intervals, skill, spammer_score
from covote.model import FLOOR, Model

Floats = NDArray[np.float64]

ENOUGH = 10
"""Answers below which nothing is said against an annotator."""

RANDOM = 0.05
"""p-value above which an annotator with enough answers passes for one who answers at random."""


class Kind(enum.Enum):
    """What an annotator is like, in words."""

    GOOD = "better than random"
    RANDOM = "no better than random"
    CONTRARY = "worse than random"
    THIN = "too few answers to tell"
    ALONE = "nothing to compare it with"


@dataclass(frozen=True)
class Estimate:
    """A value and, where intervals were asked for, its ends."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class AnnotatorRow:
    """What the diagnosis says about one annotator."""

    annotator: Any
    answers: int
    partners: int  # annotators it shares items with
    accuracy: Estimate
    bits: Estimate  # what one answer tells about the class
    spammer_score: Estimate  # 0 perfect, 1 answers tell nothing
    skill: Estimate  # accuracy above what its label frequencies give by luck; below 0 it misleads
    better_p: float | None  # chance of answers this good from somebody who answers at random
    kind: Kind
    one_label: Any | None  # the label it always gives, if it gives one only
    worst_class: Any | None  # the commonest confusion: this class ...
    worst_label: Any | None  # ... called that
    worst_rate: float  # how often, when the class comes up


def annotator_rows(
    counts: PairCounts,
    model: Model,
    *,
    annotations: Annotations | None = None,
    posterior: Floats | None = None,
    intervals: Intervals | None = None,
) -> tuple[AnnotatorRow, ...]:
    """The table, in the order of the codes; the test against random answering needs answers and posteriors."""
    M = counts.n_annotators
    answers = counts.label_counts.sum(axis=1)
    partners = np.bincount(np.concatenate([counts.first, counts.second]), minlength=M)
    beside = _beside(counts, annotations)
    known = annotations is not None and posterior is not None
    p = random_answer_p(annotations, model, posterior) if known else np.full(M, np.nan)
    columns = {
        "accuracy": model.accuracy,
        "bits": model.informativeness,
        "spammer_score": spammer_score(model),
        "skill": skill(model),
    }
    rows = []
    for m in range(M):
        estimates = {name: _estimate(name, values, m, intervals) for name, values in columns.items()}
        worst = _worst(model, m)
        rows.append(
            AnnotatorRow(
                annotator=model.annotators[m],
                answers=round(float(answers[m])),
                partners=int(partners[m]),
                better_p=float(p[m]) if known else None,
                kind=_kind(float(answers[m]), float(beside[m]), estimates["skill"], float(p[m])),
                one_label=_only_label(counts, m),
                worst_class=worst[0],
                worst_label=worst[1],
                worst_rate=worst[2],
                **estimates,
            )
        )
    return tuple(rows)


def random_answer_p(annotations: Annotations | None, model: Model, posterior: Floats | None) -> Floats:
    """Of each annotator: the chance that its own labels, dealt out to its items at random, do as well; (annotators,).

    Each answer scores the probability of its label by all other answers to the item. The mean and variance over all
    orders of the annotator's labels are exact (Hoeffding 1951), the tail is the normal one.
    """
    assert annotations is not None
    assert posterior is not None
    a, M, K = annotations, annotations.n_annotators, annotations.n_classes
    item, who, label = a.item, a.annotator, a.label
    others = posterior[item] / np.maximum(model.confusion[who, label], FLOOR)  # (answers, classes): own vote taken out
    others /= np.maximum(others.sum(axis=1, keepdims=True), 1e-300)
    n = np.bincount(who, minlength=M).astype(np.float64)
    used = np.bincount(who * K + label, minlength=M * K).reshape(M, K) / np.maximum(n, 1)[:, None]  # label frequencies
    # (annotators, labels): mean score were the label given everywhere
    column = np.stack(
        [np.bincount(who, weights=others[:, k], minlength=M) / np.maximum(n, 1) for k in range(K)], axis=1
    )
    row = np.einsum("ak,ak->a", others, used[who])  # (answers,): mean score over the annotator's labels
    grand = np.einsum("mk,mk->m", column, used)
    centred = others - row[:, None] - column[who] + grand[who][:, None]
    spread = np.bincount(who, weights=np.einsum("ak,ak->a", centred**2, used[who]), minlength=M)
    variance = spread * n / np.maximum(n - 1, 1)
    total = np.bincount(who, weights=others[np.arange(len(who)), label], minlength=M)
    z = (total - n * grand) / np.sqrt(np.maximum(variance, 1e-12))
    return np.asarray(
        np.where(variance > 1e-9 * np.maximum(n, 1), norm.sf(z), 0.5)
    )  # one label, or nobody to compare with


def _estimate(name: str, values: Floats, m: int, intervals: Intervals | None) -> Estimate:
    if intervals is None:
        return Estimate(float(values[m]), None, None)
    found = getattr(intervals, name)
    return Estimate(float(values[m]), float(found.low[m]), float(found.high[m]))


def _beside(counts: PairCounts, annotations: Annotations | None) -> Floats:
    """Answers to items that somebody else answered too, (annotators,); from counts alone, at most these."""
    M = counts.n_annotators
    if annotations is not None and counts.n_classes > 1:
        size = np.diff(annotations.offsets)
        return np.bincount(annotations.annotator[np.repeat(size > 1, size)], minlength=M).astype(np.float64)
    met = np.zeros(M)
    for end in (counts.first, counts.second):
        np.add.at(met, end, counts.shared)
    # with one class no comparison tells anything
    return np.asarray(np.minimum(met, counts.label_counts.sum(axis=1)) if counts.n_classes > 1 else np.zeros(M))


def _kind(answers: float, beside: float, found: Estimate, p: float) -> Kind:
    if answers < ENOUGH:
        return Kind.THIN
    if beside < ENOUGH:
        return Kind.ALONE
    if np.isnan(p):  # no answers at hand: the interval of the skill decides, or else its sign
        low, high = (found.value if end is None else end for end in (found.low, found.high))
        p = 0.0 if low > 0 else 1.0 if high < 0 else 0.5
    if p > 1 - RANDOM:
        return Kind.CONTRARY
    return Kind.RANDOM if p > RANDOM else Kind.GOOD


def _only_label(counts: PairCounts, m: int) -> Any | None:
    used = np.flatnonzero(counts.label_counts[m] > 0)
    alone = len(used) == 1 and counts.label_counts[m].sum() >= ENOUGH
    return counts.classes[int(used[0])] if alone else None


def _worst(model: Model, m: int) -> tuple[Any | None, Any | None, float]:
    """The wrong label most often given, counted by how often the class comes up."""
    wrong = model.confusion[m] * model.prior * (1 - np.eye(model.n_classes))
    label, klass = np.unravel_index(int(wrong.argmax()), wrong.shape)
    if wrong[label, klass] <= 0:
        return None, None, 0.0
    return model.classes[int(klass)], model.classes[int(label)], float(model.confusion[m, label, klass])
