"""Small crowds as triples, with ties, single answers and silent classes, for the tests of the engines."""

from __future__ import annotations

import numpy as np

from covote.model import Model


def draw_triples(seed, *, n_items=40, n_annotators=6, classes=("ape", "bee", "cow"), share=0.6):
    """[(item, annotator, label)] of a random crowd; every item has an answer, rows are shuffled."""
    rng = np.random.default_rng(seed)
    K = len(classes)
    triples = []
    for n in range(n_items):
        truth = rng.integers(K)
        who = np.flatnonzero(rng.random(n_annotators) < share)
        for m in who if len(who) else [0]:
            right = rng.random() < 0.5 + 0.4 * m / n_annotators
            triples.append((f"item{n}", f"judge{m}", classes[truth if right else rng.integers(K)]))
    return [triples[i] for i in rng.permutation(len(triples))]


def draw_model(seed, annotators, classes, *, zeros=False):
    """A random model; with `zeros`, some entries of the confusions are exactly 0."""
    rng = np.random.default_rng(seed)
    K = len(classes)
    confusion = rng.random((len(annotators), K, K)) + 2 * np.eye(K)
    if zeros:
        confusion[:, 0, 1:2] = 0.0
    prior = rng.random(K) + 0.5
    return Model(prior / prior.sum(), confusion / confusion.sum(axis=1, keepdims=True), classes, annotators)
