"""Rows of a distributed frame -> an encoded piece that travels as plain columns, and back to a chunk.

What Spark and Dask share: both bring whole items into a partition, and the rows of a partition are encoded here.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations import Reading, Truth
from covote.annotations.columns import Long, Wide
from covote.annotations.encode import Coded, check_finite
from covote.annotations.frames import encode_column
from covote.annotations.native import to_list
from covote.annotations.repeats import settle
from covote.annotations.wide import check_cells
from covote.engines.chunked import Crowd
from covote.engines.disk import class_codes
from covote.engines.passes import Chunk, Sums
from covote.errors import InputError
from covote.sampling import Keys, item_keys, text_keys

ARRAYS = ("offsets", "answer", "first", "keys", "gold")
"""The arrays of a piece, beside the ids of its items."""


@dataclass(frozen=True, eq=False)
class Code:
    """All that the encoding of a partition needs: vocabularies with the codes of labels, and the options."""

    crowd: Crowd
    labels: dict[Any, int]  # label met -> class code, -1 where it means no answer
    duplicates: str
    truth: Truth | None

    @property
    def sizes(self) -> tuple[int, int]:
        return len(self.crowd.annotators), len(self.crowd.classes)


@dataclass(frozen=True, eq=False)
class Piece:
    """Encoded whole items: their ids in an Arrow array, and the arrays of `ARRAYS` (gold is empty without truth)."""

    ids: Any
    arrays: dict[str, NDArray[Any]]

    def chunk(self, sizes: tuple[int, int]) -> Chunk:
        known = self.arrays["gold"]
        columns = {"first": self.arrays["first"], "keys": self.arrays["keys"], "gold": known if len(known) else None}
        return Chunk.of(self.arrays["offsets"], self.arrays["answer"], sizes, **columns)


def code_of(
    met: Sequence[tuple[Any, Any, int, int, int]], chosen: Long | Wide, reading: Reading, truth: Truth | None
) -> Code:
    """Vocabularies from what was met: rows (annotator, label, first row, answers without item, and without annotator).

    Annotators come in the order of their first rows, or of the columns of a wide table.
    """
    met = sorted(met, key=lambda row: row[2])
    labels = list(dict.fromkeys(row[1] for row in met))
    classes, codes = class_codes(labels, reading, [] if truth is None else dict.fromkeys(truth.labels))
    code = dict(zip(labels, codes.tolist(), strict=True))
    answered = [row for row in met if code[row[1]] >= 0]
    if not answered:
        msg = "The table holds no answers. Pass one with at least one labelled item."
        raise InputError(msg)
    for role, place in (("item", 3), ("annotator", 4)):
        if any(row[place] for row in answered):
            msg = f"A row has a label but no {role}. Give every label its item and its annotator, or remove the row."
            raise InputError(msg)
    if isinstance(chosen, Wide):
        people = [str(name) for name in chosen.annotators]
        if not chosen.sure:
            check_cells([{row[1] for row in answered if row[0] == name} for name in people], people)
        names = (str(chosen.item), "annotator", "label")
    else:
        people, names = list(dict.fromkeys(row[0] for row in answered)), chosen.names
    check_finite(people, "annotator")
    return Code(Crowd(tuple(people), tuple(classes), names, truth is not None), code, reading.duplicates, truth)


def encode(table: Any, code: Code) -> Piece:
    """The rows (item, annotator, label, row) of a partition, a PyArrow table of whole items, in any order."""
    import pyarrow as pa

    table = table.sort_by("row").combine_chunks()
    item = encode_column(table["item"], "pyarrow", "item")
    place = {name: m for m, name in enumerate(code.crowd.annotators)}
    who = _recoded(encode_column(table["annotator"], "pyarrow", "annotator"), place)
    what = _recoded(encode_column(table["label"], "pyarrow", "label"), code.labels)
    row = table["row"].to_numpy()
    known = item.codes >= 0
    first = np.full(len(item.values), 2**62, np.int64)
    np.minimum.at(first, item.codes[known], row[known])
    keep = known & (what >= 0)
    people, classes = list(code.crowd.annotators), list(code.crowd.classes)
    found = settle(item.rows(keep), Coded(who[keep], people), Coded(what[keep], classes), duplicates=code.duplicates)
    gold = np.empty(0, np.int64) if code.truth is None else code.truth.matched(found)
    ids = item.values if isinstance(item.values, (pa.Array, pa.ChunkedArray)) else pa.array(item.values)
    ids = ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
    ids = ids.cast(table["item"].type) if ids.type != table["item"].type else ids
    arrays = dict(zip(ARRAYS, (found.offsets, found.answer, first, _keys(ids), gold), strict=True))
    return Piece(ids, arrays)


def _recoded(column: Coded, codes: dict[Any, int]) -> NDArray[np.int64]:
    table = np.array([codes[value] for value in to_list(column.values)] + [-1], np.int64)
    return np.asarray(table[column.codes])  # code -1 reads the last entry


def _keys(ids: Any) -> Keys:
    """`item_keys` of an Arrow array; texts are read from its buffers."""
    import pyarrow as pa

    if pa.types.is_integer(ids.type):
        return item_keys(ids.to_numpy(zero_copy_only=False))
    if pa.types.is_string(ids.type) or pa.types.is_large_string(ids.type):
        ids = ids.cast(pa.large_string())
        _, offsets, data = ids.buffers()
        places = np.frombuffer(offsets, np.int64)[ids.offset : ids.offset + len(ids) + 1]
        return text_keys(np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8), places)
    return item_keys(ids.to_pylist())


def packed(sums: Iterable[NDArray[Any]]) -> bytes:
    """Arrays as bytes, one after the other in NumPy's own format."""
    out = io.BytesIO()
    for array in sums:
        np.save(out, array, allow_pickle=False)
    return out.getvalue()


def unpacked(data: bytes) -> Sums:
    """The arrays again.

    >>> [array.tolist() for array in unpacked(packed([np.arange(2), np.array(1.5)]))]
    [[0, 1], 1.5]
    """
    source, size, out = io.BytesIO(data), len(data), []
    while source.tell() < size:
        out.append(np.load(source, allow_pickle=False))
    return tuple(out)


def shown(ids: Any, arrays: Sums, columns: Sequence[str], classes: Any) -> Any:
    """A PyArrow table of ids, labels (the first array holds their codes) and the other arrays."""
    import pyarrow as pa

    labels = [] if classes is None else [classes.take(pa.array(arrays[0]))]
    return pa.table(dict(zip(columns, (ids, *labels, *arrays[len(labels) :]), strict=True)))
