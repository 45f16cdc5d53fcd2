"""Annotations in; out, where it pays, the distinct patterns of answers and which of them each item shows.

Nine judges on ten million items show a few thousand patterns: each is counted once, with its number of items as its
weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covote.annotations.value import Annotations, Vocabulary

Floats = NDArray[np.float64]

PAYS = 8
"""Patterns are used when items are at least this many times as many."""

SAMPLE = 20_000
"""Items looked at to see whether it may pay."""


@dataclass(frozen=True, eq=False)
class Patterns:
    """The distinct patterns, as annotations with one item each, and `index` (items,): the pattern of every item."""

    annotations: Annotations
    gold: NDArray[np.int64] | None  # (patterns,)
    index: NDArray[np.int32]  # (items,)

    def weight(self, item_weight: Floats | None) -> Floats:
        """How often each pattern counts, (patterns,)."""
        n = self.annotations.n_items
        return np.bincount(self.index, weights=item_weight, minlength=n).astype(np.float64)


def find_patterns(annotations: Annotations, gold: NDArray[np.int64] | None) -> Patterns | None:
    """The patterns, or None where there are too many of them to pay.

    >>> a = Annotations.from_codes(np.arange(40).repeat(2), [0, 1] * 40, [0, 1] * 40)
    >>> found = find_patterns(a, None)
    >>> found.annotations.n_items, found.weight(None).tolist()
    (1, [40.0])
    """
    n = annotations.n_items
    if n < 2 * PAYS:
        return None
    stride = max(n // SAMPLE, 1)
    if stride > 1 and _number(annotations, gold, stride) is None:
        return None
    numbered = _number(annotations, gold, 1)
    if numbered is None:
        return None
    first, index = numbered
    a = annotations
    answers = np.diff(a.offsets)[first]
    offsets = np.concatenate([[0], np.cumsum(answers)])
    rows = np.repeat(a.offsets[first] - offsets[:-1], answers) + np.arange(offsets[-1])
    distinct = Annotations(offsets, a.answer[rows], Vocabulary(first), a.annotators, a.classes)
    return Patterns(distinct, None if gold is None else gold[first], index)


def _number(
    a: Annotations, gold: NDArray[np.int64] | None, stride: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]] | None:
    """First item of each pattern and the pattern of every `stride`-th item; None when there are too many."""
    from covote.kernels.patterns import number_patterns

    index = np.empty(-(-a.n_items // stride), np.int32)
    first = np.empty(len(index) // PAYS, np.int64)
    slots = np.full(2 ** int(np.ceil(np.log2(2 * len(first) + 2))), -1, np.int32)
    known = np.empty(0, np.int64) if gold is None else gold
    found = number_patterns(a.offsets, a.answer, known, stride, slots, first, index)
    return None if found < 0 else (first[:found].copy(), index)
