"""How far the model can slide along its flat directions before a probability falls below zero, and what stops it.

Flat directions and a model in, ranges of every parameter out; with an engine, also what the answers taken together
(not only in pairs) say about the same directions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from covote.diagnosis.flatness import FlatSpace
from covote.engines.base import Engine
from covote.model import Model

Floats = NDArray[np.float64]

Z = 1.6448536269514722
"""Ranges are 90 % ranges."""

MOST_EXACT = 36
"""Flat directions up to which the prior's range is found exactly, by linear programmes; nine classes have so many."""

_RAYS = 400
_CUTS = 20
_TRACE = 1e-9  # of information, so that what is not known at all has an inverse
_FAR = 1e3  # directions have unit length and entries are probabilities: no move is longer
_STEP = 1e-3  # of the finite differences: far above rounding, far below the curvature of a log-likelihood


@dataclass(frozen=True, eq=False)
class Freedom:
    """Largest moves of the parameters that the evidence leaves open, to first order."""

    prior_low: Floats  # (classes,)
    prior_high: Floats  # (classes,)
    moves: Floats  # (core annotators, labels, classes): largest change found, either way
    shift: Floats  # (core annotators,): largest share of an annotator's answers found to be free to change
    directions: Floats  # (rays, flat and weak directions): the moves tried, in units of the directions

    @property
    def prior_width(self) -> float:
        """Largest half-width of the range of a class's prior."""
        return float((self.prior_high - self.prior_low).max() / 2)


@dataclass(frozen=True, eq=False)
class Curvature:
    """The log-likelihood of all answers along the flat directions: its curvature and where it pulls."""

    information: Floats  # (directions, directions)
    pull: Floats  # (directions,): the Newton step, how far the answers would move the estimate


def entry_room(model: Model, answers: Floats, *, z: float = Z) -> Floats:
    """How far each confusion entry may fall: the upper Wilson limit of an entry seen on answers x prior trials.

    An annotator with few answers cannot pin the crowd down, however extreme its estimate; with infinitely many the
    room is the entry itself.
    """
    n = np.maximum(answers[:, None, None] * model.prior, 1e-9)  # (annotators, 1, classes)
    p = model.confusion
    spread = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return np.asarray(np.minimum((p + z * z / (2 * n) + spread) / (1 + z * z / n), 1.0))


def freedom(
    space: FlatSpace, model: Model, answers: Floats, *, curvature: Curvature | None = None, z: float = Z, seed: int = 0
) -> Freedom:
    """Ranges over moves c along the directions with confusion and prior >= 0 and c within `z` standard errors.

    `answers` (annotators,) may be infinite. Along exactly flat directions only the signs stop a move, and the prior's
    range is exact (a linear programme) if these are few; else, and where the evidence stops moves too, ranges are the
    largest of many moves found.
    """
    sides, room = _signs(space, model, answers, z)
    information = _information(space, curvature)
    goals = np.concatenate([space.prior.T, -space.prior.T])  # (2K, directions)
    tried = [_rays(information, np.random.default_rng(seed))]
    tried.append(
        np.linalg.solve(information + _TRACE * np.eye(len(information)), goals.T).T
    )  # best were there no signs
    if curvature is None and space.n_flat <= MOST_EXACT:
        flat = space.n_flat
        corners = np.zeros_like(goals)
        corners[:, :flat] = _furthest(goals[:, :flat], sides[:, :flat], room, tried[0][:, :flat])
        tried.append(corners)
    rays = _shot(np.concatenate(tried), sides, room, information, z)
    at_ends = np.clip(model.prior + rays @ space.prior, 0.0, 1.0)  # (rays, classes)
    moves, shift = np.zeros(space.confusion.shape[1:]), np.zeros(len(space.core))
    for part in np.array_split(rays, max(1, len(rays) // 25)):
        change = np.abs(np.tensordot(part, space.confusion, axes=1))  # (rays, core, labels, classes)
        moves = np.maximum(moves, change.max(axis=0, initial=0.0))
        shift = np.maximum(shift, (change.sum(axis=2) / 2 @ model.prior).max(axis=0, initial=0.0))
    low, high = np.minimum(at_ends.min(axis=0), model.prior), np.maximum(at_ends.max(axis=0), model.prior)
    return Freedom(low, high, np.minimum(moves, 1), np.minimum(shift, 1), rays)


def curvature_of(engine: Engine, space: FlatSpace, model: Model) -> Curvature:
    """Second differences of the log-likelihood along the directions, by the gradients of 2r engine passes.

    d log-likelihood / d A_m(i, k) is the expected count of (m, i, k) over A_m(i, k): an EM pass gives it exactly.
    """
    base = model.floored(2 * _STEP**2)
    r = len(space.prior)
    gradient = _slope(engine, space, base)
    information = np.zeros((r, r))
    for i in range(r):
        ahead, behind = (_slope(engine, space, _moved(base, space, i, sign * _STEP)) for sign in (1, -1))
        information[i] = (behind - ahead) / (2 * _STEP)
    information = (information + information.T) / 2
    values, vectors = np.linalg.eigh(information)
    inverse = np.where(values > 1e-9 * max(float(values.max(initial=0.0)), 1e-300), 1 / np.maximum(values, 1e-300), 0.0)
    return Curvature(information, vectors @ (inverse * (vectors.T @ gradient)))


def _slope(engine: Engine, space: FlatSpace, model: Model) -> Floats:
    soft = engine.expected_counts(model.scores())
    by_entry = soft.confusion[space.core] / model.confusion[space.core]
    slope = np.tensordot(space.confusion, by_entry, axes=3)
    return np.asarray(slope + space.prior @ (soft.prior / model.prior))


def _moved(model: Model, space: FlatSpace, direction: int, step: float) -> Model:
    """The model one small step along a direction; entries too small for the step stay at half of what they were."""
    confusion = model.confusion.copy()
    inner = confusion[space.core]
    confusion[space.core] = np.maximum(inner + step * space.confusion[direction], inner / 2)
    prior = np.maximum(model.prior + step * space.prior[direction], model.prior / 2)
    confusion /= confusion.sum(axis=1, keepdims=True)
    return Model(prior / prior.sum(), confusion, model.classes, model.annotators)


def _signs(space: FlatSpace, model: Model, answers: Floats, z: float) -> tuple[Floats, Floats]:
    """Rows s and limits with s @ c <= limit: no entry below zero."""
    r = len(space.prior)
    room = entry_room(model, answers, z=z)[space.core]
    sides = np.concatenate([-space.confusion.reshape(r, -1).T, -space.prior.T])
    limits = np.concatenate([room.ravel(), model.prior])
    matters = np.abs(sides).max(axis=1, initial=0.0) > 1e-12
    return sides[matters], limits[matters]


def _information(space: FlatSpace, curvature: Curvature | None) -> Floats:
    """What the evidence knows of moves c, as c^T I c: pair counts nothing of the flat directions."""
    if curvature is None:
        known = space.information.copy()
        known[: space.n_flat] = 0.0
        return np.diag(known)
    values, vectors = np.linalg.eigh(curvature.information)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def _rays(information: Floats, stream: np.random.Generator) -> Floats:
    """Moves to try, (rays, directions): in all directions alike, and more where little is known."""
    r = len(information)
    values, vectors = np.linalg.eigh(information)
    loose = stream.standard_normal((_RAYS, r)) / np.sqrt(np.maximum(values, 0.0) + _TRACE) @ vectors.T
    return np.concatenate([stream.standard_normal((_RAYS, r)), loose, np.eye(r), -np.eye(r)])


def _furthest(goals: Floats, sides: Floats, room: Floats, rays: Floats) -> Floats:
    """For each goal (goals, directions) the feasible point furthest along it, by linear programmes.

    Few sides matter: those that stop a ray come first, and any a solution breaks are added until none is broken.
    """
    reach = (rays @ sides.T) / np.maximum(room, 1e-300)
    active = np.unique(np.concatenate([np.argmax(reach, axis=1), np.argsort(room)[: 4 * sides.shape[1]]]))
    points = np.zeros_like(goals)
    for g, goal in enumerate(goals):
        for _ in range(_CUTS):
            found = linprog(-goal, A_ub=sides[active], b_ub=room[active], bounds=(-_FAR, _FAR), method="highs")
            if found.status != 0:
                break
            points[g] = found.x
            over = sides @ found.x - room
            if over.max() <= 1e-9:
                break
            active = np.union1d(active, np.argsort(-over)[:40])
    return points


def _shot(rays: Floats, sides: Floats, room: Floats, information: Floats, z: float) -> Floats:
    """Each ray stretched, or cut, to where it leaves the signs or the `z` standard errors."""
    scaled = np.ascontiguousarray((sides / np.maximum(room, 1e-300)[:, None]).T)  # (directions, sides): 1 is the end
    parts = np.array_split(rays, max(1, len(rays) * len(sides) // 4_000_000))
    first = np.concatenate([(part @ scaled).max(axis=1, initial=0.0) for part in parts])
    with np.errstate(divide="ignore", invalid="ignore"):
        most = np.where(first > 0, 1 / first, np.inf)
        known = z / np.sqrt(np.einsum("nr,rq,nq->n", rays, information, rays))
    most = np.fmin(most, known)
    return np.asarray(rays * np.where(np.isfinite(most), most, 0.0)[:, None])
