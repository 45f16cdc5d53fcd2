"""Probabilities in, chosen labels and confidences out: the one tie rule of the library."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

TIE = 1e-9
"""Classes whose probabilities differ by no more than this are tied."""

_ROWS = 2**14  # looked at at a time, so that they stay in the cache


def choose_labels(probability: NDArray[np.float64], votes: NDArray[np.float64]) -> NDArray[np.int64]:
    """The most probable class of each row (items, classes).

    Among tied classes the one with most `votes` (classes,) in the whole crowd is chosen, then the first in class
    order. Every tied class keeps its probability, so a tie stays visible.

    >>> choose_labels(np.array([[0.5, 0.5], [0.9, 0.1]]), np.array([3.0, 4.0])).tolist()
    [1, 0]
    """
    chosen = np.zeros(len(probability), np.int64)
    if probability.shape[1] == 0:
        return chosen
    order = favoured(votes)
    for start in range(0, len(chosen), _ROWS):
        rows = probability[start : start + _ROWS]
        tied: NDArray[Any] = rows[:, order] >= rows.max(axis=1, keepdims=True) - TIE
        chosen[start : start + _ROWS] = order[np.argmax(tied, axis=1)]
    return chosen


def favoured(votes: NDArray[np.float64]) -> NDArray[np.int64]:
    """Class codes in the order in which ties are settled: most votes first, then class order.

    >>> favoured(np.array([3.0, 4.0, 4.0])).tolist()
    [1, 2, 0]
    """
    return np.asarray(np.lexsort((np.arange(len(votes)), -votes)), dtype=np.int64)


def column_names(classes: Iterable[Hashable], *taken: str) -> list[str]:
    """One column name a class: the label as text, made distinct from each other and from those taken.

    >>> column_names(["no", "yes"], "item"), column_names([1, "1"])
    (['no', 'yes'], ['probability of 1', "probability of '1'"])
    """
    classes = list(classes)
    names = [str(c) for c in classes]
    if len(set(names)) < len(names) or set(names) & set(taken):
        names = [f"probability of {c!r}" for c in classes]
    return names
