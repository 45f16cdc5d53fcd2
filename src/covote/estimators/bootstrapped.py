"""Intervals of a fitted estimator: a fit with a model in, the ranges of what it learnt out."""

from __future__ import annotations

from typing import Any

from covote.engines.base import Engine
from covote.estimators.base import Aggregator
from covote.estimators.dawid_skene import DawidSkene
from covote.intervals import Intervals, bootstrap
from covote.methods.dawid_skene import SAFE
from covote.methods.shrinkage import Shrinkage
from covote.model import Model

REPLICATES = 200

_WARM = 1e-6
"""A refit starts at the estimate and need not be exact to the last digit: it moves by far more than this."""


def intervals_of(
    estimator: Aggregator, *, replicates: int = REPLICATES, level: float = 0.9, seed: int = 0
) -> Intervals:
    """Bootstrap intervals of a fitted estimator that has a model, with its own options and from its own estimate.

    >>> from covote.estimators.registry import make
    >>> votes = [(i, a, "xy"[i % 2]) for i in range(20) for a in "abc"]
    >>> found = intervals_of(make("multispa-ds").fit(votes), replicates=20)
    >>> bool((found.accuracy.low <= found.accuracy.high).all())
    True
    """
    model, engine = estimator.model_, estimator._answers
    again = _from_estimate(estimator, model)

    def refit(reweighted: Engine) -> Model:
        found = again._run(reweighted, None).model
        assert found is not None
        return found

    return bootstrap(
        engine,
        refit,
        point=model,
        labelled=estimator._labelling,
        shrinkage=_shrinkage(estimator),
        replicates=replicates,
        level=level,
        seed=seed,
        threads=estimator.threads,
    )


def _from_estimate(estimator: Aggregator, model: Model) -> Aggregator:
    """The same estimator, started from the estimate where it takes a start; EM from it for one that averages models."""
    options: dict[str, Any] = estimator.get_params()
    if estimator.fit_.posterior is not None or _borrows(options):
        return DawidSkene(init=model, smoothing=SAFE.flat, diagonal=SAFE.diagonal, threads=1, tol=_WARM)
    warm = {"init": model, "tol": _WARM} if "init" in options else {}
    changes = {name: value for name, value in {**warm, "threads": 1, "intervals": False}.items() if name in options}
    return type(estimator)(**{**options, **changes})


def _shrinkage(estimator: Aggregator) -> Shrinkage | None:
    """The pseudo-answers the estimator adds, where its options say."""
    options = estimator.get_params()
    if estimator.fit_.posterior is not None or _borrows(options):
        return SAFE
    if "diagonal" not in options:
        return None
    return Shrinkage(flat=float(options["smoothing"]), diagonal=float(options["diagonal"]))


def _borrows(options: dict[str, Any]) -> bool:
    """EM in which annotators borrow from the crowd: refits that borrow as well would vary too little."""
    return "diagonal" in options and options["smoothing"] is None
