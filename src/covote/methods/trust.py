"""Which blocks are thick enough to trust: pair counts in, a mask over pairs out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from covote.counts import PairCounts


def trusted_blocks(counts: PairCounts) -> NDArray[np.bool_]:
    """True for the pairs whose K x K block has full rank, as every block of an identified crowd must have.

    A pair that shares fewer than K items, or never meets on some class, fails it: its columns are noise.
    """
    if counts.n_pairs == 0:
        return np.zeros(0, bool)
    if counts.n_pairs <= _FEW:  # quicker than to load the kernel
        return np.asarray(np.linalg.matrix_rank(counts.blocks) == counts.n_classes)
    from covote.kernels import pairs

    full = np.empty(counts.n_pairs, bool)
    pairs.full_rank(counts.blocks, full)
    return full


_FEW = 5000
