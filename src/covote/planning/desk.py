"""Desk: who has answered, or will answer, which item, and who has time left; the one place a plan is written into."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.planning.value import Aim

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Chosen:
    """An assignment in codes."""

    item: int
    annotator: int
    aim: Aim
    gain: float | None
    reason: str


@dataclass(eq=False)
class Desk:
    """Answers by item as codes, what may not be asked, and the capacity left; `give` records an assignment."""

    n_items: int
    n_annotators: int
    offsets: Ints  # (items + 1,): answers given, as in Annotations
    answerer: Ints  # (answers,): annotator code
    barred: frozenset[int]  # item * n_annotators + annotator: excluded, or in progress
    locked: Bools  # (items,): nobody may be asked
    pending: dict[int, list[int]]  # item -> annotators at work on it
    capacity: Ints  # (annotators,): answers each may still give
    budget: int
    chosen: list[Chosen] = field(default_factory=list)

    _added: dict[int, list[int]] = field(default_factory=dict)  # item -> annotators, by this plan

    @property
    def left(self) -> int:
        """Answers that may still be asked for."""
        return self.budget - len(self.chosen)

    def answerers(self, item: int) -> list[int]:
        """Annotators who answered the item, are at work on it, or will be by this plan."""
        done = self.answerer[self.offsets[item] : self.offsets[item + 1]].tolist()
        return [*done, *self.pending.get(item, ()), *self._added.get(item, ())]

    def answer_counts(self) -> Ints:
        """Answers of every item, given or to come, (items,)."""
        counts = np.diff(self.offsets)
        for source in (self.pending, self._added):
            for item, who in source.items():
                counts[item] += len(who)
        return counts

    def free(self, item: int, annotator: int) -> bool:
        """Whether the annotator may be asked about the item."""
        key = item * self.n_annotators + annotator
        return bool(
            self.left > 0
            and self.capacity[annotator] > 0
            and not self.locked[item]
            and key not in self.barred
            and annotator not in self.answerers(item)
        )

    def give(self, item: int, annotator: int, aim: Aim, gain: float | None, reason: str) -> None:
        """Write an assignment down; the pair must be free."""
        self.chosen.append(Chosen(item, annotator, aim, gain, reason))
        self.capacity[annotator] -= 1
        self._added.setdefault(item, []).append(annotator)

    def taken(self, items: Ints, annotators: Ints) -> Bools:
        """Pairs that may not be asked: (items given, annotators given); `items` ascending."""
        place = np.full(self.n_annotators, -1)
        place[annotators] = np.arange(len(annotators))
        blocked = np.zeros((len(items), len(annotators)), bool)
        starts, ends = self.offsets[items], self.offsets[items + 1]
        size = ends - starts
        answers = np.repeat(starts - np.concatenate([[0], np.cumsum(size)[:-1]]), size) + np.arange(int(size.sum()))
        column = place[self.answerer[answers]]
        row = np.repeat(np.arange(len(items)), size)
        blocked[row[column >= 0], column[column >= 0]] = True
        blocked[self.locked[items]] = True
        for extra in (self._pairs_of(self.pending), self._pairs_of(self._added), self._barred_pairs()):
            self._mark(blocked, extra, items, place)
        return blocked

    @staticmethod
    def _pairs_of(source: dict[int, list[int]]) -> Ints:
        pairs = [(item, m) for item, who in source.items() for m in who]
        return np.array(pairs, dtype=np.int64).reshape(-1, 2)

    def _barred_pairs(self) -> Ints:
        keys = np.fromiter(self.barred, dtype=np.int64, count=len(self.barred))
        return np.stack(np.divmod(keys, max(self.n_annotators, 1)), axis=1)

    @staticmethod
    def _mark(blocked: Bools, pairs: Ints, items: Ints, place: NDArray[Any]) -> None:
        if not len(pairs) or not len(items):
            return
        row = np.minimum(np.searchsorted(items, pairs[:, 0]), len(items) - 1)
        column = place[pairs[:, 1]]
        hit = (items[row] == pairs[:, 0]) & (column >= 0)
        blocked[row[hit], column[hit]] = True
