"""Flat directions in closed form, for many classes: pair counts and a model in, the rotations that matter most out.

A_m D^(1/2) U leaves every R_{m,l} alone for any rotation U. Turning two classes k and j by a small angle t moves 2 t
sqrt(d_k d_j) of prior from k to j, column j by t sqrt(d_k / d_j) (A_k - A_j) and column k by t sqrt(d_j / d_k) (A_k -
A_j). With K classes there are K(K-1)/2 such turns; the Jacobian of all parameters is needed only to find others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from covote.counts import PairCounts
from covote.diagnosis.flatness import MOST_PARAMETERS, FlatSpace, most_shared
from covote.diagnosis.freedom import entry_room
from covote.model import Model

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_TURNS = 40
"""Turns followed: those of the pairs of classes that can be blended furthest."""

FEWEST_CORE = 12
"""A Jacobian of fewer annotators than this says little about a crowd: then the turns alone are looked at."""

_MOST_ENTRIES = 2_000_000  # of the changes of the confusions, over all turns


def too_many_classes(n_classes: int) -> bool:
    """Whether the joint Jacobian would have room for too few annotators.

    >>> too_many_classes(5), too_many_classes(30)
    (False, True)
    """
    return MOST_PARAMETERS // max(n_classes * (n_classes - 1), 1) < FEWEST_CORE


def rotation_space(counts: PairCounts, model: Model, answers: Floats, *, most: int = MOST_TURNS) -> FlatSpace:
    """The turns of two classes that go furthest before an entry falls below zero, as flat directions of unit length.

    `answers` (annotators,) says how well each annotator's zeros are known, as in `freedom`.
    """
    K = model.n_classes
    core = most_shared(counts, max(FEWEST_CORE, _MOST_ENTRIES // (most * K * K)))
    confusion, room = model.confusion[core], entry_room(model, answers)[core]
    weight = answers[core] / max(float(answers[core].sum()), 1e-300)
    pairs = np.stack(np.triu_indices(K, 1), axis=1)
    shift = np.array([_reach(confusion, room, model.prior, weight, k, j) for k, j in pairs])
    kept = pairs[np.sort(np.argsort(-shift, kind="stable")[:most])]
    changes, prior = np.zeros((len(kept), *confusion.shape)), np.zeros((len(kept), K))
    for t, (k, j) in enumerate(kept):
        changes[t][:, :, [k, j]], prior[t, [k, j]] = _turn(confusion, model.prior, k, j)
    length = np.sqrt((changes**2).sum(axis=(1, 2, 3)) + (prior**2).sum(axis=1))
    n = len(kept)
    return FlatSpace(np.zeros(n), changes / length[:, None, None, None], prior / length[:, None], np.zeros(n), core, n)


def _turn(confusion: Floats, prior: Floats, k: int, j: int) -> tuple[Floats, Floats]:
    """Changes of the columns k and j, (annotators, labels, 2), and of their shares, (2,), for a unit angle."""
    apart = confusion[:, :, k] - confusion[:, :, j]
    ratio = np.sqrt(prior[k] / prior[j])
    moved = 2 * np.sqrt(prior[k] * prior[j])
    return np.stack([apart / ratio, apart * ratio], axis=2), np.array([-moved, moved])


def _reach(confusion: Floats, room: Floats, prior: Floats, weight: Floats, k: int, j: int) -> float:
    """Share of an average annotator's answers that the turn can change before an entry or a share is used up."""
    change, moved = _turn(confusion, prior, k, j)
    limits, both = room[:, :, [k, j]], prior[[k, j]]
    furthest = 0.0
    for sign in (1.0, -1.0):
        fall = np.maximum(np.max(-sign * change / limits, initial=0.0), np.max(-sign * moved / both))
        furthest = max(furthest, 1 / max(float(fall), 1e-300))
    per_angle = float(weight @ (np.abs(change).sum(axis=1) / 2 @ both))
    return min(furthest * per_angle, 1.0)
