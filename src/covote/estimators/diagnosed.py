"""Diagnose any table: answers, an estimator or pair counts in, a Diagnosis out; the fit is made where none is given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations import Loaded, Truth, load_truth
from covote.counts import PairCounts
from covote.diagnosis import Diagnosis, diagnose_crowd
from covote.engines.base import Engine
from covote.engines.memory import MemoryEngine
from covote.errors import InputError
from covote.estimators.base import Aggregator
from covote.estimators.bootstrapped import REPLICATES, intervals_of
from covote.estimators.dawid_skene import DawidSkene
from covote.estimators.registry import DEFAULT, make
from covote.estimators.summary import model_of
from covote.estimators.tables import match_annotations, read_table
from covote.intervals import Intervals
from covote.methods.multispa import multispa
from covote.methods.multispa_kl import multispa_kl
from covote.model import Fit, Model

Ints = NDArray[np.int64]


def diagnose(
    source: Any,
    fit: Aggregator | Fit | Model | None = None,
    *,
    truth: Any = None,
    intervals: bool | Intervals = False,
    replicates: int = REPLICATES,
    method: str = DEFAULT,
    seed: int = 0,
    **reading: Any,
) -> Diagnosis:
    """Can this crowd be trusted? Overlap, identifiability, annotators, dependence and fit, with what to do.

    `source` is any table of answers, a fitted estimator, or `PairCounts`; `fit` an estimator fitted on that table, or a
    model. Without one, `method` is fitted (MultiSPA-KL on counts alone). `truth` holds true labels of some items and
    `intervals=True` adds bootstrap intervals; keyword arguments are those of `covote.load`.

    >>> votes = [(i, a, "xy"[(i + (a == i % 5)) % 2]) for i in range(600) for a in range(5)]
    >>> diagnose(votes).verdict.value
    'identified'
    """
    if isinstance(source, PairCounts):
        return _from_counts(source, fit, truth, seed)
    estimator = _fitted(source, fit, method, reading)
    engine = estimator._answers.in_memory()
    ranges = intervals if isinstance(intervals, Intervals) else None
    if intervals is True:
        ranges = intervals_of(estimator, replicates=replicates, seed=seed)
    follows = estimator.fit_.posterior is None  # labels are sums of scores over answers
    return diagnose_crowd(
        engine,
        model_of(estimator),
        scores=estimator.fit_.scores if follows else None,
        labelled=None if follows else estimator.posterior_,
        truth=_truth_codes(truth, engine),
        intervals=ranges,
        seed=seed,
    )


def _from_counts(counts: PairCounts, fit: Any, truth: Any, seed: int) -> Diagnosis:
    if truth is not None:
        msg = "Pair counts know no items, so a truth says nothing about them. Pass the table of answers."
        raise InputError(msg)
    model = _model_given(fit)
    if model is None:
        start = multispa(counts).model
        assert start is not None
        model = multispa_kl(counts, start).model
        assert model is not None
    if (model.annotators, model.classes) != (counts.annotators, counts.classes):
        msg = "The model and the counts name different annotators or classes. Use the model fitted on these counts."
        raise InputError(msg)
    return diagnose_crowd(counts, model, seed=seed)


def _fitted(source: Any, fit: Any, method: str, reading: dict[str, Any]) -> Aggregator:
    """An estimator fitted on the source: the source itself, the one given, or a new one."""
    if isinstance(source, Aggregator):
        return source
    if isinstance(fit, Aggregator) and hasattr(fit, "fit_"):
        return fit
    model = _model_given(fit)
    if model is None:
        return make(method).fit(source, **reading)
    loaded, _ = read_table(source, None, reading)
    matched = match_annotations(loaded.annotations, model.annotators, model.classes)
    estimator = DawidSkene(init=model)
    scores = fit.scores if isinstance(fit, Fit) else model.labels_with()
    engine = MemoryEngine(matched, source=Loaded(matched, "mapping", loaded.names))
    return estimator._learn(engine, None, lambda *_: Fit(scores, model))


def _model_given(fit: Any) -> Model | None:
    if fit is None or isinstance(fit, Model):
        return fit
    if isinstance(fit, Fit):
        return fit.model
    if isinstance(fit, Aggregator):
        return model_of(fit)
    msg = f"fit must be a fitted estimator, a Fit or a Model, got {type(fit).__name__}."
    raise InputError(msg)


def _truth_codes(truth: Any, engine: Engine) -> Ints | None:
    if truth is None:
        return None
    if isinstance(truth, np.ndarray) and truth.shape == (engine.n_items,) and truth.dtype.kind == "i":
        return truth.astype(np.int64)
    found = truth if isinstance(truth, Truth) else load_truth(truth)
    return found.codes(engine.in_memory().annotations)
