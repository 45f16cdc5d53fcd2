"""What can be identified: pair counts in, the blocks thick enough to trust and whether the model fits at all out."""

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


def is_one_sided(label_counts: NDArray[np.float64]) -> bool:
    """Whether most answers come from annotators who give one label or none, as labelling functions do.

    For such a crowd "this one says spam whatever the item is" explains every answer, so nothing is identified.
    Annotators of one or two answers do not tell: chance makes them so.

    >>> is_one_sided(np.array([[10.0, 0.0], [0.0, 5.0], [2.0, 3.0]]))
    True
    """
    answers = label_counts.sum(axis=1)
    one_sided = (label_counts.max(axis=1, initial=0.0) >= 0.98 * answers) & (answers >= 3)
    theirs = label_counts[one_sided].sum(axis=0)
    most = theirs.sum() > 0.5 * answers.sum()
    return bool(most and theirs.max() < 0.9 * theirs.sum())  # all for one label: rather a crowd of one class
