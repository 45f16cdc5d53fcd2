"""Second aim: annotators who can be compared; a desk in, answers to the same few items by everybody worth it out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from covote.planning.desk import Desk
from covote.planning.value import Aim

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

CROWDED = 25
"""Answers an item gets at most for comparison: in a crowd of more, everybody meets this many of the others."""

WORTH = 0.3
"""An annotator is worth comparing while its answers tell at least this share of what those of the best three tell."""

_MOST_PEOPLE = 400


def worth_comparing(bits: Floats | None, answers: Floats, available: Bools, *, known: int) -> Bools:
    """Who to compare: all that are available, less those known (by `known` answers) to tell little; (annotators,)."""
    if bits is None:
        return available
    best = float(np.sort(bits[available])[-3:].mean()) if available.any() else 0.0
    return available & ((bits >= WORTH * best) | (answers < known))


def overlap(desk: Desk, people: Bools, order: Ints, *, target: int, most: int) -> None:
    """Bring every pair of `people` (annotators,) to `target` shared items, by at most `most` answers.

    The cheapest way to shared items is few items that everybody answers: T labels on one item make T (T-1) / 2 pairs.
    So each annotator in turn, whoever lacks most, gets the item on which it meets most of those it lacks.
    """
    who = np.flatnonzero(people)
    if len(who) > _MOST_PEOPLE:
        who = np.sort(who[np.argsort(-desk.capacity[who], kind="stable")[:_MOST_PEOPLE]])
    if len(who) < 2 or target < 1:
        return
    place = np.full(desk.n_annotators, -1)
    place[who] = np.arange(len(who))
    items, here = _meeting_items(desk, place, len(who), order, target)
    shared = _shared(desk, place, len(who))
    turns = _turns(desk, who, target)
    lack = _lack(shared, target, np.arange(len(who)))
    while most > 0 and desk.left > 0:
        lack[(desk.capacity[who] <= 0) | (turns <= 0)] = 0
        if not lack.any():
            return
        u = int(np.lexsort((-turns, -lack))[0])
        c = _best_item(desk, items, here, int(who[u]), shared[u] < target, u)
        if c is None:  # no meeting item is open to it
            turns[u] = 0
            continue
        met = np.flatnonzero(here[c])
        desk.give(int(items[c]), int(who[u]), Aim.OVERLAP, None, _reason(len(met)))
        shared[u, met] += 1
        shared[met, u] += 1
        here[c, u] = 1
        changed = np.append(met, u)
        lack[changed] = _lack(shared, target, changed)
        turns[u] -= 1
        most -= 1


def _reason(met: int) -> str:
    if not met:
        return "opens an item for comparison"
    return "another answers this item too" if met == 1 else f"{met} others answer this item too"


def _turns(desk: Desk, who: Ints, target: int) -> Ints:
    """Answers each may be asked for: as many as it takes; in a large crowd, up to `target` on items others answer too.

    Where not everybody can meet everybody, an annotator with that many answers beside those of others is known.
    """
    if len(who) <= CROWDED:
        return np.full(len(who), 2 * target)
    busy = np.repeat(np.diff(desk.offsets) >= 3, np.diff(desk.offsets))
    beside = np.bincount(desk.answerer[busy], minlength=desk.n_annotators)[who]
    return np.asarray(np.maximum(target - beside, 0), dtype=np.int64)


def _lack(shared: Floats, target: int, rows: Ints) -> Floats:
    """Shared items the annotators `rows` lack with those they must reach: all, or as many as an item may hold."""
    partners = min(len(shared) - 1, CROWDED - 1)
    short = np.maximum(target - shared[rows], 0.0)
    short[np.arange(len(rows)), rows] = 0.0
    if partners < len(shared) - 1:
        short = np.partition(short, partners, axis=1)[:, : partners + 1]
    return np.asarray(short.sum(axis=1))


def _meeting_items(desk: Desk, place: Ints, n: int, order: Ints, target: int) -> tuple[Ints, NDArray[np.float32]]:
    """Items to meet on, those most of them answered already first, and who is there: 1 or 0, (items, people)."""
    counts = np.zeros(desk.n_items, np.int64)
    item = np.repeat(np.arange(desk.n_items), np.diff(desk.offsets))
    np.add.at(counts, item[place[desk.answerer] >= 0], 1)
    counts[desk.locked] = -1
    rounds = int(np.ceil(n / CROWDED))
    chosen = order[np.argsort(-counts[order], kind="stable")][: 2 * target * rounds]
    here = np.zeros((len(chosen), n), np.float32)
    for c, i in enumerate(chosen.tolist()):
        people = place[np.array(desk.answerers(i), dtype=np.int64)]
        here[c, people[people >= 0]] = 1
    return chosen, here


def _shared(desk: Desk, place: Ints, n: int) -> Floats:
    """Items that each pair shares by answers given, (people, people)."""
    from scipy.sparse import csr_array

    item = np.repeat(np.arange(desk.n_items), np.diff(desk.offsets))
    column = place[desk.answerer]
    use = column >= 0
    answered = csr_array((np.ones(int(use.sum())), (item[use], column[use])), shape=(desk.n_items, n))
    return np.asarray((answered.T @ answered).toarray())


def _best_item(
    desk: Desk, items: Ints, here: NDArray[np.float32], annotator: int, lacking: Bools, u: int
) -> int | None:
    """The meeting item where the annotator meets most of those it lacks and there is room."""
    met = here @ lacking.astype(np.float32)
    met[(here[:, u] > 0) | (here @ np.ones(here.shape[1], np.float32) >= CROWDED)] = -1
    for c in np.argsort(-met, kind="stable")[:50].tolist():
        if met[c] < 0:
            return None
        if desk.free(int(items[c]), annotator):
            return int(c)
    return None
