"""Which annotator triples to count: pair counts in, triples out, all of a small crowd and a fixed choice of a large."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from covote.counts import PairCounts

Ints = NDArray[np.int64]


def choose_triples(counts: PairCounts, limit: int) -> Ints:
    """At most about `limit` triples m < l < q whose three pairs all share items, shape (T, 3), sorted.

    All of them where the crowd has no more than `limit`. Else every annotator brings the triples it makes with
    pairs of its closest partners (most shared items first, ties by code), as many partners as the limit allows and at
    least two, so that everybody who is in a triple at all keeps one of the best supported ones.

    >>> c = PairCounts.build([0, 0, 1], [1, 2, 2], np.ones((3, 1, 1)), np.ones((3, 1)), 1, "x", "abc")
    >>> choose_triples(c, 10).tolist()
    [[0, 1, 2]]
    """
    M = counts.n_annotators
    if limit >= M * (M - 1) * (M - 2) // 6:
        return _all(counts)
    near = max(2, int((1 + np.sqrt(1 + 8 * limit / M)) / 2))  # near (near - 1) / 2 pairs an annotator
    linked = set(zip(counts.first.tolist(), counts.second.tolist(), strict=True))
    found: set[tuple[int, int, int]] = set()
    for m in range(M):
        partners, blocks = counts.partners(m)
        order = np.lexsort((partners, -blocks.sum(axis=(1, 2))))
        found.update(_closest(m, partners[order].tolist(), near, linked))
    return np.array(sorted(found), dtype=np.int64).reshape(-1, 3)


def _all(counts: PairCounts) -> Ints:
    linked = np.zeros((counts.n_annotators,) * 2, bool)
    linked[counts.first, counts.second] = True
    rows = [np.empty((0, 3), np.int64)]
    for m, q in zip(counts.first.tolist(), counts.second.tolist(), strict=True):
        between = np.flatnonzero(linked[m] & linked[:, q])  # m < l < q by the order of stored pairs
        rows.append(np.stack([np.full_like(between, m), between, np.full_like(between, q)], axis=1))
    found = np.concatenate(rows)
    return found[np.lexsort(found.T[::-1])]


def _closest(m: int, partners: list[int], near: int, linked: set[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Triples of m with pairs of its `near` closest partners; where none of these pairs share items, look further."""
    while True:
        pairs = [(a, b) if a < b else (b, a) for a, b in combinations(partners[:near], 2)]
        found = [_sorted(m, a, b) for a, b in pairs if (a, b) in linked]
        if found or near >= len(partners):
            return found
        near *= 2


def _sorted(m: int, a: int, b: int) -> tuple[int, int, int]:
    """The three codes in order, a < b."""
    return (m, a, b) if m < a else (a, m, b) if m < b else (a, b, m)
