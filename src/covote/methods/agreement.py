"""Who agrees more than independent annotators would: pair counts and a model in, tests of every pair out.

Under the model, annotators err independently given the class and the pair (m, l) agrees on a share tr(A_m D A_l^T) of
the items it shares. The test asks whether it agrees more often. A fitted model has already bent towards the data; a
`Null` drawn from crowds simulated and fitted again allows for that, and without one the test is cautious.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.counts import PairCounts
from covote.engines.base import Engine, ExpectedCounts
from covote.model import FLOOR, Model, columns, normalised

Floats = NDArray[np.float64]

FEWEST = 10
"""Items a pair must share to be tested: fewer cannot convict anybody."""

KNOWN = 10
"""Answers a class that both of a pair must have given: of less, no matrix can say how often they should agree."""

LEVEL = 0.05
"""Chance that a crowd of independent annotators raises an alarm."""

SURE = 0.02
"""Who answers a class nearly always alike (V_m below this: 99 % of the time) has no errors to share with others."""


@dataclass(frozen=True)
class PairTest:
    """One pair: how often it agreed, how often independent annotators would have, and how surprising that is."""

    first: Any
    second: Any
    shared: float
    agreement: float  # share of the shared items
    expected: float
    correlation: float  # of the two annotators' errors given the class: 0 independent, 1 copies
    g: float  # likelihood ratio of the whole block against A_m D A_l^T, 2 sum n log(n / expected)
    p_value: float  # one-sided, of the agreement
    adjusted: float  # by Holm, over all pairs tested


@dataclass(frozen=True, eq=False)
class Null:
    """Mean and spread of each pair's statistic in independent crowds, and the degrees of freedom behind them."""

    centre: Floats  # (pairs,)
    spread: Floats  # (pairs,)
    freedom: float


@dataclass(frozen=True, eq=False)
class PairTests:
    """The tests of all pairs in arrays; `counts` holds the pairs tested."""

    counts: PairCounts
    agreement: Floats
    expected: Floats
    correlation: Floats
    g: Floats
    p_value: Floats
    adjusted: Floats

    def alarming(self, level: float = LEVEL) -> NDArray[np.bool_]:
        """Pairs whose excess agreement stands after correction for all pairs."""
        return self.adjusted < level

    def listed(self, most: int) -> tuple[PairTest, ...]:
        """The most surprising pairs."""
        c = self.counts
        order = np.lexsort((-self.correlation, self.p_value))[:most]
        columns = (self.agreement, self.expected, self.correlation, self.g, self.p_value, self.adjusted)
        return tuple(
            PairTest(
                c.annotators[int(c.first[p])],
                c.annotators[int(c.second[p])],
                float(c.shared[p]),
                *(float(column[p]) for column in columns),
            )
            for p in order
        )


def thick_pairs(counts: PairCounts) -> PairCounts:
    """The pairs that share enough items, between annotators known well enough, to be tested."""
    known = counts.label_counts.sum(axis=1) >= KNOWN * counts.n_classes
    return counts.kept((counts.shared >= FEWEST) & known[counts.first] & known[counts.second])


def excess(counts: PairCounts, model: Model) -> Floats:
    """Surprise of each pair's agreement as a normal score: the binomial tail beyond it, (pairs,)."""
    from scipy.special import betainc, ndtri  # not scipy.stats, which takes half a second to load

    met, same = counts.shared, np.einsum("pii->p", counts.blocks)
    expected = np.clip(expected_agreement(counts, model), 1e-12, 1 - 1e-12)
    above = np.where(same < met, betainc(same + 1, np.maximum(met - same, 1e-9), expected), 0.0)
    at_least = np.where(same > 0, betainc(np.maximum(same, 1e-9), met - same + 1, expected), 1.0)
    return np.asarray(-ndtri(np.clip((above + at_least) / 2, 1e-300, 1 - 1e-15)))


def may_alarm(counts: PairCounts, model: Model, least: float) -> bool:
    """Whether the test of all pairs may convict one of an error correlation of `least` or more; needs no SciPy.

    Pairs that a normal score finds surprising, a standard error left for what it may be off by, are asked exactly.
    """
    expected = np.clip(expected_agreement(counts, model), 1e-12, 1 - 1e-12)
    met, same = counts.shared, np.einsum("pii->p", counts.blocks)
    needed = -NormalDist().inv_cdf(LEVEL / max(counts.n_pairs, 1)) - 1
    surprising = same - met * expected > needed * np.sqrt(met * expected * (1 - expected))
    asked = np.flatnonzero(surprising & (error_correlation(counts, model) >= least))
    level = LEVEL / max(counts.n_pairs - len(asked), 1)
    return any(_tail(int(met[p]), int(same[p]), float(expected[p])) < level for p in asked)


def _tail(n: int, least: int, p: float) -> float:
    """Probability of more than `least` of n, and half of that of exactly as many: the binomial law.

    >>> round(_tail(4, 3, 0.5), 4)
    0.1875
    """
    number = np.arange(least, n + 1)
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    ways = log_factorial[n] - log_factorial[number] - log_factorial[n - number]
    terms = np.exp(ways + number * np.log(p) + (n - number) * np.log1p(-p))
    return float(terms.sum() - terms[0] / 2)


def expected_agreement(counts: PairCounts, model: Model) -> Floats:
    """tr(A_m D A_l^T) of each pair, (pairs,)."""
    a, b = model.confusion[counts.first], model.confusion[counts.second]
    return np.asarray(np.einsum("pik,k,pik->p", a, model.prior, b))


def error_correlation(counts: PairCounts, model: Model) -> Floats:
    """Excess agreement over its largest possible value sqrt(V_m V_l), V_m = mean of 1 - sum_i A_m(i,k)^2; (pairs,)."""
    noise = (1 - (model.confusion**2).sum(axis=1)) @ model.prior
    one, other = noise[counts.first], noise[counts.second]
    seen = np.einsum("pii->p", counts.blocks) / counts.shared
    excess = (seen - expected_agreement(counts, model)) / np.sqrt(np.maximum(one * other, 1e-12))
    return np.asarray(np.where(np.minimum(one, other) < SURE, 0.0, np.clip(excess, -1.0, 1.0)))


def pair_tests(counts: PairCounts, model: Model, null: Null | None = None) -> PairTests:
    """Test every pair of `counts`.

    Without a null from simulation the model is taken as known, which errs on the safe side: a fit leaves smaller
    residuals than the truth would.
    """
    from scipy.special import ndtr, stdtr

    score = excess(counts, model)
    p = ndtr(-score) if null is None else stdtr(null.freedom, (null.centre - score) / null.spread)
    return PairTests(
        counts,
        np.einsum("pii->p", counts.blocks) / np.maximum(counts.shared, 1e-300),
        expected_agreement(counts, model),
        error_correlation(counts, model),
        block_g(counts, model),
        np.asarray(p),
        holm(np.asarray(p)),
    )


def block_g(counts: PairCounts, model: Model) -> Floats:
    """2 sum_ij n_ij log(n_ij / (n R_ij)) of each block, (pairs,)."""
    a, b = model.confusion[counts.first], model.confusion[counts.second]
    rows = np.maximum(np.einsum("pik,k,pjk->pij", a, model.prior, b), 1e-12) * counts.shared[:, None, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(counts.blocks > 0, counts.blocks * np.log(counts.blocks / rows), 0.0)
    return np.asarray(2 * terms.sum(axis=(1, 2)))


def holm(p: Floats) -> Floats:
    """Holm's adjusted p-values: the chance of any false alarm is controlled, whatever the pairs have in common.

    >>> holm(np.array([0.01, 0.5, 0.02])).tolist()
    [0.03, 0.5, 0.04]
    """
    n = len(p)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * (n - np.arange(n))), 1.0)
    return adjusted


def unshrunk(engine: Engine, model: Model) -> Model:
    """The model by the soft counts alone, without the pseudo-answers a fit adds.

    These draw matrices towards one another: annotators who agree on everything would seem to agree too much.
    """
    return plain_model(engine.expected_counts(model.scores()), model.classes, model.annotators)


def plain_model(soft: ExpectedCounts, classes: tuple[Hashable, ...], annotators: tuple[Hashable, ...]) -> Model:
    """The model that soft counts give, nothing added to them."""
    return Model(normalised(soft.prior), columns(soft.confusion, FLOOR), classes, annotators)


def fit_work(n_labels: float, n_annotators: int, n_classes: int) -> float:
    """What a fit costs, in answers of a crowd of three classes: answers times classes, and the matrices themselves.

    >>> fit_work(3000, 10, 3), fit_work(3000, 1000, 30)
    (3000.0, 930000.0)
    """
    return max(n_labels * n_classes / 3 + (n_annotators * n_classes**2 if n_classes > 3 else 0), 1.0)
