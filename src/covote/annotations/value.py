"""Annotations: the checked and encoded answers of a crowd, with the vocabularies to decode them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations.native import IntArray, take, to_list, value_at
from covote.errors import InputError

NO_CODE = -1
"""The code of a value that a vocabulary does not hold."""

BLOCK = 2**16
"""Rows handled at a time where whole columns of intermediate results would cost memory."""


@dataclass(frozen=True, eq=False)
class Vocabulary(Sequence[Hashable]):
    """Values of any hashable kind, in a fixed order; a value's code is its position.

    `values` is a list, a NumPy array or a column of the user's own frame library: whatever keeps the values
    exactly as they came.

    >>> v = Vocabulary(["01", "1"])
    >>> v.encode(["1", "x"]).tolist(), v[0]
    ([1, -1], '01')
    """

    values: Any
    _codes: dict[Hashable, int] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, code: Any) -> Any:
        return value_at(self.values, code)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_list())

    def to_list(self) -> list[Any]:
        """Every value, as Python objects, in the order of the codes."""
        return list(to_list(self.values))

    def encode(self, values: Iterable[Hashable]) -> NDArray[np.int64]:
        """Codes of `values`; -1 for those not in the vocabulary."""
        if not self._codes and len(self):
            self._codes.update((value, code) for code, value in enumerate(self.to_list()))
        return np.fromiter((self._codes.get(v, NO_CODE) for v in values), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Annotations:
    """Answers sorted by item, one integer each: `answer = annotator * n_classes + label`.

    The answers of item n are `answer[offsets[n]:offsets[n + 1]]`, sorted by annotator, at most one an annotator.

    >>> a = Annotations.from_codes([0, 0, 1], [0, 1, 1], [1, 1, 0])
    >>> a.n_items, a.n_annotators, a.n_classes, a.answer.tolist()
    (2, 2, 2, [1, 3, 2])
    """

    offsets: NDArray[np.int64]  # (items + 1,)
    answer: IntArray  # (labels,), the smallest of uint16 and int32 that holds annotators * classes
    items: Vocabulary
    annotators: Vocabulary
    classes: Vocabulary

    @classmethod
    def from_codes(
        cls,
        item: Any,
        annotator: Any,
        label: Any,
        *,
        items: Vocabulary | None = None,
        annotators: Vocabulary | None = None,
        classes: Vocabulary | None = None,
    ) -> Annotations:
        """Build from three equally long code arrays in any order; pairs (item, annotator) must be distinct."""
        item, annotator, label = (_integers(x) for x in (item, annotator, label))
        items = _numbered(item) if items is None else items
        annotators = _numbered(annotator) if annotators is None else annotators
        classes = _numbered(label) if classes is None else classes
        keys = pack(item, annotator, label, len(items), len(annotators), len(classes))
        sort(keys)
        if same_pair(keys, len(classes)).any():
            msg = "An annotator answers the same item twice. Resolve repeats before encoding."
            raise InputError(msg)
        return cls.from_keys(keys, items, annotators, classes)

    @classmethod
    def from_keys(
        cls, keys: NDArray[np.int64], items: Vocabulary, annotators: Vocabulary, classes: Vocabulary
    ) -> Annotations:
        """Build from sorted, distinct keys `(item * n_annotators + annotator) * n_classes + label`; see `pack`."""
        width = max(len(annotators) * len(classes), 1)
        answer = np.empty(len(keys), dtype=answer_dtype(len(annotators), len(classes)))
        offsets = np.zeros(len(items) + 1, dtype=np.int64)
        for start in range(0, len(keys), BLOCK):  # in blocks: 100 million keys are 800 MB, a second such array is none
            block = keys[start : start + BLOCK]
            item = block // width
            answer[start : start + BLOCK] = block - item * width
            low, high = int(item[0]), int(item[-1])
            offsets[low + 1 : high + 2] += np.bincount(item - low)
        np.cumsum(offsets, out=offsets)
        return cls(offsets, answer, items, annotators, classes)

    @property
    def n_items(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_annotators(self) -> int:
        return len(self.annotators)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def n_labels(self) -> int:
        return len(self.answer)

    @property
    def n_unanswered(self) -> int:
        """Items that nobody answered."""
        return int((np.diff(self.offsets) == 0).sum())

    @property
    def item(self) -> NDArray[np.int64]:
        """Item code of every answer, shape (labels,)."""
        return np.repeat(np.arange(self.n_items), np.diff(self.offsets))

    @property
    def annotator(self) -> NDArray[np.int64]:
        """Annotator code of every answer, shape (labels,)."""
        return np.asarray(self.answer // max(self.n_classes, 1), dtype=np.int64)

    @property
    def label(self) -> NDArray[np.int64]:
        """Label code of every answer, shape (labels,)."""
        return np.asarray(self.answer % max(self.n_classes, 1), dtype=np.int64)

    def select(self, annotators: IntArray) -> Annotations:
        """Only the answers of these annotators (codes), who are renumbered in the order given; items stay."""
        new_code = np.full(self.n_annotators, NO_CODE)
        new_code[annotators] = np.arange(len(annotators))
        keep = new_code[self.annotator] >= 0
        return Annotations.from_codes(
            self.item[keep],
            new_code[self.annotator[keep]],
            self.label[keep],
            items=self.items,
            annotators=Vocabulary(take(self.annotators.values, np.asarray(annotators))),
            classes=self.classes,
        )


def pack(
    item: IntArray, annotator: IntArray, label: IntArray, n_items: int, n_annotators: int, n_classes: int
) -> NDArray[np.int64]:
    """One integer an answer, `(item * n_annotators + annotator) * n_classes + label`: sorting it sorts the table.

    >>> pack(np.array([0, 1]), np.array([1, 0]), np.array([2, 0]), 2, 2, 3).tolist()
    [5, 6]
    """
    if n_items * n_annotators * n_classes >= 2**63 or n_annotators * n_classes >= 2**31:
        msg = (
            f"{n_items} items x {n_annotators} annotators x {n_classes} classes are too many. Load the items in parts."
        )
        raise InputError(msg)
    keys = np.empty(len(item), np.int64)
    for start in range(0, len(keys), BLOCK):
        part = slice(start, start + BLOCK)
        block = item[part].astype(np.int64)
        block *= n_annotators
        block += annotator[part]
        block *= n_classes
        block += label[part]
        keys[part] = block
    return keys


def sort(keys: NDArray[np.int64]) -> None:
    """Sort in place, unless they are in order already."""
    if not np.all(keys[1:] >= keys[:-1]):
        keys.sort()


def same_pair(keys: NDArray[np.int64], n_classes: int) -> NDArray[np.bool_]:
    """Whether each sorted key but the first is of the same item and annotator as the one before, shape (keys - 1,)."""
    same = np.zeros(max(len(keys) - 1, 0), dtype=bool)
    for start in range(0, len(same), BLOCK):
        pair = keys[start : start + BLOCK + 1] // max(n_classes, 1)
        np.equal(pair[1:], pair[:-1], out=same[start : start + BLOCK])
    return same


def answer_dtype(n_annotators: int, n_classes: int) -> type[np.uint16 | np.int32]:
    """The smallest of the two integer types for `annotator * n_classes + label`."""
    return np.uint16 if n_annotators * n_classes <= 2**16 else np.int32


def _numbered(codes: NDArray[np.int64]) -> Vocabulary:
    return Vocabulary(np.arange(int(codes.max()) + 1 if len(codes) else 0))


def _integers(codes: Any) -> IntArray:
    array = np.asarray(codes)
    return array if array.dtype.kind in "iu" else array.astype(np.int64)  # an empty list becomes floats
