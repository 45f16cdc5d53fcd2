"""crowd-kit's `initial_error`: a frame of workers' past answers in, the errors that EM starts from out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.crowdkit.frames import Coded

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

NAMES = ["worker", "label"]


def with_initial_error(coded: Coded, counts: Floats, seen: Mask, given: Any, strategy: str) -> tuple[Floats, Mask]:
    """Counts (workers, labels, true labels) with the frame assigned or added, and which (worker, label) rows exist.

    The frame has rows (worker, label) and columns true labels, of counts or probabilities.
    """
    if strategy not in ("assign", "addition"):
        msg = f"initial_error_strategy is {strategy!r}, expected 'assign' or 'addition'."
        raise ValueError(msg)
    if list(given.index.names) != NAMES:
        msg = f"The rows of initial_error must be named worker and label, found {list(given.index.names)}."
        raise ValueError(msg)
    worker = coded.workers.get_indexer(given.index.get_level_values("worker"))
    label = coded.labels.get_indexer(given.index.get_level_values("label"))
    inside = (worker >= 0) & (label >= 0)
    rows = given.reindex(columns=coded.labels, fill_value=0.0).to_numpy(float)[inside]
    table, known = np.zeros_like(counts), np.zeros_like(seen)
    table[worker[inside], label[inside]] = np.nan_to_num(rows)
    known[worker[inside], label[inside]] = True
    if strategy == "addition":
        return counts + table, seen | known
    _check_assigned(coded, seen & ~known, given)
    return table, known


def _check_assigned(coded: Coded, lacking: Mask, given: Any) -> None:
    if lacking.any():
        missing = int(lacking.any(axis=1).sum())
        msg = f"All workers in the data should be in initial_error, with every label they gave; {missing} are not."
        raise ValueError(msg)
    values = given[[c for c in given.columns if c in set(coded.labels)]]
    sums = values.groupby(level="worker", sort=False).sum()
    if bool((values <= 1.0).all(axis=None)) and not np.allclose(sums, 1.0):
        msg = "The sum of each worker's error matrix in initial_error should be 1.0 for every true label."
        raise ValueError(msg)
