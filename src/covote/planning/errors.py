"""Third aim: fewer errors; posteriors and a model in, the answers expected to tell most about the classes in doubt out.

An answer of annotator m to an item with posterior p is worth the mutual information of its label and the class,
H(A_m p) - sum_k p_k H(A_m(:, k)): large where the item is uncertain and the annotator tells just these classes apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covote.model import Model
from covote.planning.desk import Desk
from covote.planning.value import Aim

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CANDIDATES = 48  # annotators considered in a pass: those whose answers tell most
_ITEMS_AT_ONCE = 20_000
_FEWEST_PASSES, _MOST_PASSES = 3, 8
_AHEAD = 4  # items kept for the next pass, per answer left
_LEAST = 1e-6  # bits: an answer that tells less is not asked for


def expected_bits(posterior: Floats, confusion: Floats) -> Floats:
    """Mutual information of an answer and the class: posterior (items, K), confusion (annotators, K, K) -> bits (items,
    annotators).

    >>> expected_bits(np.array([[0.5, 0.5], [1.0, 0.0]]), np.stack([np.eye(2), np.ones((2, 2)) / 2])).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    M, K, _ = confusion.shape
    label = (posterior @ confusion.reshape(M * K, K).T).reshape(len(posterior), M, K)  # Pr(label), (items, M, K)
    given = _entropy(confusion.transpose(0, 2, 1))  # (annotators, classes)
    return np.maximum(_entropy(label) - posterior @ given.T, 0.0)


def _entropy(p: Floats) -> Floats:
    """In bits, over the last axis, which is short: summed column by column, since reductions over it are slow."""
    total = np.zeros(p.shape[:-1])
    for k in range(p.shape[-1]):
        column = p[..., k]
        total -= column * np.log2(np.maximum(column, 1e-300))
    return total


@dataclass(frozen=True, eq=False)
class Offer:
    """The best answer to ask for on each item: who, and how many bits it is expected to tell."""

    items: Ints
    annotator: Ints
    bits: Floats


def reduce_errors(desk: Desk, posterior: Floats, model: Model, stream: np.random.Generator) -> None:
    """Spend what is left of the budget, in passes that give each item one more answer at most.

    After a pass the answers asked for are imagined, drawn from what the model expects, so that the next pass looks at
    the doubts that would remain. `posterior` (items, K) is changed on the way.
    """
    items = np.flatnonzero(~desk.locked)
    passes = int(np.clip(np.ceil(4 * desk.left / max(len(items), 1)), _FEWEST_PASSES, _MOST_PASSES))
    p = 0
    while desk.left > 0:
        offer = _offers(desk, posterior, model, items, stream)
        part = max(1, -(-desk.left // max(passes - p, 1)))
        taken = _accepted(desk, offer, part)
        if not len(taken) and len(items) == int((~desk.locked).sum()):
            return
        _write(desk, offer, taken, posterior, model)
        _imagine(posterior, offer.items[taken], offer.annotator[taken], model, stream)
        # imagined answers only lower an item's worth: the next pass needs the best of this one alone
        items = np.sort(offer.items[: _AHEAD * desk.left]) if len(taken) else np.flatnonzero(~desk.locked)
        p += 1


def _offers(desk: Desk, posterior: Floats, model: Model, items: Ints, stream: np.random.Generator) -> Offer:
    """The best answer for each of `items` (ascending), best first."""
    who = _candidates(desk, posterior[items], model)
    found: list[tuple[Ints, Ints, Floats]] = []
    for part in np.array_split(items, max(1, -(-len(items) // _ITEMS_AT_ONCE))):
        if not len(part) or not len(who):
            continue
        bits = expected_bits(posterior[part], model.confusion[who])
        bits[desk.taken(part, who)] = -1.0
        best = bits.argmax(axis=1)
        found.append((part, who[best], bits[np.arange(len(part)), best]))
    if not found:
        return Offer(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    place, annotator, bits = (np.concatenate(column) for column in zip(*found, strict=True))
    shuffled = stream.permutation(len(place))  # ties fall evenly over the items
    order = shuffled[np.argsort(-bits[shuffled], kind="stable")]
    order = order[bits[order] > _LEAST]
    return Offer(place[order], annotator[order], bits[order])


def _candidates(desk: Desk, posterior: Floats, model: Model) -> Ints:
    """Annotators with time left: the best by the bits of an average item, and by those of the doubtful ones."""
    open_to = np.flatnonzero(desk.capacity > 0)
    if len(open_to) <= _CANDIDATES or not len(posterior):
        return open_to
    doubt = _entropy(posterior)
    typical = np.stack([model.prior, np.average(posterior, axis=0, weights=doubt + 1e-12)])
    pure = 0.5 * (np.eye(model.n_classes)[:, None] + np.eye(model.n_classes)[None])  # every two classes in even doubt
    pairs = pure[np.triu_indices(model.n_classes, 1)]
    bits = expected_bits(np.concatenate([typical, pairs]), model.confusion[open_to])  # (situations, annotators)
    rank = np.argsort(np.argsort(-bits, axis=1, kind="stable"), axis=1).min(axis=0)
    return np.sort(open_to[np.argsort(rank, kind="stable")[:_CANDIDATES]])


def _accepted(desk: Desk, offer: Offer, most: int) -> Ints:
    """Places of the best offers within everybody's capacity, best first."""
    order = np.argsort(offer.annotator, kind="stable")
    who = offer.annotator[order]
    rank = np.empty(len(who), np.int64)
    rank[order] = np.arange(len(who)) - np.searchsorted(who, who)  # how many better offers the annotator has
    return np.flatnonzero(rank < desk.capacity[offer.annotator])[:most]


def _write(desk: Desk, offer: Offer, taken: Ints, posterior: Floats, model: Model) -> None:
    top = np.argsort(-posterior[offer.items[taken]], axis=1, kind="stable")[:, :2]
    for t, first, second in zip(taken.tolist(), *top.T.tolist(), strict=True):
        item, bits = int(offer.items[t]), float(offer.bits[t])
        p = posterior[item]
        text = (
            f"in doubt between {model.classes[first]} ({p[first]:.2f}) and {model.classes[second]} ({p[second]:.2f}); "
            f"this answer is expected to tell {bits:.2f} bits"
        )
        desk.give(item, int(offer.annotator[t]), Aim.ERRORS, bits, text)


def _imagine(posterior: Floats, items: Ints, who: Ints, model: Model, stream: np.random.Generator) -> None:
    label = np.einsum("nk,nik->ni", posterior[items], model.confusion[who])
    drawn = (stream.random(len(items))[:, None] > np.cumsum(label, axis=1)).sum(axis=1)
    drawn = np.minimum(drawn, model.n_classes - 1)
    after = posterior[items] * model.confusion[who, drawn]
    posterior[items] = after / np.maximum(after.sum(axis=1, keepdims=True), 1e-300)


def spread(desk: Desk, order: Ints, stream: np.random.Generator) -> None:
    """Without a model: first answers, the items with fewest first, dealt out evenly to all who have time."""
    while desk.left > 0:
        counts = desk.answer_counts()
        queue = order[np.argsort(counts[order], kind="stable")]
        queue = queue[~desk.locked[queue]]
        lowest = queue[counts[queue] == counts[queue[0]]] if len(queue) else queue
        before = desk.left
        people = stream.permutation(np.flatnonzero(desk.capacity > 0))
        for n, item in enumerate(lowest.tolist()):
            if desk.left <= 0:
                return
            turn = np.roll(people, -(n % max(len(people), 1))).tolist() if len(people) <= 50 else _some(people, n)
            m = next((m for m in turn if desk.free(item, m)), None)
            if m is not None:
                desk.give(
                    item, m, Aim.START, None, "the item has no answer yet" if not counts[item] else "few answers yet"
                )
        if desk.left == before:
            return


def _some(people: Ints, turn: int) -> list[int]:
    begin = turn % len(people)
    return [*people[begin : begin + 50].tolist(), *people[: max(0, begin + 50 - len(people))].tolist()]
