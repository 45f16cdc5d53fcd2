"""A file, table, mapping or pairs of true labels -> `Truth`, ready to be compared with annotations."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations.value import NO_CODE, Annotations
from covote.errors import InputError

UNKNOWN_CLASS = -2
"""Code of a true class that no annotator ever named."""


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
        """Class code of every item, shape (items,): -1 without truth, -2 when no annotator named the true class."""
        place = annotations.items.encode(self.items)
        if not np.any(place >= 0):
            msg = f"The truth shares no item with the annotations (for example {self.items[0]!r}). Check that both use the same ids."
            raise InputError(msg)
        label = annotations.classes.encode(self.labels)
        label[label < 0] = UNKNOWN_CLASS
        out = np.full(annotations.n_items, NO_CODE, dtype=np.int64)
        out[place[place >= 0]] = label[place >= 0]
        return out


def load_truth(
    truth: Any,
    *,
    item: Hashable | None = None,
    label: Hashable | None = None,
    columns: Sequence[str] | str | None = None,
    delimiter: str | None = None,
) -> Truth:
    """Read true labels; an item may come several times if its labels agree.

    >>> load_truth({"x": "cat", "y": None})
    Truth(items=['x'], labels=['cat'])
    """
    from covote.annotations.encode import is_missing

    found: dict[Hashable, Hashable] = {}
    for key, value in _pairs(truth, item, label, columns, delimiter):
        if is_missing(key) or is_missing(value):
            continue
        if found.setdefault(key, value) != value:
            msg = f"The truth gives item {key!r} both {found[key]!r} and {value!r}. Keep one true label an item."
            raise InputError(msg)
    if not found:
        msg = "The truth holds no labelled item. Pass a table of items and their true labels."
        raise InputError(msg)
    return Truth(list(found), list(found.values()))


def _pairs(truth: Any, item: Any, label: Any, columns: Any, delimiter: str | None) -> Any:
    from covote.annotations import frames
    from covote.annotations.columns import check_given, find
    from covote.annotations.files import columns_of, is_paths, open_files

    if isinstance(truth, Mapping):
        return truth.items()
    given = {"item": item, "label": label}
    if is_paths(truth):
        import duckdb

        names = [name for name in given.values() if name is not None]
        truth = open_files(
            truth, duckdb.connect(), columns=columns_of(columns), delimiter=delimiter, given=names, width=2
        )
    kind = frames.kind_of(truth)
    if kind is None:
        return truth
    if kind == "polars-lazy":
        truth = truth.collect()
    names = frames.names_of(truth, kind)
    check_given(names, given)  # type: ignore[arg-type]
    item_name = find(names, "item", given)  # type: ignore[arg-type]
    label_name = given["label"] or find(names, "truth", given) or find(names, "label", given)  # type: ignore[arg-type]
    if kind == "duckdb":
        return truth.select(f'"{item_name}", "{label_name}"').fetchall()
    return zip(*(_list(truth, name) for name in (item_name, label_name)), strict=True)


def _list(table: Any, name: Hashable) -> Any:
    column = table[name]
    convert = getattr(column, "to_pylist", None) or getattr(column, "tolist", None) or column.to_list
    return convert()
