"""A fitted estimator in, the facts a person wants to read out, as plain values."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from covote.engines.base import Engine
from covote.estimators.base import Aggregator
from covote.methods.shrinkage import Shrinkage
from covote.model import Model, Status, columns, normalised

UNCERTAIN = 0.8
"""An item whose label is less probable than this is called uncertain."""


@dataclass(frozen=True)
class ClassFacts:
    """One class: how much of the items it takes."""

    label: Hashable
    items: int  # items given this label
    share: float  # expected share of all items


@dataclass(frozen=True)
class AnnotatorFacts:
    """One annotator: how much it answered, how good it seems, what it mixes up most."""

    annotator: Hashable
    answers: int
    accuracy: float  # how often it is right, classes coming up as often as the model says
    bits: float  # what one answer tells about the class
    worst_class: Hashable | None  # the class it gets wrong most often ...
    worst_label: Hashable | None  # ... and what it says instead
    worst_rate: float  # how often it does so when the class comes up


@dataclass(frozen=True)
class Summary:
    """What `covote aggregate` prints."""

    method: str
    n_items: int
    n_annotators: int
    n_labels: int
    classes: tuple[ClassFacts, ...]
    annotators: tuple[AnnotatorFacts, ...]  # in the order of the input
    uncertain_items: int
    tied_items: int
    single_answer_items: int
    expected_error: float  # mean probability that a chosen label is wrong, if the model is right
    status: str
    converged: bool
    iterations: int
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def summarise(estimator: Aggregator, method: str) -> Summary:
    """The facts of a fit, whether its answers are in memory or stayed in their frame."""
    engine, fit = estimator._answers, estimator.fit_
    facts = engine.label_facts(estimator._labelling, UNCERTAIN)
    n = max(engine.n_items, 1)
    classes = zip(engine.classes, facts.items.tolist(), (facts.mass / n).tolist(), strict=True)
    return Summary(
        method=method,
        n_items=engine.n_items,
        n_annotators=len(engine.annotators),
        n_labels=round(float(engine.label_counts().sum())),
        classes=tuple(ClassFacts(*row) for row in classes),
        annotators=annotator_facts(estimator),
        uncertain_items=facts.uncertain,
        tied_items=facts.tied,
        single_answer_items=facts.single,
        expected_error=1 - facts.confidence / n,
        status=fit.status.value,
        converged=fit.status is not Status.LIMIT,
        iterations=fit.n_iter,
        notes=(*fit.notes, *_unanswered(engine)),
    )


def _unanswered(engine: Engine) -> tuple[str, ...]:
    """A sentence about items that nobody answered, as wide tables may have."""
    number = engine.n_unanswered
    if not number:
        return ()
    items = "1 item has" if number == 1 else f"{number:,} items have"
    return (f"{items} no answer: the label is the likeliest class, by how common each is.",)


def annotator_facts(estimator: Aggregator) -> tuple[AnnotatorFacts, ...]:
    """Facts of every annotator, from the fitted model or, for methods without one, from its soft counts."""
    model = model_of(estimator)
    answers, accuracy = estimator._answers.label_counts().sum(axis=1), model.accuracy
    wrong = model.confusion * model.prior * (1 - np.eye(model.n_classes))  # (annotators, labels, classes)
    flat = wrong.reshape(len(wrong), -1)
    worst = flat.argmax(axis=1) if flat.shape[1] else np.zeros(len(wrong), int)
    bits = model.informativeness
    facts = []
    for m, name in enumerate(model.annotators):
        label, klass = divmod(int(worst[m]), model.n_classes)
        rate = float(model.confusion[m, label, klass]) if label != klass else 0.0
        names = (model.classes[klass], model.classes[label]) if rate > 0 else (None, None)
        facts.append(AnnotatorFacts(name, round(float(answers[m])), float(accuracy[m]), float(bits[m]), *names, rate))
    return tuple(facts)


def model_of(estimator: Aggregator) -> Model:
    """The fitted model with what it labels with; for a method without one, the model that its labels imply."""
    if estimator.fit_.model is not None:
        return estimator.model_
    engine = estimator.engine_
    soft = engine.expected_counts(estimator.fit_.scores)
    pseudo = Shrinkage(flat=1.0, diagonal=3.0).counts(soft.confusion.sum(axis=2))
    prior, confusion = normalised(soft.prior), columns(soft.confusion + pseudo)
    return Model(prior, confusion, engine.classes, engine.annotators, estimator.fit_.scores)
