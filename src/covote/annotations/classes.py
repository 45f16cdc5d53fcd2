"""Labels as they were met -> the classes in their order, and the label codes that go with it."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from covote.annotations.encode import Coded, check_finite, is_missing
from covote.annotations.native import IntArray, to_list
from covote.annotations.value import NO_CODE
from covote.errors import InputError


def order_classes(label: Coded, classes: Iterable[Hashable] | None = None) -> Coded:
    """Recode labels so that `classes` come first, as given, and the others follow sorted; the values become a list.

    Text "nan" beside labels that all read as numbers is no answer, and "inf" there is as wrong as the number.

    >>> coded = order_classes(Coded(np.array([0, 1, 2]), ["b", "c", "a"]), classes=["z", "c"])
    >>> coded.values, coded.codes.tolist()
    (['z', 'c', 'a', 'b'], [3, 1, 2])
    """
    met = to_list(label.values)
    check_finite(met, "label")
    absent = {value for value in met if is_missing(value)} | _text_nan(met)
    first = dict.fromkeys(classes or ())
    for value in first:
        if is_missing(value):
            msg = f"classes holds {value!r}, which stands for no answer. Name real classes only."
            raise InputError(msg)
    ordered = [*first, *in_order([value for value in met if value not in first and value not in absent])]
    code_of = {value: code for code, value in enumerate(ordered)}
    dtype = np.int8 if len(ordered) < 2**7 else np.int16 if len(ordered) < 2**15 else np.int32
    new: IntArray = np.array([code_of.get(value, NO_CODE) for value in met] + [NO_CODE], dtype=np.dtype(dtype))
    return Coded(new[label.codes], ordered)  # code -1 reads the last entry


def in_order(values: list[Any]) -> list[Any]:
    """Sorted: numbers by size, text by letter, mixed kinds by the name of their type; as met where no order exists.

    >>> in_order([10, 9]), in_order(["10", "9"]), in_order(["a", 1]), in_order([1j, 0j])
    ([9, 10], ['10', '9'], [1, 'a'], [1j, 0j])
    """
    for key in (None, lambda value: (type(value).__name__, value)):
        try:
            return sorted(values, key=key)
        except TypeError:
            continue
    return values


def _text_nan(values: list[Any]) -> set[Any]:
    if not all(isinstance(value, str) for value in values):
        return set()
    numbers = [_read_number(value) for value in values]
    if None in numbers or all(math.isnan(x) for x in numbers if x is not None):
        return set()
    check_finite([x for x in numbers if x is not None], "label")
    return {value for value, x in zip(values, numbers, strict=True) if x is not None and math.isnan(x)}


def _read_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
