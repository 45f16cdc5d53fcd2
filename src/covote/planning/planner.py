"""The plan from end to end: answers so far (or none), a model (or none) and a request in, a Plan out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from covote.annotations import Annotations
from covote.default.fit_default import fit_default
from covote.engines.memory import MemoryEngine
from covote.errors import InputError
from covote.model import Model, columns
from covote.planning.connect import connect
from covote.planning.desk import Desk
from covote.planning.errors import reduce_errors, spread
from covote.planning.overlap import overlap, worth_comparing
from covote.planning.request import Names, Request, open_desk, remarks
from covote.planning.value import Assignment, Plan

Floats = NDArray[np.float64]

OVERLAP_PER_CLASS = 15
"""Default target: shared items per class that every pair of annotators worth it should reach."""

KNOWN = 10
"""Answers after which little is expected of an annotator who told little."""

_PRIOR_ANSWERS = 4.0  # weight of the crowd's average in what is believed of a newcomer


def plan_answers(
    annotations: Annotations | None, request: Request, *, model: Model | None = None, seed: int = 0
) -> Plan:
    """Which items to give to which annotators next.

    In this order: connect the co-labelling graph; let everybody worth it answer the same few items, until each pair
    shares enough (at most `overlap_share` of the budget); spend the rest where an answer is expected to tell most.
    Without answers the plan is a starting design: items for comparison, then first answers, dealt out evenly.
    """
    desk, names = open_desk(annotations, request)
    stream = np.random.default_rng(seed)
    order = stream.permutation(desk.n_items)
    known = annotations if annotations is not None and annotations.n_labels else None
    if known is not None and model is None and known.n_classes > 1:
        model = _fitted(known)
    notes = remarks(known, request, names)
    apart = connect(desk, order) if known is not None else 0
    if apart:
        notes.append(f"{apart} groups of annotators could not be connected: nobody who may be asked has time for it.")
    belief = None if model is None else _everybody(model, names, known)
    _compare(desk, belief, order, request, len(belief.classes) if belief else 2)
    if belief is None:
        spread(desk, order, stream)
    else:
        reduce_errors(desk, _posteriors(known, belief, desk), belief, stream)
    if desk.left:
        notes.append(f"{desk.left} of the budget's answers are left over: {_why_left(desk)}.")
    return Plan(_named(desk, names), request.budget, tuple(notes), seed)


def _fitted(annotations: Annotations) -> Model:
    found = fit_default(MemoryEngine(annotations)).model
    assert found is not None
    return found


def _everybody(model: Model, names: Names, annotations: Annotations | None) -> Model:
    """The model for all annotators of the plan; of those it does not know, the crowd's average is believed."""
    if annotations is not None and set(annotations.classes) != set(model.classes):
        msg = "The model knows other classes than the answers. Use a model fitted on answers of this kind."
        raise InputError(msg)
    place = {name: m for m, name in enumerate(model.annotators)}
    average = columns(model.confusion.mean(axis=0) * _PRIOR_ANSWERS + np.full((model.n_classes,) * 2, 1.0))
    confusion = [model.confusion[place[a]] if a in place else average for a in names.annotators]
    return Model(model.prior, np.stack(confusion), model.classes, tuple(names.annotators)).floored()


def _compare(desk: Desk, belief: Model | None, order: NDArray[np.int64], request: Request, n_classes: int) -> None:
    target = OVERLAP_PER_CLASS * n_classes if request.overlap is None else request.overlap
    answers = np.bincount(desk.answerer, minlength=desk.n_annotators).astype(np.float64)
    bits = None if belief is None else belief.informativeness
    people = worth_comparing(bits, answers, desk.capacity > 0, known=KNOWN)
    overlap(desk, people, order, target=target, most=int(request.overlap_share * request.budget))


def _posteriors(annotations: Annotations | None, belief: Model, desk: Desk) -> Floats:
    """What is believed of every item: the posterior of those with answers, the prior of the others, (items, K)."""
    everybody = np.tile(belief.prior, (desk.n_items, 1))
    if annotations is None:
        return everybody
    n = annotations.n_annotators
    same = Model(belief.prior, belief.confusion[:n], belief.classes, belief.annotators[:n])
    order = [same.classes.index(c) for c in annotations.classes]
    scores = Model(
        same.prior[order], same.confusion[:, order][:, :, order], tuple(annotations.classes), same.annotators
    ).scores()
    found = MemoryEngine(annotations).posterior(scores)
    everybody[: annotations.n_items, order] = found
    return everybody


def _why_left(desk: Desk) -> str:
    people, items = np.flatnonzero(desk.capacity > 0), np.flatnonzero(~desk.locked)
    if not len(people):
        return "nobody who may be asked has time left"
    parts = np.array_split(items, max(1, -(-len(items) * len(people) // 10_000_000)))
    if any(not desk.taken(part, people).all() for part in parts if len(part)):
        return "no further answer is expected to tell anything"
    return "everybody who has time has answered, or is to answer, every item that is open"


def _named(desk: Desk, names: Names) -> tuple[Assignment, ...]:
    return tuple(
        Assignment(names.items[c.item], names.annotators[c.annotator], c.aim, c.reason, c.gain) for c in desk.chosen
    )
