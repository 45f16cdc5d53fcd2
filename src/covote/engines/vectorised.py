"""The passes of a small crowd in plain NumPy: answers and scores in, posteriors, soft counts and pair counts out.

They do what the kernels do. A few thousand answers are counted before the compiler is even imported, and the first
run after an installation does not wait for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations.value import Annotations
from covote.engines.base import HeldOut
from covote.model import Pool, Scores

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEW_ANSWERS = 10_000
"""Crowds with at most this many answers are small."""

_MOST_CELLS = 2**22


def is_small(a: Annotations) -> bool:
    """Whether NumPy serves these answers quicker than compiled code that has to be loaded first."""
    width = a.n_annotators * a.n_classes
    return a.n_labels <= FEW_ANSWERS and max(width, a.n_items) * width <= _MOST_CELLS


def posterior(a: Annotations, scores: Scores) -> Floats:
    """Probability of every class for every item, shape (items, classes)."""
    return _posterior(a, scores)[0]


def _sums_by_item(a: Annotations, rows: Floats) -> Floats:
    """Rows of the answers (answers, n) added up by item, (items, n)."""
    return np.column_stack([np.bincount(a.item, weights=s, minlength=a.n_items) for s in rows.T])


def _softmax(logs: Floats) -> Floats:
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _pooled(a: Annotations, scores: Scores, pool: Pool) -> Floats:
    """Probabilities by the pool of model and votes, (items, classes); see `covote.kernels.pool.item_pool`."""
    K = len(scores.bias)
    prior = np.exp(scores.bias)
    with np.errstate(divide="ignore"):
        begin = np.append(scores.bias + np.log1p(-pool.hard_share), np.log(pool.hard_share))
    logs = np.column_stack([scores.table.reshape(-1, K)[a.answer], pool.hard.ravel()[a.answer]])
    states = _softmax(_sums_by_item(a, logs) + begin)
    model = states[:, :K] + states[:, K:] * prior
    votes = _sums_by_item(a, np.eye(K)[a.label] * pool.votes[a.annotator, None])
    total = votes.sum(axis=1, keepdims=True)
    share = np.where(total > 0, votes / np.where(total > 0, total, 1.0), 1 / K)
    e = pool.floor
    joined = _softmax(
        pool.model_weight * np.log((1 - e) * model + e / K) + pool.vote_weight * np.log((1 - e) * share + e / K)
    )
    return np.where(np.diff(a.offsets)[:, None] > 0, joined, prior)


def heldout(a: Annotations, weight: Floats | None, question: HeldOut) -> tuple[Floats, Floats, Floats]:
    """Answers held out one by one; see `covote.engines.base.Engine`."""
    K, item = a.n_classes, a.item
    rows = question.scores.table.reshape(-1, len(question.scores.bias))[a.answer]  # (answers, states)
    sums = _sums_by_item(a, rows)
    present = _softmax(sums + question.scores.bias)[item, :K]
    counts = question.counts.reshape(-1, K)[a.answer]
    given = question.counts.sum(axis=1)[a.annotator]
    s = question.strength[a.annotator, None]
    mine = (np.maximum(counts - present, 0.0) + s * question.pooled[a.label]) / (np.maximum(given - present, 0.0) + s)
    others = (sums[item] - rows)[:, :K]
    several = np.diff(a.offsets)[item] > 1
    right = [(_softmax(question.prior + power * others) * mine).sum(axis=1) for power in question.powers]
    logs = np.log(np.column_stack(right)) * several[:, None]
    by_item = _sums_by_item(a, logs)  # (items, powers)
    w = np.ones(a.n_items) if weight is None else weight
    apart = (by_item[:, :, None] - by_item[:, None, :]) ** 2
    return w @ by_item, np.einsum("n,ntu->tu", w, apart), np.asarray(w[item] @ several, np.float64)


def _posterior(a: Annotations, scores: Scores, gold: Ints | None = None) -> tuple[Floats, Floats]:
    """Probabilities (items, classes), those of gold items certain, and the log-likelihood of every item."""
    known = np.zeros(a.n_items, bool) if gold is None else gold >= 0
    if scores.pool is not None:
        pooled = _pooled(a, scores, scores.pool)
        pooled[known] = np.eye(pooled.shape[1])[np.zeros(0, int) if gold is None else gold[known]]
        return pooled, np.zeros(a.n_items)
    rows = scores.table.reshape(-1, len(scores.bias))[a.answer]  # (answers, classes)
    sums = _sums_by_item(a, rows) + scores.bias
    if scores.link == "linear":
        shares = np.maximum(sums, 0.0)
        likelihood = np.zeros(a.n_items)
        otherwise = np.full(len(scores.bias), 1 / len(scores.bias))
    else:
        if gold is not None:
            sums[known[:, None] & (np.arange(sums.shape[1]) != gold[:, None])] = -np.inf
        top = sums.max(axis=1, initial=-np.inf)
        shares = np.exp(sums - np.where(np.isfinite(top), top, 0.0)[:, None])
        with np.errstate(divide="ignore"):
            likelihood = top + np.log(np.where(np.isfinite(top), shares.sum(axis=1), 1.0))
        otherwise = np.exp(scores.bias)
    total = shares.sum(axis=1, keepdims=True)
    shares = np.where(total > 0, shares / np.where(total > 0, total, 1.0), otherwise)
    if gold is not None:
        shares[known] = np.eye(shares.shape[1])[gold[known]]
    return shares, likelihood


def expected_counts(
    a: Annotations, weight: Floats | None, gold: Ints | None, scores: Scores
) -> tuple[Floats, Floats, Floats]:
    """One EM pass: soft counts, masses, log-likelihood; see `covote.engines.base.Engine`."""
    shares, likelihood = _posterior(a, scores, gold)
    if weight is not None:
        shares = shares * weight[:, None]
        likelihood = np.where(weight > 0, weight * np.where(weight > 0, likelihood, 0.0), 0.0)
    size = a.n_annotators * a.n_classes
    item = a.item
    counts = [np.bincount(a.answer, weights=p[item], minlength=size) for p in shares.T]
    confusion: Floats = np.column_stack(counts).astype(np.float64).reshape(scores.table.shape)
    return confusion, shares.sum(axis=0), np.asarray(likelihood.sum())


def count_pairs(a: Annotations, weight: Floats | None) -> tuple[Ints, Ints, Floats]:
    """Pairs first < second that share items, sorted, and their blocks (pairs, K, K)."""
    M, K = a.n_annotators, a.n_classes
    said: NDArray[Any] = np.zeros((a.n_items, M * K))
    said[a.item, a.answer] = 1.0
    met = said.T @ (said if weight is None else said * weight[:, None])  # (answer codes, answer codes)
    first, second = np.triu_indices(M, 1)
    blocks = met.reshape(M, K, M, K).transpose(0, 2, 1, 3)[first, second]
    share = blocks.any(axis=(1, 2))
    return first[share].astype(np.int64), second[share].astype(np.int64), blocks[share]
