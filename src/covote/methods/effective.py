"""Effective votes: pair counts and a fit in, how much of an independent answer each annotator's answers are worth out.

Two annotators who agree more than their matrices explain (R_{m,l} against A_m D A_l^T) share their errors: copies, LLM
judges of one family, students of one teacher. Their answers are worth less together than apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covote.counts import PairCounts
from covote.engines.base import Engine, ExpectedCounts
from covote.methods.agreement import (
    LEVEL,
    expected_agreement,
    may_alarm,
    pair_tests,
    plain_model,
    thick_pairs,
    unshrunk,
)
from covote.methods.copies import excess_of_copies
from covote.methods.groups import MATERIAL, Group, group_table, read_groups
from covote.model import Model

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CERTAIN = 3.0
"""Standard errors by which a pair must agree too often before it counts: one pair in 700 does by chance."""

PARTNERS = 64
"""Partners looked at for each annotator, those with the largest overlap."""

RING = 3
"""Annotators who make a ring; two who answer alike are weighed as any pair is."""

ALIKE = 0.45
"""Mean correlation of the errors within a ring, at least: half copied or more. Hard items, on which everybody errs,
make less, and there is no better opinion to be had from outside the group."""


@dataclass(frozen=True, eq=False)
class Dependence:
    """Pairs that agree beyond the model, and what an answer of each annotator is worth because of them."""

    weight: Floats  # (annotators,): in (0, 1]; 1 where nothing was found
    first: Ints  # (pairs found,)
    second: Ints  # (pairs found,)
    excess: Floats  # (pairs found,): agreement beyond the model, as a share of what was left to agree on

    def and_also(self, other: Dependence) -> Dependence:
        """Pairs of both; an answer is worth the less of what either says."""
        joined = (np.concatenate(pair) for pair in ((self.first, other.first), (self.second, other.second)))
        first, second = joined
        excess = np.concatenate([self.excess, other.excess])
        _, once = np.unique(np.stack([first, second]), axis=1, return_index=True)
        return Dependence(np.minimum(self.weight, other.weight), first[once], second[once], excess[once])

    def worth(self, answers: Floats) -> float:
        """Mean worth of an answer, annotators weighing as their `answers`."""
        return float(self.weight @ answers / max(answers.sum(), 1e-300))


def copying(counts: PairCounts) -> Dependence:
    """Near-copies, found before any model is fitted: a model would take the largest group of them for the truth."""
    excess = excess_of_copies(counts)
    found = excess > 0
    return _weighed(counts, counts.first[found], counts.second[found], counts.shared[found], excess[found])


@dataclass(frozen=True, eq=False)
class Rings:
    """Groups of annotators who copy each other, and what their answers are worth."""

    groups: tuple[Group, ...]
    dependence: Dependence


def rings(engine: Engine, counts: PairCounts, model: Model) -> Rings | None:
    """Groups of annotators behind all agreement in `counts` that `model` does not explain; None where there are none.

    A group that is most of the crowd is taken for the truth by the model, and it is the others who seem to agree too
    much: the reading is found by counting candidates as one vote each and fitting again (`read_groups`). It is
    believed only if it leaves no pair unexplained.
    """
    pairs = thick_pairs(counts)
    if not pairs.n_pairs:
        return None
    plain = unshrunk(engine, model)
    if not may_alarm(pairs, plain, MATERIAL):
        return None
    found = pair_tests(pairs, plain)
    if not np.any(found.alarming(LEVEL) & (found.correlation >= MATERIAL)):
        return None
    reading = read_groups(engine, pairs, plain, None, smallest=RING)
    table = zip(reading.groups, group_table(reading), strict=True)
    groups = tuple(group for group, about in table if len(group) >= RING and about.correlation >= ALIKE)
    if reading.unexplained or not groups:
        return None
    inside = np.zeros(pairs.n_pairs, bool)
    for group in groups:
        inside |= np.isin(pairs.first, group) & np.isin(pairs.second, group)
    alike = np.clip(reading.tests.correlation[inside], 0.0, 1.0)
    return Rings(groups, _weighed(pairs, pairs.first[inside], pairs.second[inside], pairs.shared[inside], alike))


def dependence(counts: PairCounts, soft: ExpectedCounts) -> Dependence:
    """Pairs that agree more often than the fit with soft counts `soft` explains.

    Expected agreement comes from the soft counts without shrinkage, which would pull matrices together or apart and
    pass for dependence.
    """
    first, second, shared = counts.first, counts.second, counts.shared
    expected = expected_agreement(counts, plain_model(soft, counts.classes, counts.annotators))
    observed = np.einsum("pii->p", counts.blocks) / np.maximum(shared, 1e-300)
    error = np.sqrt(expected * (1 - expected) / np.maximum(shared, 1e-300))
    found = observed - expected > CERTAIN * np.maximum(error, 1e-12)
    first, second, shared = first[found], second[found], shared[found]
    excess = ((observed - expected) / np.maximum(1 - expected, 1e-12))[found]
    return _weighed(counts, first, second, shared, excess)


def _weighed(counts: PairCounts, first: Ints, second: Ints, shared: Floats, excess: Floats) -> Dependence:
    """An answer is worth 1 / (1 + sum over dependent partners of excess * chance that they answer the item too).

    That is the design effect of a sample with correlated draws: n answers with correlation rho are worth
    n / (1 + (n - 1) rho) independent ones.
    """
    burden = np.zeros(counts.n_annotators)
    for end in (first, second):
        np.add.at(burden, end, excess * shared)
    answers = np.maximum(counts.label_counts.sum(axis=1), 1e-300)
    return Dependence(1 / (1 + burden / answers), first, second, excess)
