"""Request: what a plan may do; names and limits in, a desk of codes out."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations import Annotations
from covote.errors import InputError
from covote.planning.desk import Desk

Ints = NDArray[np.int64]
Pairs = Iterable[tuple[Any, Any]]

UNLIMITED = 2**40


@dataclass(frozen=True)
class Request:
    """A budget of answers and the rules for spending it. In pairs (item, annotator) None stands for any."""

    budget: int
    annotators: tuple[Hashable, ...] | None = None  # who may be asked; everybody known when None
    items: tuple[Hashable, ...] | None = None  # further items; those known are always included
    capacity: int | Mapping[Hashable, int] | None = None  # answers an annotator may give under this plan
    exclude: tuple[tuple[Any, Any], ...] = ()  # pairs never to ask
    in_progress: tuple[tuple[Any, Any], ...] = ()  # pairs already asked, without an answer yet
    overlap: int | None = None  # shared items every pair should reach; 15 K when None
    overlap_share: float = 0.5  # of the budget, at most, for comparison

    def __post_init__(self) -> None:
        if self.budget < 1:
            msg = f"The budget is {self.budget} answers. Give at least 1."
            raise InputError(msg)
        if not 0 <= self.overlap_share <= 1 or (self.overlap is not None and self.overlap < 0):
            msg = "The overlap must not be negative and its share of the budget must lie between 0 and 1."
            raise InputError(msg)


@dataclass(frozen=True, eq=False)
class Names:
    """Every item and annotator by code: those with answers first, in the order of the annotations."""

    items: list[Any]
    annotators: list[Any]


def open_desk(annotations: Annotations | None, request: Request) -> tuple[Desk, Names]:
    """The desk with all limits set, and the names behind its codes."""
    names = _names(annotations, request)
    place = {name: m for m, name in enumerate(names.annotators)}
    where = _lazy_places(names.items, (*request.exclude, *request.in_progress))
    N, M = len(names.items), len(names.annotators)
    offsets = np.zeros(N + 1, np.int64)
    answerer = np.zeros(0, np.int64)
    if annotations is not None:
        offsets[: annotations.n_items + 1] = annotations.offsets
        offsets[annotations.n_items + 1 :] = annotations.offsets[-1]
        answerer = annotations.annotator
    desk = Desk(
        N, M, offsets, answerer, frozenset(), np.zeros(N, bool), {}, _capacity(names, place, request), request.budget
    )
    _forbid(desk, request, place, where)
    return desk, names


def _names(annotations: Annotations | None, request: Request) -> Names:
    items = [] if annotations is None else annotations.items.to_list()
    people = [] if annotations is None else annotations.annotators.to_list()
    if request.items is not None:
        seen = set(items)
        items = items + [i for i in dict.fromkeys(request.items) if i not in seen]
    if request.annotators is not None:
        known = set(people)
        people = people + [a for a in dict.fromkeys(request.annotators) if a not in known]
    if not items or not people:
        msg = "A plan needs items and annotators. Pass answers, or name items and annotators to start from nothing."
        raise InputError(msg)
    return Names(items, people)


def remarks(annotations: Annotations | None, request: Request, names: Names) -> list[str]:
    """What may be a slip of the pen: names without answers among those to ask, and capacities of nobody."""
    found = []
    if annotations is not None and len(names.annotators) > annotations.n_annotators:
        found.append(f"Asked for the first time: {_some(names.annotators[annotations.n_annotators :])}.")
    if isinstance(request.capacity, Mapping):
        unknown = [name for name in request.capacity if name not in set(names.annotators)]
        if unknown:
            found.append(f"A capacity is given for {_some(unknown)}, who may not be asked: check the spelling.")
    return found


def _some(names: list[Any], most: int = 5) -> str:
    return ", ".join(map(str, names[:most])) + (f" and {len(names) - most} more" if len(names) > most else "")


def _lazy_places(items: list[Any], pairs: tuple[tuple[Any, Any], ...]) -> dict[Any, int]:
    """Codes of the items that the pairs name."""
    named = {item for item, _ in pairs if item is not None}
    return {item: code for code, item in enumerate(items) if item in named} if named else {}


def _capacity(names: Names, place: Mapping[Any, int], request: Request) -> Ints:
    capacity = np.full(len(names.annotators), UNLIMITED, np.int64)
    if isinstance(request.capacity, Mapping):
        for name, most in request.capacity.items():
            if name in place:
                capacity[place[name]] = max(int(most), 0)
    elif request.capacity is not None:
        capacity[:] = max(int(request.capacity), 0)
    if request.annotators is not None:
        away = np.ones(len(capacity), bool)
        away[[place[name] for name in request.annotators]] = False
        capacity[away] = 0
    return capacity


def _forbid(desk: Desk, request: Request, place: Mapping[Any, int], where: Mapping[Any, int]) -> None:
    """Apply exclusions and work in progress; work in progress uses up capacity and counts as an answer to come."""
    barred = set()
    for item, who in request.exclude:
        if item is None and who is None:
            msg = "An exclusion needs an item, an annotator or both; one names neither."
            raise InputError(msg)
        if item is None:
            desk.capacity[_code(place, who, "annotator")] = 0
        elif who is None:
            desk.locked[_code(where, item, "item")] = True
        else:
            barred.add(_code(where, item, "item") * desk.n_annotators + _code(place, who, "annotator"))
    for item, who in request.in_progress:
        code = _code(where, item, "item")
        if who is None:
            desk.locked[code] = True
            continue
        m = _code(place, who, "annotator")
        desk.pending.setdefault(code, []).append(m)
        desk.capacity[m] = max(desk.capacity[m] - 1, 0)
    desk.barred = frozenset(barred)


def _code(codes: Mapping[Any, int], name: Any, kind: str) -> int:
    if name not in codes:
        msg = f"The {kind} {name!r} is unknown. Check the spelling, or add it with {kind}s=..."
        raise InputError(msg)
    return codes[name]
