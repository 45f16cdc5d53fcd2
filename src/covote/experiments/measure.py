"""One method on one crowd: error, confusion MSE and seconds out; a method that fails is named, never a crash."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.engines.memory import MemoryEngine
from covote.errors import NotApplicableError
from covote.estimators.registry import METHODS, make
from covote.experiments.crowds import CrowdSetting, KnownCrowd, make_crowd
from covote.experiments.settings import BAYES, BEST, COUNTED, WORST
from covote.methods.align import best_order
from covote.model import Model, columns
from covote.score import confusion_mse, error_interval
from covote.simulate import draw, paper_model

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Measurement:
    """What one method did on one crowd; errors are shares between 0 and 1."""

    error: float | None = None  # on drawn crowds in the class order that matches the true model best, as in the paper
    low: float | None = None  # ends of the 90 % interval of the error
    high: float | None = None
    error_named: float | None = None  # with the class names that the method itself gives
    mse: float | None = None  # of the confusion matrices, where the true model is known
    seconds: float | None = None  # of processor time, on one thread
    status: str = ""
    failure: str = ""  # why there is no number

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def measure_all(setting: CrowdSetting, options: Mapping[str, Mapping[str, Any]]) -> dict[str, Measurement]:
    """Every method named in `options` on the crowd of the setting."""
    try:
        crowd = make_crowd(setting)
    except Exception as error:  # one data set that is not here must not end the run
        failure = f"no crowd: {_sentence(error)}"
        return {method: Measurement(failure=failure) for method in options}
    return {method: measure(method, crowd, given) for method, given in options.items()}


def measure(method: str, crowd: KnownCrowd, options: Mapping[str, Any]) -> Measurement:
    """Fit and score one method (or a reference) on the crowd.

    >>> setting = CrowdSetting("synthetic", "case1-uniform", 1.0)
    >>> measure("majority-vote", make_crowd(setting), {}).failure
    ''
    """
    if method in (BEST, WORST):
        return _alone(crowd, best=method == BEST)
    if method == BAYES:
        return _bayes_rule(crowd)
    if method == COUNTED:
        return _counted(crowd)
    if method not in list(METHODS):
        return Measurement(failure="not in this version of covote")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # ten rounds do not converge, and are not meant to
            _warm_up(method, crowd.annotations.n_classes, dict(options))
            return _fitted(method, crowd, dict(options))
    except NotApplicableError as error:
        return Measurement(failure=f"not applicable: {_sentence(error)}")
    except Exception as error:  # a method that fails is a result: it is named in the table
        return Measurement(failure=f"failed: {_sentence(error)}")


def _fitted(method: str, crowd: KnownCrowd, options: dict[str, Any]) -> Measurement:
    estimator = make(method, threads=1, **options)
    begin = time.process_time()  # of this process alone: what else the computer does must not count
    posterior = estimator.fit(crowd.annotations).posterior_
    seconds = time.process_time() - begin
    if not np.all(np.isfinite(posterior)):
        return Measurement(failure="failed: its probabilities are not finite numbers")
    return _scored(crowd, posterior, estimator.fit_.model, seconds, estimator.fit_.status.value)


def _scored(crowd: KnownCrowd, posterior: Floats, model: Model | None, seconds: float, status: str) -> Measurement:
    mse = None
    named = float(error_interval(posterior, crowd.truth).value)
    if crowd.model is not None and model is not None:
        mse = confusion_mse(crowd.model, model)
        posterior = posterior[:, class_order(crowd.model, model)]
    error = error_interval(posterior, crowd.truth)
    return Measurement(error.value, error.low, error.high, named, mse, seconds, status)


def class_order(truth: Model, found: Model) -> NDArray[np.intp]:
    """For every true class the class of `found` whose columns match it best, one to one."""
    cost = ((truth.confusion[:, :, :, None] - found.confusion[:, :, None, :]) ** 2).sum(axis=(0, 1))
    return np.asarray(best_order(-cost), dtype=np.intp)


def _bayes_rule(crowd: KnownCrowd) -> Measurement:
    assert crowd.model is not None
    posterior = MemoryEngine(crowd.annotations, threads=1).posterior(crowd.model.scores())
    error = error_interval(posterior, crowd.truth)
    return Measurement(error.value, error.low, error.high, error.value, status="Knows the true model.")


def _counted(crowd: KnownCrowd) -> Measurement:
    """The confusion matrices that one would count if the class of every item were known."""
    assert crowd.model is not None
    a, K = crowd.annotations, crowd.annotations.n_classes
    counts = np.zeros((a.n_annotators, K, K))
    np.add.at(counts, (a.annotator, a.label, crowd.truth[a.item]), 1.0)
    found = Model(crowd.model.prior, columns(counts), crowd.model.classes, crowd.model.annotators)
    return Measurement(mse=confusion_mse(crowd.model, found), status="Knows the class of every item.")


def _alone(crowd: KnownCrowd, *, best: bool) -> Measurement:
    return Measurement(min(crowd.alone) if best else max(crowd.alone), status="Asked about every item.")


_warm: set[tuple[str, int]] = set()


def _warm_up(method: str, n_classes: int, options: dict[str, Any]) -> None:
    """Fit a small crowd first, so that no measured second is spent on compiling."""
    key = (method, n_classes)
    if key not in _warm:
        small = draw(paper_model("case2", n_annotators=8, n_classes=n_classes), 200, answering=0.6)
        _ = make(method, threads=1, **options).fit(small.annotations).posterior_
        _warm.add(key)


def _sentence(error: Exception) -> str:
    return str(error) or type(error).__name__
