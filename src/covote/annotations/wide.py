"""Columns of label codes, one an annotator, with a row an item -> Annotations."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations.classes import order_classes
from covote.annotations.distinct_rows import DistinctRows, RepeatedRows, pack_cells
from covote.annotations.encode import Coded
from covote.annotations.many_columns import CELLS, used_codes
from covote.annotations.native import IntArray, to_list
from covote.annotations.repeats import lost_id, settle
from covote.annotations.value import NO_CODE, Annotations, Vocabulary, answer_dtype
from covote.errors import ColumnError, InputError

ROWS = 2**14
"""Rows handled at a time, few enough to stay in the cache while they are filled column by column."""

SMALL = 100
"""A table is taken for wide by itself only when its cells hold at most this many distinct labels."""


def annotations_from_wide(
    items: Coded,
    cells: Sequence[Coded] | DistinctRows,
    annotators: Any,
    *,
    duplicates: str,
    classes: Iterable[Hashable] | None,
) -> Annotations:
    """One coded column an annotator -> Annotations; items and annotators without answers keep their place.

    >>> x = Coded(np.array([0, -1]), ["cat"])
    >>> a = annotations_from_wide(Coded(np.arange(2), ["i", "j"]), [x], ["ann"], duplicates="error", classes=None)
    >>> a.offsets.tolist(), a.n_labels
    ([0, 1, 1], 1)
    """
    encode = partial(_from_columns, annotators=annotators, duplicates=duplicates, classes=classes)
    rows = pack_cells(cells) if isinstance(cells, Sequence) else cells
    whole = len(items.values) == len(items.codes) and bool((items.codes >= 0).all())  # a row an item
    if rows is None or not whole:
        return encode(items, cells if isinstance(cells, Sequence) else cells.all_cells())
    numbers = np.arange(len(rows.cells[0].codes))
    distinct = encode(Coded(numbers, numbers), rows.cells)
    return RepeatedRows(distinct, rows.index, rows.count, Vocabulary(items.values))


def _from_columns(
    items: Coded, cells: Sequence[Coded], *, annotators: Any, duplicates: str, classes: Iterable[Hashable] | None
) -> Annotations:
    lists = _lists(cells)
    merged = _merge(list(lists.values()))
    ordered = order_classes(Coded(np.arange(len(merged)), list(merged.values())), classes)
    code_of = dict(zip(merged, ordered.codes.tolist(), strict=True))
    new = {k: np.array([code_of[v] for v in values] + [NO_CODE], dtype=np.int32) for k, values in lists.items()}
    tables = [new[id(column.values)] for column in cells]
    items, cells = _without_lost(items, cells, tables)
    if len(items.values) < len(items.codes):  # an item in two rows
        return _settle(items, cells, tables, annotators, ordered.values, duplicates)
    offsets = np.zeros(len(items.codes) + 1, dtype=np.int64)
    answer = np.empty(len(items.codes) * len(cells), dtype=answer_dtype(len(cells), len(ordered.values)))
    end = 0
    rows = max(min(ROWS, CELLS // len(cells)), 1)
    for start in range(0, len(items.codes), rows):
        block = _answers(slice(start, start + rows), cells, tables, len(ordered.values))  # (rows, annotators)
        answered = block >= 0
        flat = block.reshape(-1) if answered.all() else block[answered]
        answer[end : end + len(flat)] = flat
        offsets[start + 1 : start + 1 + len(block)] = answered.sum(axis=1) if len(flat) < block.size else block.shape[1]
        end += len(flat)
    np.cumsum(offsets, out=offsets)
    answer = answer if end == len(answer) else answer[:end].copy()
    return Annotations(offsets, answer, Vocabulary(items.values), Vocabulary(annotators), Vocabulary(ordered.values))


def _answers(part: slice, cells: Sequence[Coded], tables: Sequence[IntArray], n_classes: int) -> NDArray[np.int32]:
    """`annotator * n_classes + label` of a block of rows, -1 for no answer."""
    block = np.empty((len(cells[0].codes[part]), len(cells)), dtype=np.int32)
    for position, (column, table) in enumerate(zip(cells, tables, strict=True)):
        block[:, position] = np.where(table < 0, NO_CODE, table + position * n_classes)[column.codes[part]]
    return block


def _without_lost(items: Coded, cells: Sequence[Coded], tables: Sequence[IntArray]) -> tuple[Coded, Sequence[Coded]]:
    """Drop rows without an item, which must be empty."""
    lost = items.codes < 0
    if not lost.any():
        return items, cells
    for column, table in zip(cells, tables, strict=True):
        wrong = lost & (table[column.codes] >= 0)
        if wrong.any():
            raise InputError(lost_id("item", int(np.argmax(wrong)) + 1))
    return items.rows(~lost), [column.rows(~lost) for column in cells]


def _settle(
    items: Coded, cells: Sequence[Coded], tables: Sequence[IntArray], annotators: Any, classes: Any, duplicates: str
) -> Annotations:
    labels = [table[column.codes] for column, table in zip(cells, tables, strict=True)]
    rows = [np.flatnonzero(label >= 0) for label in labels]
    annotator = np.repeat(np.arange(len(cells)), [len(row) for row in rows])
    label = np.concatenate([label[row] for label, row in zip(labels, rows, strict=True)])
    return settle(
        items.rows(np.concatenate(rows)), Coded(annotator, annotators), Coded(label, classes), duplicates=duplicates
    )


def _merge(columns: Sequence[list[Any]]) -> dict[Any, Any]:
    """Distinct labels of all columns; of an integer and an equal float, which a gap makes of it, the integer stays."""
    merged: dict[Any, Any] = {}
    for column in columns:
        for value in column:
            known = merged.setdefault(value, value)
            if isinstance(known, float) and isinstance(value, int):
                merged[value] = value
    return merged


def _lists(cells: Sequence[Coded]) -> dict[int, list[Any]]:
    """The values of the columns as lists, by the identity of the values, which columns may share."""
    return {key: to_list(values) for key, values in {id(column.values): column.values for column in cells}.items()}


def labels_of(cells: Sequence[Coded]) -> list[list[Any]]:
    """The distinct labels of each column, of which several may share one list of values."""
    lists = _lists(cells)
    if len(lists) == len(cells):
        return list(lists.values())
    found = []
    for column in cells:
        values = lists[id(column.values)]
        found.append([values[code] for code in used_codes(column.codes, len(values)).tolist()])
    return found


def check_cells(labels: Sequence[Iterable[Hashable]], names: Sequence[Hashable]) -> None:
    """Raise unless the annotators' columns share a small vocabulary, the sign of a wide table.

    `labels` holds the distinct labels of each column. They must be at most 100 in all, and at least half of those of
    every column must be used in another column too.
    """
    seen: dict[Hashable, int] = {}
    distinct = [{label for label in column if label is not None} for column in labels]
    for column in distinct:
        for label in column:
            seen[label] = seen.get(label, 0) + 1
    own = [column for column in distinct if 2 * sum(seen[label] > 1 for label in column) < len(column)]
    if seen and (len(seen) > SMALL or own):
        listed = ", ".join(str(name) for name in names[:20]) + (", ..." if len(names) > 20 else "")
        msg = (
            f"No annotator and label columns recognised. Columns are: {listed}. "
            'Pass item=, annotator= and label=, or shape="wide" if each column is an annotator.'
        )
        raise ColumnError(msg)
