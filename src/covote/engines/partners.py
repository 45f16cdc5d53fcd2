"""Which pairs of a very large crowd to count: overlaps in, a mask over pairs out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def strongest_pairs(
    first: Ints, second: Ints, shared: NDArray[Any], n_annotators: int, max_partners: int
) -> NDArray[np.bool_]:
    """True for the pairs that are among the `max_partners` largest overlaps of at least one of their two annotators.

    At most `n_annotators * max_partners` pairs stay, and nobody who shares an item with somebody is left alone. Of
    equal overlaps the partner with the smaller code is taken.

    >>> strongest_pairs(np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([5, 3, 4]), 3, 1).tolist()
    [True, False, True]
    """
    ends = np.concatenate([first, second])  # (2 * pairs,)
    others = np.concatenate([second, first])
    order = np.lexsort((others, -np.concatenate([shared, shared]), ends))
    starts = np.searchsorted(ends[order], np.arange(n_annotators))
    rank = np.arange(len(order)) - starts[ends[order]]
    keep = np.zeros(len(first), bool)
    keep[order[rank < max_partners] % max(len(first), 1)] = True
    return keep


def limited(
    first: Ints, second: Ints, blocks: Floats, n_annotators: int, max_partners: int | None
) -> tuple[Ints, Ints, Floats]:
    """The pairs and blocks that stay: all of them without a limit."""
    if max_partners is None:
        return first, second, blocks
    keep = strongest_pairs(first, second, blocks.sum(axis=(1, 2)), n_annotators, max_partners)
    return first[keep], second[keep], blocks[keep]
