"""Plan from any table: answers so far (or none) and a budget in, the next assignments out."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from covote.annotations import Annotations
from covote.errors import InputError
from covote.estimators.base import Aggregator
from covote.estimators.summary import model_of
from covote.estimators.tables import read_table
from covote.model import Model
from covote.planning import Plan, Request, plan_answers

Pairs = Iterable[tuple[Any, Any]]


def plan(
    table: Any = None,
    *,
    budget: int,
    fit: Aggregator | Model | None = None,
    annotators: Iterable[Hashable] | None = None,
    items: Iterable[Hashable] | None = None,
    capacity: int | Mapping[Hashable, int] | None = None,
    exclude: Pairs = (),
    in_progress: Pairs = (),
    overlap: int | None = None,
    overlap_share: float = 0.5,
    seed: int = 0,
    **reading: Any,
) -> Plan:
    """Which items to give to which annotators next, `budget` answers in all.

    `table` is any table of answers or a fitted estimator; None starts from nothing with `items` and `annotators`. `fit`
    is what is believed of the annotators (by default the plan fits MultiSPA and EM). `annotators` limits who may be
    asked and may name new ones; `items` adds items without answers. `capacity` is the most answers each annotator may
    give, for all or by name; pairs (item, annotator) of `exclude` are never asked and those of `in_progress` are being
    answered, None in a pair meaning any. Every pair worth it is brought to `overlap` shared items, by at most
    `overlap_share` of the budget.

    >>> start = plan(budget=6, items=["x", "y", "z"], annotators=["ann", "bob"])
    >>> len(start), len(set(start.pairs()))
    (6, 6)
    """
    annotations, model = _known(table, fit, reading)
    request = Request(
        budget=budget,
        annotators=None if annotators is None else tuple(annotators),
        items=None if items is None else tuple(items),
        capacity=capacity,
        exclude=tuple(exclude),
        in_progress=tuple(in_progress),
        overlap=overlap,
        overlap_share=overlap_share,
    )
    return plan_answers(annotations, request, model=model, seed=seed)


def _known(table: Any, fit: Any, reading: dict[str, Any]) -> tuple[Annotations | None, Model | None]:
    """The answers so far and what is believed of the annotators."""
    source = table if isinstance(table, Aggregator) else fit
    model = model_of(source) if isinstance(source, Aggregator) else source
    if model is not None and not isinstance(model, Model):
        msg = f"fit must be a fitted estimator or a Model, got {type(fit).__name__}."
        raise InputError(msg)
    if table is None:
        return None, model
    if not isinstance(table, Aggregator):
        return read_table(table, None, reading)[0].annotations, model
    return table.loaded_.annotations, model
