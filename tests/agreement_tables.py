"""Thirty varied tables of answers for the coefficients of agreement: items x raters, -1 where there is no answer."""

from __future__ import annotations

import numpy as np


def draw_table(seed):
    """A table by its number: two to nine raters, two to seven labels, up to 60 % missing, labels common and rare."""
    rng = np.random.default_rng(1000 + seed)
    n_items, n_raters, n_labels = int(rng.integers(8, 60)), int(rng.integers(2, 10)), int(rng.integers(2, 8))
    missing = (0.0, 0.1, 0.3, 0.6)[seed % 4]
    skill = (0.95, 0.75, 0.5, 0.1)[(seed // 4) % 4]
    common = rng.random(n_labels) ** (1 + 3 * (seed % 3)) + 0.02
    truth = np.searchsorted(np.cumsum(common / common.sum())[:-1], rng.random(n_items))
    other = np.searchsorted(np.cumsum(common / common.sum())[:-1], rng.random((n_items, n_raters)))
    near = np.clip(truth[:, None] + rng.integers(-1, 2, (n_items, n_raters)), 0, n_labels - 1)
    wrong = near if seed % 2 else other
    table = np.where(rng.random((n_items, n_raters)) < skill, truth[:, None], wrong)
    table[rng.random((n_items, n_raters)) < missing] = -1
    table[0, :2], table[1, :2] = (0, 1), (1, 1)  # two labels and a pair of raters that met, in every table
    return table


def values(table):
    """The number that each label stands for: not evenly spaced, above 0."""
    return np.array([1.0, 2.0, 4.0, 5.0, 7.5, 8.0, 11.0])[: table.max() + 1]


def triples(table):
    """[(item, rater, label)], labels as numbers."""
    named = values(table)
    return [(i, m, float(named[table[i, m]])) for i, m in zip(*np.nonzero(table >= 0), strict=True)]
