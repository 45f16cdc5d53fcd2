"""The one loop of all iterative methods: a step and a start in, the best state, status and history out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covote.model import Progress, Status

Floats = NDArray[np.float64]
Step = Callable[[Floats], tuple[Floats, float]]
"""`step(x) -> (next x, objective at x)`; the objective is to be maximised and a step never lowers it."""

Project = Callable[[Floats, Floats], Floats]
"""`project(extrapolated, plain) -> feasible`: `plain` is the feasible state that was extrapolated from."""


@dataclass(frozen=True, eq=False)
class Run:
    """Where a loop ended: the last accepted state and the objective at every accepted state."""

    state: Floats
    status: Status
    history: tuple[float, ...]


def iterate(
    step: Step,
    start: Floats,
    *,
    max_iter: int,
    tol: float,
    project: Project | None = None,
    progress: Progress | None = None,
) -> Run:
    """Repeat `step` until the objective gains less than `tol` (relative to its size) or `max_iter` steps are used.

    With `project`, pairs of steps are extrapolated (SQUAREM, Varadhan and Roland 2008): `project` brings an
    extrapolated state back to the feasible set (it is also shown the last plain state), and an extrapolation that
    lowers the objective is dropped, so the history rises monotonically either way. `max_iter` counts evaluations of
    `step`.
    """
    state, history, used = start, [], 0
    following, value = step(state)
    used += 1
    history.append(value)
    # a whole accelerated cycle is one entry of the history, and the tolerance is asked of every cycle
    while used < max_iter:
        candidate = _extrapolated(step, state, following, project) if project else following
        used += 1 if project else 0
        new_following, new_value = step(candidate)
        used += 1
        if project and not new_value >= value:
            candidate = following
            new_following, new_value = step(candidate)
            used += 1
        gain = new_value - value
        state, following, value = candidate, new_following, new_value
        history.append(value)
        if progress is not None:
            progress(used, max_iter, value)
        if not gain > tol * max(abs(value), 1.0):
            return Run(state, Status.CONVERGED, tuple(history))
    return Run(state, Status.LIMIT, tuple(history))


def _extrapolated(step: Step, x0: Floats, x1: Floats, project: Project) -> Floats:
    x2, _ = step(x1)
    r, v = x1 - x0, (x2 - x1) - (x1 - x0)
    size = _length(v)
    if size <= 1e-300:
        return x2
    alpha = max(_length(r) / size, 1.0)
    if alpha == 1.0:
        return x2
    return project(x0 + 2 * alpha * r + alpha**2 * v, x2)


def _length(x: Floats) -> float:
    return float(np.sqrt(np.square(x).sum()))  # not BLAS, whose threads cost more than the sum where cores are busy
