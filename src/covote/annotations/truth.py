"""A file, table, mapping or pairs of true labels -> `Truth`, ready to be compared with annotations."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations import frames
from covote.annotations.columns import Role, check_given, find, not_recognised
from covote.annotations.encode import check_finite, is_missing
from covote.annotations.load import is_paths
from covote.annotations.native import to_list
from covote.annotations.value import NO_CODE, Annotations, Vocabulary
from covote.errors import ColumnError, InputError

UNKNOWN_CLASS = -2
"""Code of a true class that is not among the classes of the annotations."""


@dataclass(frozen=True)
class Truth:
    """True labels of some items.

    >>> from covote.annotations import load
    >>> a = load([("x", "ann", "cat"), ("y", "ann", "dog")]).annotations
    >>> Truth(["y", "z"], ["dog", "cat"]).codes(a).tolist()
    [-1, 1]
    """

    items: list[Any]
    labels: list[Any]

    def codes(self, annotations: Annotations) -> NDArray[np.int64]:
        """Class code of every item, shape (items,): -1 without truth, -2 when its class is not among `classes`.

        A text file knows no numbers: where the ids or labels are text on one side and numbers on the other, the text
        that spells a number stands for it.
        """
        if not (_match(self.items, annotations.items) >= 0).any():
            msg = (
                f"The truth shares no item with the annotations: its first item is {self.items[0]!r}, "
                f"that of the annotations {annotations.items[0]!r}. Check that both use the same ids."
            )
            raise InputError(msg)
        return self.matched(annotations)

    def matched(self, annotations: Annotations) -> NDArray[np.int64]:
        """The same, for a part of the items that may have no truth at all."""
        place = _match(self.items, annotations.items)
        shared = place >= 0
        label = _match(self.labels, annotations.classes)
        label[label < 0] = UNKNOWN_CLASS
        out = np.full(annotations.n_items, NO_CODE, dtype=np.int64)
        out[place[shared]] = label[shared]
        return out


def load_truth(
    truth: Any,
    *,
    item: Hashable | None = None,
    label: Hashable | None = None,
    columns: Sequence[str] | str | None = None,
    delimiter: str | None = None,
) -> Truth:
    """Read true labels from a file, a frame, a mapping from item to label, or pairs (item, label).

    An item may come several times if its labels agree; one without a label is left out. Columns are found as `load`
    finds them; a column named as a truth (`truth`, `gold`, ...) goes before one named as a label.

    >>> load_truth({"x": "cat", "y": None})
    Truth(items=['x'], labels=['cat'])
    """
    found: dict[Hashable, Hashable] = {}
    rows = _pairs(truth, {"item": item, "label": label}, columns, delimiter)
    for number, (key, value) in enumerate(rows, start=1):
        if is_missing(value):
            continue
        if is_missing(key):
            msg = f"Row {number} of the truth has a label but no item. Give every label its item, or remove the row."
            raise InputError(msg)
        if found.setdefault(key, value) != value:
            msg = f"The truth gives item {key!r} both {found[key]!r} and {value!r}. Keep one true label an item."
            raise InputError(msg)
    if not found:
        msg = "The truth holds no labelled item. Pass a table of items and their true labels."
        raise InputError(msg)
    check_finite(list(set(found.values())), "label")
    return Truth(list(found), list(found.values()))


def _pairs(
    truth: Any, given: Mapping[Role, Hashable | None], columns: Sequence[str] | str | None, delimiter: str | None
) -> Iterable[tuple[Any, Any]]:
    if isinstance(truth, Mapping):
        return truth.items()
    if is_paths(truth):
        from covote.annotations.source import read_files

        names = [name for name in given.values() if name is not None]
        return read_files(
            truth,
            lambda source: _from_source(source, given),
            columns=columns,
            delimiter=delimiter,
            given=names,
            width=2,
        )
    truth = frames.unwrapped(truth)
    kind = frames.kind_of(truth)
    if kind == "duckdb":
        from covote.annotations.source import read_relation

        return read_relation(truth, lambda source: _from_source(source, given))
    if kind is not None:
        table, library = frames.collect(truth, kind)
        names = frames.names_of(table, library)
        return zip(*(to_list(table[name]) for name in _choose(names, given)), strict=True)
    return _checked_pairs(truth)


def _from_source(source: Any, given: Mapping[Role, Hashable | None]) -> Iterable[tuple[Any, Any]]:
    from covote.annotations.sql import fetch_values

    item, label = _choose(source.names, given)
    return fetch_values(source, [str(item), str(label)])


def _choose(names: Sequence[Hashable], given: Mapping[Role, Hashable | None]) -> tuple[Hashable, Hashable]:
    check_given(names, given)
    item = find(names, "item", given)
    if item is None:
        raise ColumnError(not_recognised(names, "item", (), ""))
    taken: dict[Role, Hashable | None] = {**given, "item": item}
    label = given["label"]
    for role in ("truth", "label"):
        label = find(names, role, taken) if label is None else label
    if label is None:
        raise ColumnError(not_recognised(names, "label", (item,), ""))
    return item, label


def _checked_pairs(truth: Any) -> Iterable[tuple[Any, Any]]:
    if not isinstance(truth, Iterable):
        kind = type(truth).__name__
        msg = f"An object of type {kind} is no truth. Pass a file, a frame, a mapping or pairs (item, label)."
        raise InputError(msg)
    rows = list(truth)
    for number, row in enumerate(rows, start=1):
        if isinstance(row, str) or not hasattr(row, "__len__") or len(row) != 2:
            msg = f"Row {number} of the truth is {row!r}. Pass pairs (item, label), a mapping, or the path of a file."
            raise InputError(msg)
    return [(item, label) for item, label in rows]


def _match(values: Sequence[Any], vocabulary: Vocabulary) -> NDArray[np.int64]:
    codes = vocabulary.encode(values)
    if np.any(codes >= 0):
        return codes
    if _is_text(values) and _is_numbers(vocabulary.to_list()):
        return vocabulary.encode([_number(value) for value in values])
    if _is_numbers(values) and _is_text(vocabulary.to_list()):
        return Vocabulary([_number(value) for value in vocabulary.to_list()]).encode(values)
    return codes


def _is_text(values: Sequence[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _is_numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(value, (int, float)) for value in values)


def _number(text: str) -> Hashable:
    """The number that a text spells as Python would write it ("7", "0.5", not "07"), else the text."""
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if str(number) == text:
            return number
    return text
