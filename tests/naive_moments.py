"""Slow, obvious moments: one Python loop over items each, to hold the engines' and the methods' arithmetic against."""

from __future__ import annotations

from itertools import product

import numpy as np


def answers_of(annotations):
    """[{annotator: label}] by item."""
    table = [{} for _ in range(annotations.n_items)]
    for n, m, x in zip(annotations.item, annotations.annotator, annotations.label, strict=True):
        table[n][int(m)] = int(x)
    return table


def naive_group_moments(annotations, groups, weight=None):
    """Sums over items of outer products of group means: pairs (3, K, K) and triple (K, K, K)."""
    K = annotations.n_classes
    pairs, triple = np.zeros((3, K, K)), np.zeros((K, K, K))
    for n, answers in enumerate(answers_of(annotations)):
        w = 1.0 if weight is None else weight[n]
        means = []
        for g in range(3):
            given = [np.eye(K)[x] for m, x in answers.items() if groups[m] == g]
            means.append(np.mean(given, axis=0) if given else None)
        for p, (g, h) in enumerate([(0, 1), (0, 2), (1, 2)]):
            if means[g] is not None and means[h] is not None:
                pairs[p] += w * np.outer(means[g], means[h])
        if all(mean is not None for mean in means):
            triple += w * np.einsum("i,j,k->ijk", *means)
    return pairs, triple


def naive_triple_moments(annotations, triples, weight=None):
    """Counts (T, K, K, K) of joint answers."""
    K = annotations.n_classes
    out = np.zeros((len(triples), K, K, K))
    for n, answers in enumerate(answers_of(annotations)):
        for t, (a, b, c) in enumerate(triples):
            if a in answers and b in answers and c in answers:
                out[t, answers[a], answers[b], answers[c]] += 1.0 if weight is None else weight[n]
    return out


def naive_signed(annotations):
    """Items x annotators: +1 for the second class, -1 for the first, 0 for no answer."""
    signed = np.zeros((annotations.n_items, annotations.n_annotators))
    for n, answers in enumerate(answers_of(annotations)):
        for m, x in answers.items():
            signed[n, m] = 2 * x - 1
    return signed


def population_triple(model, triple):
    """Pr(labels of three annotators) under a model, (K, K, K)."""
    a, b, c = (model.confusion[m] for m in triple)
    K = model.n_classes
    out = np.zeros((K, K, K))
    for i, j, k in product(range(K), repeat=3):
        out[i, j, k] = (model.prior * a[i] * b[j] * c[k]).sum()
    return out
