"""Coded columns, perhaps with repeated (item, annotator) pairs -> Annotations with one answer a pair."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations.classes import order_classes
from covote.annotations.encode import Coded
from covote.annotations.native import IntArray
from covote.annotations.value import BLOCK, Annotations, Vocabulary, answer_dtype, pack, same_pair, sort
from covote.errors import ConflictError, InputError


def annotations_from(
    item: Coded, annotator: Coded, label: Coded, *, duplicates: str, classes: Iterable[Hashable] | None
) -> Annotations:
    """Three coded columns of a long table -> Annotations; a row without a label is no answer and falls away.

    >>> column = Coded(np.array([0, 1]), ["x", "y"])
    >>> annotations_from(column, column, Coded(np.array([0, -1]), ["cat"]), duplicates="error", classes=None).n_items
    1
    """
    label = order_classes(label, classes)
    answered = label.codes >= 0
    complete = bool(answered.all())
    for role, column in (("item", item), ("annotator", annotator)):
        lost = answered & (column.codes < 0)
        if lost.any():
            raise InputError(lost_id(role, int(np.argmax(lost)) + 1))
    if not complete:
        item, annotator = item.rows(answered).compact(), annotator.rows(answered).compact()
        label = label.rows(answered)
    return settle(item, annotator, label, duplicates=duplicates)


def lost_id(role: str, row: int) -> str:
    """The sentence about a row, counted from 1, that has a label but no item or annotator."""
    return f"Row {row} has a label but no {role}. Give every label its item and its annotator, or remove the row."


def settle(item: Coded, annotator: Coded, label: Coded, *, duplicates: str = "error") -> Annotations:
    """Build Annotations; repeats that agree collapse, repeats that conflict follow the policy.

    "first" and "last" go by the order of the rows; "majority" takes the label given most often, and among equals the
    one given first.

    >>> column = Coded(np.array([0, 0, 0]), ["x"])
    >>> settle(column, column, Coded(np.array([1, 0, 1]), ["a", "b"]), duplicates="majority").label.tolist()
    [1]
    """
    items, annotators, classes = (Vocabulary(column.values) for column in (item, annotator, label))
    grouped = _settle_grouped(item, annotator, label)
    if grouped is not None:
        return Annotations(*grouped, items, annotators, classes)
    n_classes = len(classes)
    packed = pack(item.codes, annotator.codes, label.codes, len(items), len(annotators), n_classes)
    keys = packed if duplicates == "error" else packed.copy()  # the policies need the order of the rows
    sort(keys)
    repeated = same_pair(keys, n_classes)
    if repeated.any():
        new = np.concatenate([[True], keys[1:] != keys[:-1]])
        disputed = np.unique(keys[1:][repeated & new[1:]] // n_classes)  # (conflicting pairs,)
        if len(disputed) and duplicates == "error":
            raise ConflictError(_conflict(keys, int(disputed[0]), items, annotators, classes))
        keys = keys[new]
        if len(disputed):
            keys = keys[~np.isin(keys // n_classes, disputed)]
            keys = np.concatenate([keys, _choose(packed, disputed, n_classes, duplicates)])
            keys.sort()
    return Annotations.from_keys(keys, items, annotators, classes)


def _settle_grouped(item: Coded, annotator: Coded, label: Coded) -> tuple[NDArray[np.int64], IntArray] | None:
    """Offsets and answers of rows that come item by item without repeats, block by block; None for all others."""
    n_annotators, n_classes, rows = len(annotator.values), len(label.values), len(item.codes)
    width = n_annotators * n_classes
    answer: IntArray = np.empty(rows, dtype=answer_dtype(n_annotators, n_classes))
    offsets = np.zeros(len(item.values) + 1, dtype=np.int64)
    start = 0
    while start < rows:
        stop = _end_of_item(item.codes, start + BLOCK)
        part = slice(start, stop)
        own = item.codes[part]
        if (start and own[0] <= item.codes[start - 1]) or not np.all(own[1:] >= own[:-1]):
            return None
        own = own - own[0]
        keys = pack(own, annotator.codes[part], label.codes[part], int(own[-1]) + 1, n_annotators, n_classes)
        sort(keys)
        if same_pair(keys, n_classes).any():
            return None
        answer[part] = keys % width
        first = int(item.codes[start])
        offsets[first + 1 : first + 2 + int(own[-1])] = np.bincount(own)
        start = stop
    np.cumsum(offsets, out=offsets)
    return offsets, answer


def _end_of_item(codes: IntArray, near: int) -> int:
    """The first row from `near` on that begins another item, looking no further than a block."""
    if near >= len(codes):
        return len(codes)
    other = codes[near : near + BLOCK] != codes[near - 1]
    return near + int(np.argmax(other)) if other.any() else min(near + BLOCK, len(codes))


def _choose(packed: NDArray[np.int64], disputed: NDArray[np.int64], n_classes: int, policy: str) -> NDArray[np.int64]:
    """One key for each disputed pair; `packed` is in the order of the rows."""
    rows = packed[np.isin(packed // n_classes, disputed)]
    rows = rows[np.argsort(rows // n_classes, kind="stable")]
    starts = np.searchsorted(rows // n_classes, disputed)
    ends = np.append(starts[1:], len(rows))
    if policy == "first":
        return np.asarray(rows[starts])
    if policy == "last":
        return np.asarray(rows[ends - 1])
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
