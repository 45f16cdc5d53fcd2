"""Intervals by the Poisson bootstrap over items: an engine and a way to refit in, ranges of every quantity out.

Each replicate counts every item Poisson(1) times, refits from the point estimate and brings its classes into the same
order. Intervals of the confusions, the prior and what follows from them are about the population the items come from;
those of class shares and of the error are about the items at hand, whose true classes are drawn from each replicate's
posterior.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from covote.engines.base import Engine, LabelFacts, Redrawn
from covote.errors import InputError
from covote.methods.align import best_order
from covote.methods.shrinkage import Shrinkage
from covote.model import Beliefs, Model, Scores, columns, normalised
from covote.sampling import Draw

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Range:
    """A point estimate with the ends of its interval, arrays of one shape."""

    value: Floats
    low: Floats
    high: Floats

    def __post_init__(self) -> None:
        # a shrunken estimate may leave the percentile range of its replicates; an interval holds its estimate
        object.__setattr__(self, "low", np.minimum(self.low, self.value))
        object.__setattr__(self, "high", np.maximum(self.high, self.value))


@dataclass(frozen=True, eq=False)
class Intervals:
    """Intervals of level `level` from `replicates` refits."""

    confusion: Range  # (annotators, labels, classes)
    prior: Range  # (classes,)
    accuracy: Range  # (annotators,)
    bits: Range  # (annotators,): informativeness of an answer
    spammer_score: Range  # (annotators,): 0 perfect, 1 answers tell nothing about the class
    skill: Range  # (annotators,): accuracy above what its label frequencies give by luck
    class_shares: Range  # (classes,): of the items at hand
    error: Range  # (): share of wrong labels among the items at hand
    level: float
    replicates: int
    seed: int
    annotators: tuple[Hashable, ...]
    classes: tuple[Hashable, ...]


def spammer_score(model: Model) -> Floats:
    """1 minus the mean squared distance of the columns of A_m (Raykar and Yu): 0 perfect, 1 a spammer; (annotators,).

    >>> crowd = Model(np.ones(2) / 2, np.stack([np.eye(2), np.ones((2, 2)) / 2]), (0, 1), ("good", "spam"))
    >>> spammer_score(crowd).tolist()
    [0.0, 1.0]
    """
    a, K = model.confusion, model.n_classes
    gram = np.einsum("mik,mil->mkl", a, a)
    squares = np.einsum("mkk->mk", gram)
    distance = squares[:, :, None] + squares[:, None, :] - 2 * gram  # (annotators, classes, classes)
    return np.asarray(1 - distance.sum(axis=(1, 2)) / (2 * K * (K - 1))) if K > 1 else np.zeros(len(a))


def skill(model: Model) -> Floats:
    """Accuracy minus the accuracy of answering blindly with the same label frequencies; 0 for a spammer, (annotators,).

    >>> skill(Model(np.ones(2) / 2, np.stack([np.eye(2), np.ones((2, 2)) / 2]), (0, 1), ("good", "spam"))).tolist()
    [0.5, 0.0]
    """
    return model.accuracy - (model.confusion @ model.prior) @ model.prior


def bootstrap(
    engine: Engine,
    refit: Callable[[Engine], Model],
    *,
    point: Model | None = None,
    labelled: Scores | Beliefs | None = None,
    shrinkage: Shrinkage | None = None,
    replicates: int = 200,
    level: float = 0.9,
    seed: int = 0,
    threads: int | None = None,
) -> Intervals:
    """Percentile intervals from `replicates` refits on reweighted items.

    `refit` takes an engine and returns a model; start it from the point estimate to be fast. `point` is the estimate
    itself (by default `refit(engine)`) and `labelled` what it labels with (by default the same). `shrinkage` names the
    pseudo-answers that `refit` adds: they are as uncertain as answers, so each replicate draws them anew, and an
    annotator with few answers gets the wide interval it deserves. The result depends on the seed alone.
    """
    if replicates < 2 or not 0 < level < 1:
        msg = f"Intervals need at least 2 replicates and a level between 0 and 1, got {replicates} and {level}."
        raise InputError(msg)
    point = refit(engine) if point is None else point
    labelled = point.scores() if labelled is None else labelled

    def one(number: int, stream: np.random.Generator) -> dict[str, Floats]:
        draw = Draw(seed, number)
        drawn = engine.resampled(draw)
        model = _in_order(refit(drawn), point)
        if shrinkage is not None:
            model = _shaken(model, drawn.label_counts(), shrinkage, stream)
        return _facts(model) | _drawn(engine.redrawn(_at_hand(engine, model).scores(), labelled, draw), stream)

    streams = np.random.default_rng(seed).spawn(replicates)
    with ThreadPoolExecutor(threads or 2) as pool:
        draws = list(pool.map(one, range(replicates), streams))
    estimate = _facts(point) | _expected(engine.label_facts(labelled, 0.0), engine.n_items)
    ends = (1 - level) / 2, (1 + level) / 2
    ranges = {name: _range(value, [d[name] for d in draws], ends) for name, value in estimate.items()}
    return Intervals(
        **ranges, level=level, replicates=replicates, seed=seed, annotators=point.annotators, classes=point.classes
    )


def _facts(model: Model) -> dict[str, Floats]:
    return {
        "confusion": model.confusion,
        "prior": model.prior,
        "accuracy": model.accuracy,
        "bits": model.informativeness,
        "spammer_score": spammer_score(model),
        "skill": skill(model),
    }


def _expected(facts: LabelFacts, n_items: int) -> dict[str, Floats]:
    n = max(n_items, 1)
    return {"class_shares": facts.mass / n, "error": np.asarray(1 - facts.confidence / n)}


def _at_hand(engine: Engine, model: Model) -> Model:
    """The model with the prior of the items at hand instead of that of the items the replicate happened to draw: some
    EM steps of the prior alone.
    """
    for _ in range(3):
        model = replace(model, prior=normalised(engine.expected_counts(model.scores()).prior))
    return model


def _drawn(found: Redrawn, stream: np.random.Generator) -> dict[str, Floats]:
    """Class shares of the items and the error of the point estimate's labels, were the classes as drawn.

    A fit is too sure of the items it has seen. Items a replicate did not see are judged fairly, if by a slightly poorer
    fit; the two are mixed as in Efron's .632 rule.
    """
    N = round(float(found.classes.sum()))
    error = found.wrong
    if found.wrong_unseen is not None:
        error = 0.368 * error + 0.632 * found.wrong_unseen
    return {
        "class_shares": found.classes / N,
        "error": np.asarray(stream.binomial(N, min(max(error, 0.0), 1.0)) / N),
    }


def _shaken(model: Model, label_counts: Floats, shrinkage: Shrinkage, stream: np.random.Generator) -> Model:
    """The model had its pseudo-answers been drawn: each weight a becomes a Gamma(a) one, of mean and variance a."""
    pseudo = shrinkage.counts(label_counts)
    answers = (
        label_counts.sum(axis=1)[:, None, None] * model.prior
    )  # (annotators, 1, classes): those expected per class
    mass = model.confusion * (answers + pseudo.sum(axis=1, keepdims=True))
    shaken = np.maximum(mass - pseudo, 0.0) + stream.gamma(pseudo)
    return Model(model.prior, columns(shaken), model.classes, model.annotators)


def _in_order(model: Model, point: Model) -> Model:
    """The model with its classes in the order that brings it nearest to the point estimate."""
    cost = ((point.confusion[:, :, :, None] - model.confusion[:, :, None, :]) ** 2).sum(axis=(0, 1))
    return model.permuted(best_order(-cost))


def _range(value: Floats, draws: list[Floats], ends: tuple[float, float]) -> Range:
    # the i-th of n sorted draws marks the level i / (n + 1): few replicates then do not narrow the interval
    low, high = np.quantile(np.stack(draws), ends, axis=0, method="weibull")
    return Range(np.asarray(value, dtype=np.float64), np.asarray(low), np.asarray(high))
