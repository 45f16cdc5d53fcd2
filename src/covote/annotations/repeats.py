"""Coded columns, perhaps with repeated (item, annotator) pairs -> Annotations with one answer a pair."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations.columns import check_choice
from covote.annotations.encode import Coded
from covote.annotations.native import length
from covote.annotations.value import Annotations, Vocabulary, pack, sort_if_needed
from covote.errors import ConflictError, InputError

POLICIES = ("error", "first", "last", "majority")


def settle(item: Coded, annotator: Coded, label: Coded, *, duplicates: str = "error") -> Annotations:
    """Build Annotations; repeats that agree collapse, repeats that conflict follow the policy.

    "first" and "last" go by the order of the rows; "majority" takes the label given most often, and among equals the one given first.

    >>> column = Coded(np.array([0, 0, 0]), ["x"])
    >>> settle(column, column, Coded(np.array([1, 0, 1]), ["a", "b"]), duplicates="majority").label.tolist()
    [1]
    """
    check_choice("duplicates", duplicates, POLICIES)
    items, annotators, classes = (Vocabulary(column.values) for column in (item, annotator, label))
    n_annotators, n_classes = length(annotator.values), length(label.values)
    packed = pack(item.codes, annotator.codes, label.codes, length(item.values), n_annotators, n_classes)
    keys = sort_if_needed(packed)
    pair = keys // n_classes
    repeated = pair[1:] == pair[:-1]
    if repeated.any():
        conflict = repeated & (keys[1:] != keys[:-1])
        disputed = np.unique(pair[1:][conflict])  # (conflicting pairs,)
        del pair
        if len(disputed) and duplicates == "error":
            raise ConflictError(_conflict(keys, int(disputed[0]), items, annotators, classes))
        keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
        if len(disputed):
            settled = _choose(packed, disputed, n_classes, duplicates)
            keys = keys[~np.isin(keys // n_classes, disputed)]
            keys = np.sort(np.concatenate([keys, settled]))
    return Annotations.from_keys(keys, items, annotators, classes)


def _choose(packed: NDArray[np.int64], disputed: NDArray[np.int64], n_classes: int, policy: str) -> NDArray[np.int64]:
    """One key for each disputed pair; `packed` is in the order of the rows."""
    rows = packed[np.isin(packed // n_classes, disputed)]
    rows = rows[np.argsort(rows // n_classes, kind="stable")]
    starts = np.searchsorted(rows // n_classes, disputed)
    ends = np.append(starts[1:], len(rows))
    if policy == "first":
        return rows[starts]
    if policy == "last":
        return rows[ends - 1]
    return np.array([_most_frequent(rows[a:b]) for a, b in zip(starts, ends, strict=True)], dtype=np.int64)


def _most_frequent(values: NDArray[np.int64]) -> Any:
    distinct, first, count = np.unique(values, return_index=True, return_counts=True)
    return distinct[np.lexsort((first, -count))[0]]


def _conflict(
    keys: NDArray[np.int64], pair: int, items: Vocabulary, annotators: Vocabulary, classes: Vocabulary
) -> str:
    n_classes = len(classes)
    low, high = np.searchsorted(keys, [pair * n_classes, (pair + 1) * n_classes])
    one, other, *_ = (classes[code] for code in np.unique(keys[low:high] % n_classes).tolist())
    item, annotator = items[pair // len(annotators)], annotators[pair % len(annotators)]
    return (
        f"Annotator {annotator!r} labels item {item!r} both {one!r} and {other!r}. "
        'Pass duplicates="first", "last" or "majority" to keep one label.'
    )


def check_ids(item: Coded, annotator: Coded) -> None:
    """Raise when a row that has a label lacks its item or annotator."""
    for role, column in (("item", item), ("annotator", annotator)):
        lost = np.flatnonzero(column.codes < 0)
        if len(lost):
            raise InputError(lost_id(role, int(lost[0]) + 1))


def lost_id(role: str, row: int) -> str:
    """The sentence about a row, counted from 1, that has a label but no item or annotator."""
    return f"Row {row} has a label but no {role}. Give every label its item and its annotator, or remove the row."
