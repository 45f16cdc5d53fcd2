"""Pair counts on disk: one `.npz` without pickles, so that counting can be spread over files and days."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from covote.counts import PairCounts
from covote.errors import CovoteError, FileError
from covote.model_file import read_npz, write_npz

_ARRAYS = ("first", "second", "blocks", "label_counts", "n_items")


def save_counts(counts: PairCounts, path: str | os.PathLike[str]) -> None:
    """Write the counts; the file appears whole or not at all.

    >>> import tempfile
    >>> counts = PairCounts.build([0], [1], [[[3, 1], [0, 4]]], [[4, 4], [3, 5]], 8, ("x", "y"), ("ann", "bob"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_counts(counts, f"{folder}/counts.npz")
    ...     (load_counts(f"{folder}/counts.npz") + counts).blocks.tolist()
    [[[6.0, 2.0], [0.0, 8.0]]]
    """
    arrays = {name: np.asarray(getattr(counts, name)) for name in _ARRAYS}
    names = {"classes": list(counts.classes), "annotators": list(counts.annotators)}
    write_npz(path, "set of pair counts", arrays, names)


def load_counts(path: str | os.PathLike[str]) -> PairCounts:
    """Read counts; a damaged, foreign or newer file is a clear error."""
    arrays, names = read_npz(path, "set of pair counts", _ARRAYS)
    try:
        _check(arrays, len(names["classes"]), len(names["annotators"]))
        return PairCounts.build(
            arrays["first"],
            arrays["second"],
            arrays["blocks"],
            arrays["label_counts"],
            float(arrays["n_items"]),
            names["classes"],
            names["annotators"],
        )
    except (CovoteError, KeyError, TypeError, ValueError, IndexError) as error:
        msg = f"The file {path} is damaged: its counts do not fit together. Count the answers again."
        raise FileError(msg) from error


def is_counts_file(path: Any) -> bool:
    """Whether a path names a file of the kind that `save_counts` and `save_model` write.

    >>> is_counts_file("counts.npz"), is_counts_file("votes.parquet")
    (True, False)
    """
    return isinstance(path, (str, os.PathLike)) and os.fspath(path).endswith(".npz")


def _check(arrays: dict[str, Any], n_classes: int, n_annotators: int) -> None:
    pairs = len(arrays["first"])
    fits = arrays["second"].shape == (pairs,) and arrays["blocks"].shape == (pairs, n_classes, n_classes)
    ends = np.concatenate([arrays["first"], arrays["second"]])
    known = np.all((ends >= 0) & (ends < n_annotators)) and not np.any(arrays["first"] == arrays["second"])
    values = (arrays["blocks"], arrays["label_counts"], arrays["n_items"])
    if not fits or not known or any(not np.all(np.isfinite(v)) or np.any(v < 0) for v in values):
        msg = "counts do not fit together"
        raise ValueError(msg)
