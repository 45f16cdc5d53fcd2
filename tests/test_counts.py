"""Pair counts: symmetric, additive, equal to the slow truth."""

from __future__ import annotations

import numpy as np
import pytest

from covote.annotations import load
from covote.counts import PairCounts
from covote.engines.memory import MemoryEngine
from covote.simulate import draw, paper_model
from naive import naive_pair_counts


def triples_of(a):
    return [
        (int(i), a.annotators[int(m)], a.classes[int(x)]) for i, m, x in zip(a.item, a.annotator, a.label, strict=True)
    ]


def crowd(seed=0, items=200, answering=0.3, annotators=7):
    return draw(
        paper_model("case2", n_annotators=annotators, seed=seed), items, answering=answering, seed=seed
    ).annotations


@pytest.mark.parametrize("seed", range(3))
def test_counts_equal_the_slow_truth(seed):
    a = crowd(seed)
    counts = MemoryEngine(a).pair_counts()
    slow = naive_pair_counts(triples_of(a))
    fast = {
        (counts.annotators[f], counts.annotators[s]): {
            (counts.classes[i], counts.classes[j]): int(block[i, j]) for i, j in zip(*np.nonzero(block), strict=True)
        }
        for f, s, block in zip(counts.first, counts.second, counts.blocks, strict=True)
    }
    assert fast == {pair: dict(cells) for pair, cells in slow.items()}


def test_counts_are_symmetric_in_the_partners_view():
    counts = MemoryEngine(crowd()).pair_counts()
    for m in range(counts.n_annotators):
        partners, blocks = counts.partners(m)
        for other, block in zip(partners, blocks, strict=True):
            theirs, back = counts.partners(int(other))
            np.testing.assert_array_equal(block, back[list(theirs).index(m)].T)


def test_counts_of_chunks_of_whole_items_add_up_to_the_whole():
    triples = triples_of(crowd(items=300))
    whole = MemoryEngine(load(triples).annotations).pair_counts()
    parts = [MemoryEngine(load([t for t in triples if t[0] % 3 == r]).annotations).pair_counts() for r in range(3)]
    merged = parts[0] + parts[1] + parts[2]
    assert merged.n_items == whole.n_items
    assert set(merged.annotators) == set(whole.annotators)
    for counts in (merged, whole):
        assert np.all(counts.first < counts.second)
    assert _as_dict(merged) == _as_dict(whole)


def _as_dict(counts: PairCounts):
    out = {}
    for f, s, block in zip(counts.first, counts.second, counts.blocks, strict=True):
        for i, j in zip(*np.nonzero(block), strict=True):
            ends = sorted([(counts.annotators[f], counts.classes[i]), (counts.annotators[s], counts.classes[j])])
            out[tuple(ends)] = block[i, j]
    return out


def test_marginals_count_every_answer():
    a = crowd()
    counts = MemoryEngine(a).pair_counts()
    assert counts.label_counts.sum() == a.n_labels


def test_weights_count_items_several_times():
    a = crowd(items=50)
    weight = np.arange(50) % 3
    weighted = MemoryEngine(a, weight=weight.astype(float)).pair_counts()
    repeated = [(f"{i}-{copy}", m, x) for i, m, x in triples_of(a) for copy in range(weight[i])]
    positive = {cell: count for cell, count in _as_dict(weighted).items() if count}
    assert positive == _as_dict(MemoryEngine(load(repeated).annotations).pair_counts())
