"""Several methods on one table: what each says, how long it took, how right it was or how far they agree."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations import Loaded, load
from covote.errors import CovoteError
from covote.estimators.registry import METHODS, make
from covote.score import Interval, error_interval, log_loss


@dataclass(frozen=True, eq=False)
class Trial:
    """One method's run."""

    method: str
    seconds: float
    status: str  # the sentence of the fit's status, or why the method did not run
    ran: bool
    error: Interval | None = None  # with truth
    log_loss: float | None = None  # with truth
    agreement: float | None = None  # mean share of items on which the other methods choose the same label
    codes: NDArray[np.int64] | None = None


def compare(
    table: Any,
    *,
    truth: NDArray[np.int64] | None = None,
    methods: Iterable[str] | None = None,
    on_start: Callable[[str], None] | None = None,
    **reading: Any,
) -> list[Trial]:
    """Run the methods on the table, best first: by error where truth (class codes of the items) is given, else by
    agreement. A method that does not apply or fails is listed with the reason.

    >>> votes = [(i, a, "xy"[i % 2]) for i in range(6) for a in "abc"]
    >>> [t.method for t in compare(votes, methods=["majority-vote", "mv-ds"], truth=np.arange(6) % 2)]
    ['majority-vote', 'mv-ds']
    """
    loaded = table if isinstance(table, Loaded) else load(table, **reading)
    trials = []
    for name in methods or METHODS:
        if on_start is not None:
            on_start(name)
        trials.append(_run(name, loaded, truth))
    return sorted(_with_agreement(trials), key=_rank)


def _run(name: str, loaded: Loaded, truth: NDArray[np.int64] | None) -> Trial:
    begin = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimator = make(name).fit(loaded)
            posterior = estimator.posterior_
    except (CovoteError, ArithmeticError, np.linalg.LinAlgError) as error:
        return Trial(name, time.perf_counter() - begin, str(error), ran=False)
    return Trial(
        name,
        time.perf_counter() - begin,
        estimator.fit_.status.value,
        ran=True,
        error=None if truth is None else error_interval(posterior, truth),
        log_loss=None if truth is None else log_loss(posterior, truth),
        codes=estimator.codes_,
    )


def _with_agreement(trials: list[Trial]) -> list[Trial]:
    ran = [t for t in trials if t.codes is not None]
    out = []
    for trial in trials:
        others = [float(np.mean(trial.codes == t.codes)) for t in ran if t is not trial and trial.codes is not None]
        agreement = float(np.mean(others)) if others else None
        out.append(Trial(**{**trial.__dict__, "agreement": agreement}))
    return out


def _rank(trial: Trial) -> tuple[Any, ...]:
    if not trial.ran:
        return (1, 0.0)
    return (0, trial.error.value if trial.error is not None else -(trial.agreement or 0.0))
