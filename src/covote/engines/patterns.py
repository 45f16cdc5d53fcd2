"""Annotations in; out, where it pays, the distinct patterns of answers and which of them each item shows.

Nine judges on ten million items show a few thousand patterns: each is counted once, with its number of items as its
weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from covote.annotations.distinct_rows import RepeatedRows
from covote.annotations.native import IntArray
from covote.annotations.value import Annotations, Vocabulary

Floats = NDArray[np.float64]
Numbered = tuple[NDArray[np.int64], NDArray[np.int32]]

PAYS = 8
"""Patterns are used when items are at least this many times as many."""

SPANS = 8
"""Large crowds are numbered in so many spans, one a thread."""

SAMPLE = 20_000
"""Items looked at to see whether it may pay."""


@dataclass(frozen=True, eq=False)
class Patterns:
    """The distinct patterns, as annotations with one item each, and `index` (items,): the pattern of every item."""

    annotations: Annotations
    gold: NDArray[np.int64] | None  # (patterns,)
    index: IntArray  # (items,)
    count: NDArray[np.int64] | None = None  # (patterns,): items that show each, if known

    def weight(self, item_weight: Floats | None) -> Floats:
        """How often each pattern counts, (patterns,)."""
        n = self.annotations.n_items
        if item_weight is None and self.count is not None:
            return self.count.astype(np.float64)
        return np.bincount(self.index, weights=item_weight, minlength=n).astype(np.float64)


def find_patterns(annotations: Annotations, gold: NDArray[np.int64] | None, threads: int = 1) -> Patterns | None:
    """The patterns, or None where there are too many of them to pay.

    >>> a = Annotations.from_codes(np.arange(40).repeat(2), [0, 1] * 40, [0, 1] * 40)
    >>> found = find_patterns(a, None)
    >>> found.annotations.n_items, found.weight(None).tolist()
    (1, [40.0])
    """
    n = annotations.n_items
    if n < 2 * PAYS:
        return None
    if isinstance(annotations, RepeatedRows) and gold is None:  # the reader of a wide table has found them
        pays = annotations.distinct.n_items * PAYS <= n
        return Patterns(annotations.distinct, None, annotations.index, annotations.count) if pays else None
    stride = max(n // SAMPLE, 1)
    if stride > 1 and _number(annotations, gold, (0, n, stride)) is None:
        return None
    numbered = _number_all(annotations, gold, threads)
    if numbered is None:
        return None
    first, index = numbered
    distinct = _chosen(annotations, first)
    return Patterns(distinct, None if gold is None else gold[first], index)


def _number_all(a: Annotations, gold: NDArray[np.int64] | None, threads: int) -> Numbered | None:
    """Number the patterns of spans of items, perhaps in threads, then those of the spans together."""
    edges = np.linspace(0, a.n_items, SPANS + 1).astype(np.int64).tolist()
    if threads == 1 or a.n_items < SPANS * SAMPLE:
        return _number(a, gold, (0, a.n_items, 1))
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(lambda span: _number(a, gold, (*span, 1)), pairwise(edges)))
    found = [part for part in parts if part is not None]
    if len(found) < len(parts):
        return None
    first = np.concatenate([part[0] for part in found])
    together = _number(_chosen(a, first), None if gold is None else gold[first], (0, len(first), 1), pays=1)
    assert together is not None
    begin, index = 0, np.empty(a.n_items, np.int32)
    for (start, end), part in zip(pairwise(edges), found, strict=True):
        np.take(together[1][begin : begin + len(part[0])], part[1], out=index[start:end])
        begin += len(part[0])
    return first[together[0]], index


def _chosen(a: Annotations, items: NDArray[np.int64]) -> Annotations:
    """Only these items."""
    answers = np.diff(a.offsets)[items]
    offsets = np.concatenate([[0], np.cumsum(answers)])
    rows = np.repeat(a.offsets[items] - offsets[:-1], answers) + np.arange(offsets[-1])
    return Annotations(offsets, a.answer[rows], Vocabulary(items), a.annotators, a.classes)


def _number(
    a: Annotations, gold: NDArray[np.int64] | None, items: tuple[int, int, int], pays: int = PAYS
) -> Numbered | None:
    """First item of each pattern and the pattern of all of (begin, end, stride); None where there are too many."""
    from covote.kernels.patterns import number_patterns

    index = np.empty(len(range(*items)), np.int32)
    first = np.empty(len(index) // pays, np.int64)
    slots = np.full(2 ** int(np.ceil(np.log2(2 * len(first) + 2))), -1, np.int32)
    known = np.empty(0, np.int64) if gold is None else gold
    found = number_patterns(a.offsets, a.answer, known, items, slots, first, index)
    return None if found < 0 else (first[:found].copy(), index)
