"""Who agrees more than independent annotators would: pair counts and a model in, tests of every pair out.

Under the model, annotators err independently given the class and the pair (m, l) agrees on a share tr(A_m D A_l^T) of
the items it shares. The test asks whether it agrees more often. A fitted model has already bent towards the data, so
the null distribution is drawn: crowds simulated from the model, in the same pattern of answers, and fitted again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, norm, t

from covote.annotations import Annotations
from covote.counts import PairCounts
from covote.engines.base import Engine
from covote.engines.memory import MemoryEngine
from covote.methods.dawid_skene import dawid_skene
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

_REDRAWS, _LABELS_REDRAWN = 20, 1_000_000
_PRIOR_DRAWS = 20  # weight of the crowd's own spread against a pair's, in draws


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
    met, same = counts.shared, np.einsum("pii->p", counts.blocks)
    expected = np.clip(expected_agreement(counts, model), 1e-12, 1 - 1e-12)
    tail = binom.sf(same, met, expected) + 0.5 * binom.pmf(same, met, expected)
    return np.asarray(norm.isf(np.clip(tail, 1e-300, 1 - 1e-15)))


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
    score = excess(counts, model)
    p = norm.sf(score) if null is None else t.sf((score - null.centre) / null.spread, null.freedom)
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


def simulated_null(annotations: Annotations, model: Model, pairs: PairCounts, *, seed: int = 0) -> Null:
    """The statistic's distribution in crowds drawn from `model`, fitted again from it.

    Each pair's own spread over the draws is averaged with that of the crowd, since there are few draws and many pairs.
    """
    work = fit_work(annotations.n_labels, model.n_annotators, model.n_classes)
    number = int(np.clip(_LABELS_REDRAWN // work, 6, _REDRAWS))
    place = pairs.first * pairs.n_annotators + pairs.second
    scores = np.zeros((number, pairs.n_pairs))
    for draw, stream in enumerate(np.random.default_rng(seed).spawn(number)):
        engine = MemoryEngine(redrawn(annotations, model, stream))
        counts = engine.pair_counts()
        found = np.searchsorted(counts.first * counts.n_annotators + counts.second, place)
        again = dawid_skene(engine, model, tol=1e-6, max_iter=60).model
        assert again is not None
        scores[draw] = excess(_taken(counts, found), unshrunk(engine, again))
    crowd_centre, crowd_spread = scores.mean(), scores.std()
    weight = number / (number + _PRIOR_DRAWS)
    centre = weight * scores.mean(axis=0) + (1 - weight) * crowd_centre
    spread = np.sqrt(weight * scores.var(axis=0, ddof=1) + (1 - weight) * crowd_spread**2)
    return Null(centre, np.maximum(spread, 0.05), float(number + _PRIOR_DRAWS - 1))


def unshrunk(engine: Engine, model: Model) -> Model:
    """The model by the soft counts alone, without the pseudo-answers a fit adds.

    These draw matrices towards one another: annotators who agree on everything would seem to agree too much.
    """
    soft = engine.expected_counts(model.scores())
    return Model(normalised(soft.prior), columns(soft.confusion, FLOOR), model.classes, model.annotators)


def fit_work(n_labels: float, n_annotators: int, n_classes: int) -> float:
    """What a fit costs, in answers of a crowd of three classes: answers times classes, and the matrices themselves.

    >>> fit_work(3000, 10, 3), fit_work(3000, 1000, 30)
    (3000.0, 930000.0)
    """
    return max(n_labels * n_classes / 3 + (n_annotators * n_classes**2 if n_classes > 3 else 0), 1.0)


def redrawn(annotations: Annotations, model: Model, stream: np.random.Generator) -> Annotations:
    """The same pattern of answers with classes and labels drawn from the model: a crowd of independent annotators."""
    a, K = annotations, annotations.n_classes
    truth = stream.choice(K, a.n_items, p=model.prior)
    item, annotator = a.item, a.annotator
    cumulative = np.cumsum(model.confusion, axis=1)[annotator, :, truth[item]]  # (labels given, labels)
    label = np.minimum((stream.random(a.n_labels)[:, None] > cumulative).sum(axis=1), K - 1)
    answer = (annotator * K + label).astype(a.answer.dtype)
    return Annotations(a.offsets, answer, a.items, a.annotators, a.classes)


def _taken(counts: PairCounts, places: NDArray[np.intp]) -> PairCounts:
    return PairCounts(
        counts.first[places],
        counts.second[places],
        counts.blocks[places],
        counts.label_counts,
        counts.n_items,
        counts.classes,
        counts.annotators,
    )
