"""Sweeps over the pair counts: a model in, what it expects of every annotator's answers out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covote.counts import PairCounts
from covote.methods.pooling import Pooling, pulled
from covote.model import FLOOR, Model, columns, normalised

Floats = NDArray[np.float64]

_FEW_PAIRS = 5000
_AT_A_TIME = 4096  # so that what is gathered for them stays in the cache


@dataclass(frozen=True, eq=False)
class ExpectedPairs:
    """What one sweep returns."""

    confusion: Floats  # (annotators, labels, classes): soft counts; an annotator's sum is its number of answers
    prior: Floats  # (classes,): mass over pairs
    log_likelihood: float  # sum over pairs of counts * log(A_m D A_l^T)


def expected_pairs(counts: PairCounts, model: Model) -> ExpectedPairs:
    """The E step of the pairwise likelihood; an answer counts once, however many pairs it is part of."""
    soft, mass = np.zeros((counts.n_annotators, counts.n_classes, counts.n_classes)), np.zeros(counts.n_classes)
    confusion = columns(model.confusion, FLOOR**2)
    if counts.n_pairs <= _FEW_PAIRS:  # quicker than to load the kernel
        likelihood = _swept(counts, model.prior, confusion, soft, mass)
    else:
        from covote.kernels import pairs

        every = np.ones(counts.n_pairs)
        likelihood = pairs.kl_pass(
            counts.first, counts.second, counts.blocks, every, model.prior, confusion, soft, mass
        )
    met = soft.sum(axis=(1, 2))
    once = np.where(met > 0, counts.label_counts.sum(axis=1) / np.where(met > 0, met, 1.0), 0.0)
    return ExpectedPairs(soft * once[:, None, None], mass, float(likelihood))


def _swept(
    counts: PairCounts, prior: Floats, confusion: Floats, soft: Floats, mass: Floats
) -> float:  # soft, mass  # OUT
    """What the kernel `kl_pass` does, in NumPy."""
    likelihood = 0.0
    for begin in range(0, counts.n_pairs, _AT_A_TIME):
        chunk = slice(begin, begin + _AT_A_TIME)
        first, second, blocks = counts.first[chunk], counts.second[chunk], counts.blocks[chunk]
        one, other = prior * confusion[first], confusion[second]  # (pairs, labels, classes)
        total = one @ other.transpose(0, 2, 1)
        likelihood += float((blocks * np.log(np.where(blocks > 0, total, 1.0))).sum())
        ratio = np.where(blocks > 0, blocks / np.where(total > 0, total, 1.0), 0.0)
        mine = one * (ratio @ other)
        np.add.at(soft, first, mine)
        np.add.at(soft, second, other * (ratio.transpose(0, 2, 1) @ one))
        mass += mine.sum(axis=(0, 1))
    return likelihood


def pooled_sweep(model: Model, expected: ExpectedPairs, pooling: Pooling) -> Model:
    """The M step: matrices pulled towards the crowd's mean, the prior from the mass of each class."""
    prior = normalised(expected.prior) if expected.prior.sum() > 0 else model.prior
    return Model(prior, pulled(expected.confusion, pooling), model.classes, model.annotators)
