"""Coefficients of agreement the slow, obvious way: loops over items and pairs of answers, straight from definitions."""

from __future__ import annotations

from itertools import permutations


def answers_by_item(triples):
    items = {}
    for item, _, label in triples:
        items.setdefault(item, []).append(label)
    return list(items.values())


def percent(items, closeness):
    """Mean over items with two answers of the mean closeness of their ordered pairs."""
    means = []
    for labels in items:
        if len(labels) >= 2:
            pairs = list(permutations(labels, 2))
            means.append(sum(closeness(a, b) for a, b in pairs) / len(pairs))
    return sum(means) / len(means)


def shares(items, classes):
    """Mean over items of the share of each label among the item's answers."""
    return {k: sum(labels.count(k) / len(labels) for labels in items) / len(items) for k in classes}


def fleiss(items, classes, closeness):
    p = shares(items, classes)
    expected = sum(p[a] * p[b] * closeness(a, b) for a in classes for b in classes)
    return (percent(items, closeness) - expected) / (1 - expected)


def gwet(items, classes, closeness):
    p, K = shares(items, classes), len(classes)
    total = sum(closeness(a, b) for a in classes for b in classes)
    expected = total * sum(x * (1 - x) for x in p.values()) / (K * (K - 1))
    return (percent(items, closeness) - expected) / (1 - expected)


def alpha(items, distance):
    """1 - mean distance within items / mean distance of any two answers, over items with two answers."""
    items = [labels for labels in items if len(labels) >= 2]
    every = [label for labels in items for label in labels]
    n = len(every)
    seen = sum(sum(distance(a, b) for a, b in permutations(labels, 2)) / (len(labels) - 1) for labels in items) / n
    expected = sum(distance(a, b) for a, b in permutations(every, 2)) / (n * (n - 1))
    return 1 - seen / expected


def ordinal_distance(items, classes):
    """Square of the answers between two labels, half of each end's own."""
    every = [label for labels in items if len(labels) >= 2 for label in labels]

    def distance(a, b):
        low, high = min(a, b), max(a, b)
        between = sum(every.count(k) for k in classes if low <= k <= high)
        return (between - (every.count(a) + every.count(b)) / 2) ** 2

    return distance


def cohen(triples, first, second, closeness):
    one = {item: label for item, who, label in triples if who == first}
    two = {item: label for item, who, label in triples if who == second}
    both = [(one[item], two[item]) for item in one if item in two]
    seen = sum(closeness(a, b) for a, b in both) / len(both)
    expected = sum(closeness(a, b) for a, _ in both for _, b in both) / len(both) ** 2
    return (seen - expected) / (1 - expected)


def against_others(triples, annotator, closeness):
    """Kappa of all pairs (answer of the annotator, answer of another to the same item)."""
    mine = {item: label for item, who, label in triples if who == annotator}
    met = [(mine[item], label) for item, who, label in triples if who != annotator and item in mine]
    seen = sum(closeness(a, b) for a, b in met) / len(met)
    expected = sum(closeness(a, b) for a, _ in met for _, b in met) / len(met) ** 2
    return (seen - expected) / (1 - expected)
