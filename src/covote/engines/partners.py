"""Which pairs of a very large crowd to count: overlaps in, a mask over pairs out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_CELLS = 2**26
"""Blocks have at most this many cells in all (512 MB) unless the caller names a limit of partners."""


def strongest_pairs(
    first: Ints, second: Ints, shared: NDArray[Any], n_annotators: int, max_partners: int
) -> NDArray[np.bool_]:
    """True for the pairs that are among the `max_partners` largest overlaps of at least one of their two annotators.

    At most `n_annotators * max_partners` pairs stay, and nobody who shares an item with somebody is left alone. Of
    equal overlaps the next in the order of the codes, counted from oneself in a circle, is taken: where all overlap
    alike, nobody becomes everybody's partner.

    >>> strongest_pairs(np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([5, 3, 4]), 3, 1).tolist()
    [True, False, True]
    """
    ends = np.concatenate([first, second])  # (2 * pairs,)
    others = np.concatenate([second, first])
    order = np.lexsort(((others - ends) % max(n_annotators, 1), -np.concatenate([shared, shared]), ends))
    starts = np.searchsorted(ends[order], np.arange(n_annotators))
    rank = np.arange(len(order)) - starts[ends[order]]
    keep = np.zeros(len(first), bool)
    keep[order[rank < max_partners] % max(len(first), 1)] = True
    return keep


def bound(n_pairs: int, sizes: tuple[int, int]) -> int | None:
    """Partners to keep of each annotator where the blocks of so many pairs would have more than `MOST_CELLS` cells.

    `sizes` are the numbers of annotators and classes. About a quarter as many cells are left.
    """
    cells = sizes[1] ** 2
    return None if n_pairs * cells <= MOST_CELLS else max(MOST_CELLS // (4 * cells * sizes[0]), 8)


def limited(
    first: Ints, second: Ints, blocks: Floats, n_annotators: int, max_partners: int | None
) -> tuple[Ints, Ints, Floats]:
    """The pairs and blocks that stay: all of them without a limit."""
    if max_partners is None:
        return first, second, blocks
    keep = strongest_pairs(first, second, blocks.sum(axis=(1, 2)), n_annotators, max_partners)
    return first[keep], second[keep], blocks[keep]
