"""Answers that are lists of labels -> one yes/no question per item and label, and the way back."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from covote.errors import InputError

YES, NO = "yes", "no"
MARK = " = "
"""Between the item and the label in the id of a yes/no question."""

Row = tuple[Any, Any, Any]


def as_yes_no(rows: list[Row], gold: Mapping[Hashable, Any]) -> tuple[list[Row], dict[Hashable, Any], list[str]]:
    """For each answer, yes to the labels it holds and no to all others.

    >>> as_yes_no([("x", "ann", ["a", "b"]), ("x", "bob", ["a"])], {})[0][-1]
    ('x = b', 'bob', 'no')
    """
    labels = sorted({str(label) for _, _, found in rows for label in _listed(found)})
    if odd := next((label for label in labels if MARK in label), None):
        msg = f"Label '{odd}' holds '{MARK}', which marks the label of a yes/no question. Rename it."
        raise InputError(msg)
    out: list[Row] = [
        (f"{item}{MARK}{label}", who, YES if label in chosen else NO)
        for item, who, found in rows
        for chosen in [set(map(str, _listed(found)))]
        for label in labels
    ]
    truth: dict[Hashable, Any] = {
        f"{item}{MARK}{label}": YES if label in set(map(str, _listed(found))) else NO
        for item, found in gold.items()
        for label in labels
    }
    return out, truth, [f"{len(rows):,} answers with lists of {len(labels)} labels as yes/no questions"]


def joined(answers: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Items and yes or no -> the labels of each item.

    >>> joined([("x = a", "yes"), ("x = b", "no"), ("y = a", "no")])
    {'x': ['a'], 'y': []}
    """
    out: dict[str, list[str]] = {}
    for key, answer in answers:
        item, _, label = key.rpartition(MARK)
        labels = out.setdefault(item, [])
        if answer == YES:
            labels.append(label)
    return out


def _listed(label: Any) -> list[Any]:
    return label if isinstance(label, list) else [label]
