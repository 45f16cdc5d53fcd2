"""KOS: answers in, labels and annotator weights out, by messages between items and annotators.

D. Karger, S. Oh, D. Shah, "Budget-optimal task allocation for reliable crowdsourcing systems", 2011 and 2014; several
classes and centred answers: "Efficient crowdsourcing for multi-class labeling", SIGMETRICS 2013.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covote.engines.base import Engine, InMemory
from covote.methods.majority_vote import majority_vote
from covote.methods.signed import components, oriented, threshold_scores
from covote.model import Fit, Status

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_TIE = 1e-9
"""Shares this near to one half are a tie that rounding has bent."""


@dataclass(frozen=True, eq=False)
class _Crowd:
    offsets: Ints  # (items + 1,)
    item: Ints  # (answers,)
    annotator: Ints  # (answers,)
    label: Ints  # (answers,)
    weight: Floats  # (items,) or empty
    gold: Ints  # (items,) or empty
    answers: Floats  # (annotators,): how many each gave
    part: Ints  # (annotators,): connected part


def kos(
    engine: Engine,
    *,
    centre: bool = True,
    level: bool = True,
    seed: int | None = None,
    max_iter: int = 100,
    tol: float = 1e-10,
) -> Fit:
    """Messages on the graph of items i and annotators j until they settle, then a weighted vote.

    With A_ij = +1 or -1: x_{i->j} = sum over j' != j of A_ij' y_{j'->i} and
    y_{j->i} = sum over i' != i of A_i'j x_{i'->j}, starting from y = 1 (plain votes), or from Normal(1, 1)
    as published where a `seed` is given. An item is labelled by the sign of sum_j A_ij y_{j->i}.

    K classes make K - 1 binary questions "is the class above t?" (2013), so the order of classes matters; a class
    scores the shares of votes on its side. `centre` passes messages on A_ij minus its mean over j's answers (2013):
    uneven classes and annotators who lean to one answer would else be taken for agreement. `level` divides the
    messages of j by the root of the answers they sum, since on crowds with uneven shares of work the messages
    otherwise settle on the few who answered most. Both off, with a seed, is the algorithm of 2011 to the letter.
    """
    engine = engine.in_memory()
    annotations = engine.annotations
    K = len(engine.classes)
    if K < 2 or annotations.n_labels == 0:
        return majority_vote(engine)
    crowd = _crowd(engine)
    rng = None if seed is None else np.random.default_rng(seed)
    weight, shares, change = np.empty((K - 1, annotations.n_annotators)), np.empty((K - 1, annotations.n_items)), []
    for t in range(K - 1):
        start = np.ones(annotations.n_labels) if rng is None else rng.normal(1.0, 1.0, annotations.n_labels)
        weight[t], shares[t], moved = _one_question(crowd, t, start, centre, level, max_iter, tol)
        change.append(moved)
    rounds = max(len(c) for c in change)
    history = tuple(max(c[r] for c in change if len(c) > r) for r in range(rounds))
    status = Status.CONVERGED if all(len(c) < max_iter or c[-1] < tol for c in change) else Status.LIMIT
    above = np.arange(K) > np.arange(K - 1)[:, None]  # (thresholds, classes)
    posterior = shares.T @ above + (1 - shares).T @ ~above
    posterior /= posterior.sum(axis=1, keepdims=True)
    return Fit(
        threshold_scores(weight),
        None,
        status,
        history,
        details={"weight": weight.squeeze(0) if K == 2 else weight},
        posterior=posterior,
    )


def _crowd(engine: InMemory) -> _Crowd:
    a = engine.annotations
    weight = np.empty(0) if engine.weight is None else np.asarray(engine.weight, np.float64)
    item, annotator = a.item, a.annotator
    answers = np.bincount(annotator, weight[item] if len(weight) else None, minlength=a.n_annotators)
    last = annotator[np.maximum(a.offsets[1:] - 1, 0)]  # annotators of one item are tied to its last
    part = components(a.n_annotators, annotator, last[item])
    gold = np.empty(0, np.int64) if engine.gold is None else np.asarray(engine.gold, np.int64)
    return _Crowd(a.offsets, item, annotator, a.label, weight, gold, answers.astype(np.float64), part)


def _one_question(
    crowd: _Crowd, t: int, message: Floats, centre: bool, level: bool, max_iter: int, tol: float
) -> tuple[Floats, Floats, list[float]]:
    """Annotator weights, shares of votes for "above t" by item, and the change of each round."""
    from covote.kernels import messages

    M, N = len(crowd.answers), len(crowd.offsets) - 1
    sign = np.where(crowd.label > t, 1.0, -1.0)
    heard = np.maximum(crowd.answers, 1.0)
    count = crowd.weight[crowd.item] if len(crowd.weight) else np.ones(len(sign))
    lean = np.bincount(crowd.annotator, count * sign, minlength=M) / heard if centre else np.zeros(M)
    signed = sign - lean[crowd.annotator]
    scale = np.maximum(crowd.answers - 1, 1.0) ** -0.5 if level else np.ones(M)
    known = np.where(crowd.gold < 0, 0.0, np.where(crowd.gold > t, 1.0, -1.0))
    change = np.zeros(max_iter)
    used = messages.message_rounds(
        crowd.offsets, crowd.annotator, signed, crowd.weight, known, scale, tol, message, change
    )
    weight = np.bincount(crowd.annotator, message, minlength=M) / np.maximum(
        np.bincount(crowd.annotator, minlength=M), 1
    )
    turned = oriented(weight, crowd.answers, crowd.part)
    message = message * np.where(turned * weight < 0, -1.0, 1.0)[crowd.annotator]
    return turned, _shares(crowd.item, sign, message, N), change[:used].tolist()


def _shares(item: Ints, sign: Floats, message: Floats, n_items: int) -> Floats:
    """Share of the votes sign * message that is positive; plain vote shares where every message is zero."""
    vote = sign * message
    up = np.bincount(item, np.maximum(vote, 0.0), minlength=n_items)
    all_votes = np.bincount(item, np.abs(vote), minlength=n_items)
    plain_up, plain = np.bincount(item, sign > 0, minlength=n_items), np.bincount(item, minlength=n_items)
    fallback = np.where(plain > 0, plain_up / np.maximum(plain, 1), 0.5)
    share = np.where(all_votes > 0, up / np.where(all_votes > 0, all_votes, 1.0), fallback)
    return np.where(np.abs(share - 0.5) < _TIE, 0.5, share)
