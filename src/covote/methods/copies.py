"""Near-copies: pair counts in, pairs of annotators who answer nearly alike while the crowd says they should not, out.

Six judges that share one model outvote seven independent ones, and a model of answers takes them for the best of all.
Two annotators may answer alike because both know. Then others who know something agree with them too: with correlations
c, one hidden class makes c[m, l] c[j, k] = c[m, j] c[l, k] for any four annotators. A pair that is nearly identical,
although all the others say that its correlation should be low, is a copy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from covote.counts import PairCounts

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

NEARLY_ALIKE = 0.75
"""Correlation from which two annotators may be copies; experts of 93 % accuracy reach it too, hence the second test."""

TOO_MUCH = 0.35
"""Correlation beyond what the others suggest from which a pair is taken for copies."""

SHARED = 30
"""Items a pair must share to count in either test."""

LARGEST = 3000
"""Crowds of more annotators are not tested: the work grows with their cube, and their pairs share little."""

_FEW, _FAINT = 6, 0.01


def correlations(counts: PairCounts) -> Floats:
    """Chance-corrected agreement of every pair, scaled so that identical annotators have 1: (pairs,).

    >>> c = PairCounts.build([0], [1], [[[5, 0], [0, 5]]], [[5, 5], [5, 5]], 10, ("x", "y"), ("ann", "bob"))
    >>> correlations(c).tolist()
    [1.0]
    """
    share = counts.blocks / np.maximum(counts.shared, 1e-300)[:, None, None]
    one, other = share.sum(axis=2), share.sum(axis=1)  # (pairs, labels)
    chance = (one * other).sum(axis=1)
    room = np.sqrt(np.maximum(1 - (one**2).sum(axis=1), 0) * np.maximum(1 - (other**2).sum(axis=1), 0))
    return np.asarray(np.where(room > 1e-6, (np.einsum("pii->p", share) - chance) / np.maximum(room, 1e-6), 0.0))


def excess_of_copies(counts: PairCounts) -> Floats:
    """For near-copies the correlation beyond what the others suggest, as a share of what was left; else 0: (pairs,)."""
    found = np.zeros(counts.n_pairs)
    thick = counts.shared >= SHARED
    correlation = correlations(counts)
    alike = thick & (correlation >= NEARLY_ALIKE)
    if not alike.any() or counts.n_annotators > LARGEST:
        return found
    expected, told = _expected(counts, correlation, thick & ~alike, alike)
    gap = correlation[alike] - expected
    found[alike] = np.where(told & (gap > TOO_MUCH), gap / np.maximum(1 - expected, 1e-9), 0.0)
    return found


def _expected(counts: PairCounts, correlation: Floats, others: Flags, alike: Flags) -> tuple[Floats, Flags]:
    """Correlations of the pairs `alike` by least squares over all c[m, l] c[j, k] = c[m, j] c[l, k].

    The other three pairs are from `others`; told is whether these agree enough among themselves to tell anything.
    """
    M = counts.n_annotators
    link, known, noise = np.zeros((M, M)), np.zeros((M, M)), np.zeros((M, M))
    for a, b in ((counts.first, counts.second), (counts.second, counts.first)):
        link[a[others], b[others]] = correlation[others]
        known[a[others], b[others]] = 1.0
        noise[a[others], b[others]] = 1 / counts.shared[others]
    m, k = counts.first[alike], counts.second[alike]
    through, size, number, error = (
        np.einsum("pj,pj->p", (left @ middle)[m], right[k])
        for left, middle, right in (
            (link, link, link),
            (known, link**2, known),
            (known, known, known),
            (known, noise, known),
        )
    )
    told = (number >= _FEW) & (size > _FAINT * number + 2 * error)
    return np.clip(through / np.maximum(size, 1e-12), 0.0, 1.0), told
