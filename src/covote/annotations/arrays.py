"""A NumPy label matrix, or an iterable of (item, annotator, label) -> coded columns."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations.encode import Coded, check_finite, encode_integers, encode_objects, without
from covote.annotations.value import NO_CODE
from covote.errors import InputError


def encode_matrix(matrix: NDArray[Any]) -> Coded:
    """Label codes of the cells, row by row; -1, NaN and masked cells are no answer.

    >>> label = encode_matrix(np.array([[3.0, np.nan], [-1, 5]]))
    >>> label.codes.tolist(), label.values.tolist()
    ([0, -1, -1, 1], [3.0, 5.0])
    """
    if matrix.ndim != 2:
        msg = f"The label matrix has shape {matrix.shape}. Pass one of shape (items, annotators)."
        raise InputError(msg)
    cells = np.ma.getdata(matrix).reshape(-1)
    if cells.dtype.kind in "iu":
        label = encode_integers(cells)
    elif cells.dtype.kind == "f":
        values, first, codes = np.unique(cells, return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(first))
        label = Coded(rank[codes], values[np.argsort(first)])
    else:
        label = encode_objects(cells.tolist())
    if np.ma.is_masked(matrix):
        label = Coded(np.where(np.ma.getmaskarray(matrix).reshape(-1), NO_CODE, label.codes), label.values).compact()
    return without(label, lambda value: (value == NO_CODE and not isinstance(value, bool)) or value != value)  # noqa: PLR0124  NaN


def encode_triples(triples: Iterable[Any]) -> tuple[Coded, Coded, Coded]:
    """Codes of the items, annotators and labels of an iterable of triples.

    >>> item, annotator, label = encode_triples([("x", 1, True), ("x", 2, None)])
    >>> item.values, annotator.values, label.codes.tolist()
    (['x'], [1, 2], [0, -1])
    """
    rows = triples if isinstance(triples, (list, tuple)) else list(triples)
    for number, row in enumerate(rows, start=1):
        if isinstance(row, str) or not hasattr(row, "__len__") or len(row) != 3:
            msg = f"Row {number} is {row!r}. Pass triples (item, annotator, label), a table, or the path of a file."
            raise InputError(msg)
    flat = list(chain.from_iterable(rows))
    item, annotator, label = (encode_objects(flat[position::3]) for position in range(3))
    check_finite(item.values, "item")
    check_finite(annotator.values, "annotator")
    return item, annotator, label
