"""Does a confusion matrix each pay? Answers in, the likelihood of held-out answers under rich and poor models out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covote.annotations import Annotations
from covote.engines.memory import MemoryEngine
from covote.methods.dawid_skene import SAFE, dawid_skene, majority_start
from covote.methods.loop import iterate
from covote.methods.parameters import Parameters
from covote.model import FLOOR, Model, columns, normalised

Floats = NDArray[np.float64]
Tie = Callable[[Floats], Floats]
"""Soft counts (annotators, labels, classes) with pseudo-answers -> confusion matrices of a simpler model."""

_HELD_OUT, _MOST_HELD_OUT = 0.2, 20_000


@dataclass(frozen=True)
class HeldOut:
    """One model on the held-out answers."""

    model: str
    log_likelihood: float  # mean per answer, in nats
    behind: float  # how much less than Dawid-Skene, per answer; negative: more
    behind_error: float  # standard error of that difference


@dataclass(frozen=True)
class ModelFit:
    """The models compared on the same held-out answers, best first."""

    answers: int  # held out
    models: tuple[HeldOut, ...]

    def of(self, name: str) -> HeldOut:
        """One model by name."""
        return next(m for m in self.models if m.model == name)


def model_fit(annotations: Annotations, *, seed: int = 0) -> ModelFit | None:
    """Hold out one answer of some items with several, learn from the rest, predict what was held out.

    Models, from rich to poor: Dawid-Skene (a matrix each), one-coin (an accuracy each), majority vote (one accuracy for
    all), label frequencies (no classes at all). None when there is nothing to hold out.
    """
    stream = np.random.default_rng(seed)
    held = _held_out(annotations, stream)
    if len(held) < 20:
        return None
    rest = _without(annotations, held)
    engine = MemoryEngine(rest)
    start = majority_start(engine)
    rich = dawid_skene(engine, start, tol=1e-6).model
    assert rich is not None
    models = {
        "dawid-skene": rich,
        "one-coin": _tied(engine, start, one_coin),
        "majority vote": _tied(engine, start, same_coin),
    }
    item, who, label = annotations.item[held], annotations.annotator[held], annotations.label[held]
    score = {name: _log_probability(engine, model, item, who, label) for name, model in models.items()}
    score["label frequencies"] = _log_frequency(engine, who, label)
    found = [_compared(name, values, score["dawid-skene"]) for name, values in score.items()]
    return ModelFit(len(held), tuple(sorted(found, key=lambda m: -m.log_likelihood)))


def one_coin(soft: Floats) -> Floats:
    """An accuracy each: right with it, else any other label alike."""
    right, total = np.einsum("mkk->m", soft), soft.sum(axis=(1, 2))
    return _coins(right / total, soft.shape[1])


def same_coin(soft: Floats) -> Floats:
    """The same accuracy for everybody, under which the most probable class is the one with most votes."""
    accuracy = np.einsum("mkk->", soft) / soft.sum()
    return _coins(np.full(len(soft), accuracy), soft.shape[1])


def _coins(accuracy: Floats, n_classes: int) -> Floats:
    wrong = (1 - accuracy) / max(n_classes - 1, 1)
    return wrong[:, None, None] + (accuracy - wrong)[:, None, None] * np.eye(n_classes)


def _tied(engine: MemoryEngine, start: Model, tie: Tie) -> Model:
    """EM with the confusion matrices tied to a simpler form after each step."""
    layout = Parameters(start.n_annotators, start.n_classes)

    def step(x: Floats) -> tuple[Floats, float]:
        prior, confusion = layout.unpack(x)
        model = Model(prior, columns(confusion, FLOOR), start.classes, start.annotators)
        soft = engine.expected_counts(model.scores())
        pseudo = SAFE.counts(soft.confusion.sum(axis=2))
        return layout.pack(normalised(soft.prior), tie(soft.confusion + pseudo)), soft.log_likelihood

    run = iterate(step, layout.pack(start.prior, start.confusion), max_iter=200, tol=1e-6)
    return layout.model(run.state, start)


def _held_out(annotations: Annotations, stream: np.random.Generator) -> NDArray[np.int64]:
    """Positions of the held-out answers: one each of a random fifth of the items that have at least two."""
    size = np.diff(annotations.offsets)
    several = np.flatnonzero(size >= 2)
    number = min(int(np.ceil(_HELD_OUT * annotations.n_labels)), len(several), _MOST_HELD_OUT)
    items = np.sort(stream.choice(several, number, replace=False))
    return np.asarray(annotations.offsets[items] + stream.integers(0, size[items]), dtype=np.int64)


def _without(annotations: Annotations, held: NDArray[np.int64]) -> Annotations:
    keep = np.ones(annotations.n_labels, bool)
    keep[held] = False
    offsets = np.concatenate([[0], np.cumsum(keep)])[annotations.offsets].astype(np.int64)
    a = annotations
    return Annotations(offsets, a.answer[keep], a.items, a.annotators, a.classes)


def _log_probability(
    engine: MemoryEngine,
    model: Model,
    item: NDArray[np.int64],
    who: NDArray[np.int64],
    label: NDArray[np.int64],
) -> Floats:
    posterior = engine.posterior(model.scores())[item]
    return np.asarray(np.log(np.maximum(np.einsum("ak,ak->a", posterior, model.confusion[who, label]), 1e-12)))


def _log_frequency(engine: MemoryEngine, who: NDArray[np.int64], label: NDArray[np.int64]) -> Floats:
    used = engine.label_counts() + 1.0
    return np.asarray(np.log(used[who, label] / used.sum(axis=1)[who]))


def _compared(name: str, values: Floats, rich: Floats) -> HeldOut:
    gap = rich - values
    error = float(gap.std(ddof=1) / np.sqrt(len(gap))) if len(gap) > 1 else 0.0
    return HeldOut(name, float(values.mean()), float(gap.mean()), error)
