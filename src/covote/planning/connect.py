"""First aim: one crowd instead of several; a desk in, assignments that join the groups out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from covote.planning.desk import Desk
from covote.planning.value import Aim

Ints = NDArray[np.int64]

_TRIED = 200  # items looked at for a free one


def connect(desk: Desk, order: Ints) -> int:
    """Join every group of annotators to the largest by one shared item each; returns the groups left apart.

    A group is joined by giving one of its members the item of the main group that most annotators answered, or, when
    its members have no time, by giving a member of the main group one of its items. `order` (items,) breaks ties.
    """
    member, main = _groups(desk)
    open_to_work = desk.capacity > 0
    groups = [g for g in np.unique(member[: desk.n_annotators]) if g != main]
    answered = np.diff(desk.offsets)
    item_group = member[desk.n_annotators :]
    central = order[np.argsort(-answered[order], kind="stable")]
    central = central[(item_group[central] == main) & (answered[central] > 0)]
    left = 0
    for group in groups:
        people = np.flatnonzero(member[: desk.n_annotators] == group)
        if desk.left <= 0 or not (_by_member(desk, people, central) or _by_item(desk, group, main, member, order)):
            left += bool(open_to_work[people].any() or len(np.flatnonzero(item_group == group)))
    return left


def _groups(desk: Desk) -> tuple[Ints, int]:
    """Component of every annotator, then of every item, in the graph of answers; and that with most answers."""
    M, N = desk.n_annotators, desk.n_items
    item = np.repeat(np.arange(N), np.diff(desk.offsets))
    extra = [(m, i) for i, who in desk.pending.items() for m in who]
    rows = np.concatenate([desk.answerer, np.array([m for m, _ in extra], dtype=np.int64)])
    cols = np.concatenate([item, np.array([i for _, i in extra], dtype=np.int64)]) + M
    graph = coo_array((np.ones(len(rows)), (rows, cols)), shape=(M + N, M + N))
    _, member = connected_components(graph, directed=False)
    main = int(np.bincount(member[rows]).argmax()) if len(rows) else -1
    return member.astype(np.int64), main


def _by_member(desk: Desk, people: Ints, central: Ints) -> bool:
    for m in people[np.argsort(-desk.capacity[people], kind="stable")][:5].tolist():
        for item in central[:_TRIED].tolist():
            if desk.free(item, m):
                met = len(desk.answerers(item))
                desk.give(item, m, Aim.CONNECT, None, f"shares no item with the rest yet; {met} of them answered this")
                return True
    return False


def _by_item(desk: Desk, group: int, main: int, member: Ints, order: Ints) -> bool:
    items = order[member[desk.n_annotators :][order] == group]
    people = np.flatnonzero((member[: desk.n_annotators] == main) & (desk.capacity > 0))
    for item in items[:_TRIED].tolist():
        for m in people[np.argsort(-desk.capacity[people], kind="stable")][:5].tolist():
            if desk.free(item, m):
                desk.give(item, m, Aim.CONNECT, None, "only a group apart from the rest answered this item")
                return True
    return False
