"""The slow, obvious truth: plain loops over (item, annotator, label) triples, to hold every engine against."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import combinations


def by_item(triples):
    """{item: {annotator: label}}; repeats that agree are one answer."""
    table = defaultdict(dict)
    for item, annotator, label in triples:
        assert table[item].setdefault(annotator, label) == label
    return table


def naive_pair_counts(triples):
    """{(annotator, annotator): {(label, label): items}} for annotators in sorted order."""
    counts = defaultdict(lambda: defaultdict(int))
    for answers in by_item(triples).values():
        for a, b in combinations(sorted(answers), 2):
            counts[a, b][answers[a], answers[b]] += 1
    return counts


def naive_posterior(triples, scores, annotators, classes, gold=None):
    """{item: [probability of every class]} and the log-likelihood."""
    posterior, total = {}, 0.0
    for item, answers in by_item(triples).items():
        sums = []
        for k in range(len(classes)):
            value = float(scores.bias[k])
            for annotator, label in answers.items():
                value += float(scores.table[annotators.index(annotator), classes.index(label), k])
            sums.append(value)
        known = None if gold is None else gold.get(item)
        if scores.link == "linear":
            parts = [max(s, 0.0) for s in sums]
            shares = [p / sum(parts) for p in parts] if sum(parts) > 0 else [1 / len(classes)] * len(classes)
        else:
            parts = [math.exp(s) for s in sums]
            if known is not None:
                parts = [p if k == classes.index(known) else 0.0 for k, p in enumerate(parts)]
            whole = math.fsum(parts)
            total += math.log(whole) if whole > 0 else -math.inf
            shares = [p / whole for p in parts] if whole > 0 else [math.exp(b) for b in scores.bias]
        if known is not None:
            shares = [1.0 if c == known else 0.0 for c in classes]
        posterior[item] = shares
    return posterior, total


def naive_expected_counts(triples, scores, annotators, classes, gold=None):
    """counts[annotator][label][class], mass[class] and the log-likelihood."""
    posterior, total = naive_posterior(triples, scores, annotators, classes, gold)
    K = len(classes)
    counts = [[[0.0] * K for _ in range(K)] for _ in annotators]
    mass = [0.0] * K
    for item, answers in by_item(triples).items():
        for k in range(K):
            mass[k] += posterior[item][k]
            for annotator, label in answers.items():
                counts[annotators.index(annotator)][classes.index(label)][k] += posterior[item][k]
    return counts, mass, total


def naive_labels(triples, posterior, classes):
    """{item: label}: the most probable; of those within 1e-9 the one most often answered, then the first in order."""
    votes = dict.fromkeys(classes, 0)
    for answers in by_item(triples).values():
        for label in answers.values():
            votes[label] += 1
    out = {}
    for item, shares in posterior.items():
        tied = [c for c, p in zip(classes, shares, strict=True) if p >= max(shares) - 1e-9]
        out[item] = max(tied, key=lambda c: (votes[c], -classes.index(c)))
    return out
