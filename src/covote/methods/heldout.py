"""Held-out answers: some answers are set aside, models are fitted to the rest, and asked for what was set aside."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations.distinct_rows import RepeatedRows
from covote.annotations.value import Annotations, Vocabulary
from covote.engines.base import Engine, HasAnnotations
from covote.methods.em import Fitted
from covote.methods.misleading import by_class

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ONE_IN = 5
"""One answer in so many is set aside."""

ENOUGH = 20_000
"""Answers that suffice to choose by: of larger crowds, a part of the items is looked at."""


@dataclass(frozen=True, eq=False)
class HeldOut:
    """An engine over the answers that are left, and the answers set aside whose item has some left."""

    engine: Engine
    item: Ints  # (answers set aside,): items as the engine numbers them
    annotator: Ints
    label: Ints

    @property
    def n_answers(self) -> int:
        return len(self.item)


def hold_out(engine: HasAnnotations, quality: Floats) -> HeldOut:
    """Set aside one answer in five, spread over items and over good and bad annotators, ranked by `quality`.

    Which answers, depends on what was answered by whom and not on the order of items or the names of annotators and
    classes, so that a shuffled table gives the same result. Of crowds with more than ENOUGH answers, a
    part is looked at (`glimpse`).
    """
    engine = glimpse(engine)
    a = engine.annotations
    rank = np.empty(a.n_annotators, np.int64)
    rank[np.argsort(quality, kind="stable")] = np.arange(a.n_annotators)
    item, key = a.item, rank[a.annotator]
    place = np.empty(a.n_labels, np.int64)  # of every answer among those of its item, by rank of the annotator
    place[np.lexsort((key, item))] = np.arange(a.n_labels) - np.repeat(a.offsets[:-1], np.diff(a.offsets))
    mark = np.bincount(item, weights=(key + 1) * _agreeing(a), minlength=a.n_items).astype(np.int64)
    return _split(engine, (place + mark[item]) % ONE_IN == 0)


def glimpse(engine: HasAnnotations, enough: int = ENOUGH) -> HasAnnotations:
    """The engine with every second, third ... item, so that `enough` answers remain; as it is when it has no more."""
    items = glimpsed(engine.annotations, enough)
    return engine if len(items) == engine.annotations.n_items else part_of(engine, items)


def glimpsed(annotations: Annotations, enough: int = ENOUGH) -> Ints:
    """The items that a `glimpse` of the crowd leaves."""
    return np.arange(0, annotations.n_items, max(-(-annotations.n_labels // enough), 1))


def _agreeing(a: Annotations) -> Ints:
    """For every answer, how many answers of its item have the same label."""
    _, where, times = np.unique(a.item * a.n_classes + a.label, return_inverse=True, return_counts=True)
    return np.asarray(times[where], np.int64)


def _split(engine: HasAnnotations, aside: NDArray[np.bool_]) -> HeldOut:
    a = engine.annotations
    left = np.bincount(a.item, weights=~aside, minlength=a.n_items)
    kept = np.flatnonzero(left > 0)
    number = np.full(a.n_items, -1)
    number[kept] = np.arange(len(kept))
    asked = aside & (left > 0)[a.item]
    part: Any = part_of(engine, kept, ~aside)
    return HeldOut(part, number[a.item[asked]], a.annotator[asked], a.label[asked])


def part_of(engine: HasAnnotations, items: Ints, keep: NDArray[np.bool_] | None = None) -> HasAnnotations:
    """The engine with these items only, and of their answers those of `keep` (answers,)."""
    a = engine.annotations
    if isinstance(a, RepeatedRows) and keep is None:
        return _with(engine, a.only(items), items)
    sizes = np.diff(a.offsets)[items]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    rows = np.repeat(a.offsets[items] - starts[:-1], sizes) + np.arange(starts[-1])
    if keep is not None:
        held = np.concatenate([[0], np.cumsum(keep[rows])])
        starts, rows = held[starts], rows[keep[rows]]
    numbered = Vocabulary(np.arange(len(items)))
    part = Annotations(starts.astype(np.int64), a.answer[rows], numbered, a.annotators, a.classes)
    return _with(engine, part, items)


def _with(engine: HasAnnotations, annotations: Annotations, items: Ints) -> HasAnnotations:
    some: Any = engine
    part: HasAnnotations = replace(
        some,
        annotations=annotations,
        weight=None if engine.weight is None else engine.weight[items],
        gold=None if engine.gold is None else engine.gold[items],
    )
    return part


@dataclass(frozen=True, eq=False)
class Forecast:
    """What a fit to the answers left says of those set aside."""

    posterior: Floats  # (answers set aside, classes): the class of its item
    given_class: Floats  # (answers set aside, classes): probability of the answer, given the class
    log_probability: float  # mean over the answers set aside, natural logarithm


def forecast(held: HeldOut, fitted: Fitted) -> Forecast:
    """Ask a fit (to `held.engine`) for the answers set aside."""
    K = fitted.model.n_classes
    states = np.asarray(held.engine.posterior(fitted.scores))[held.item]
    answer = np.exp(fitted.states.scores.table[held.annotator, held.label])  # (answers, states)
    chance = np.einsum("as,as->a", states, answer)
    mean = float(np.log(np.maximum(chance, 1e-300)).mean()) if held.n_answers else -np.inf
    given_class = fitted.states.given_class(K)[held.annotator, held.label]
    return Forecast(by_class(states, K), given_class, mean)
