"""Tables on both sides of an estimator: what users pass -> annotations, what was found -> tables of their kind."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations import Annotations, Loaded, Reading, Truth, Vocabulary, load_truth, read
from covote.annotations.exports import kind_in_memory
from covote.annotations.load import is_paths
from covote.annotations.value import answer_dtype
from covote.engines.base import Engine
from covote.engines.machine import free_memory, size_in_bytes
from covote.engines.memory import MemoryEngine
from covote.errors import CrowdWarning, InputError
from covote.importers.registry import expand
from covote.labels import column_names

Floats = NDArray[np.float64]


def open_engine(
    table: Any,
    gold: Any,
    reading: dict[str, Any],
    *,
    place: str = "auto",
    threads: int | None = None,
    memory_limit: str | None = None,
    classes: Iterable[Hashable] = (),
) -> Engine:
    """The engine over a table, wherever its answers are best held; `place` is "auto", "memory" or "disk".

    `classes` are kept among those of a table in memory, whether or not an answer names them.
    """
    options = Reading.of(reading)
    kind = type(table).__module__.split(".")[0]
    if (
        place == "disk"
        or (kind in ("pyspark", "dask", "dask_expr") and place == "auto")
        or _is_large(table, place, options)
    ):
        truth = None if gold is None else gold if isinstance(gold, Truth) else load_truth(gold)
        if kind == "pyspark":
            from covote.engines.spark import open_spark

            return open_spark(table, options, truth)
        if kind in ("dask", "dask_expr"):
            from covote.engines.dask import open_dask

            return open_dask(table, options, truth)
        from covote.engines.disk import open_disk

        limit = None if memory_limit is None else size_in_bytes(memory_limit)
        return open_disk(table, options, truth, limit=limit, threads=threads)
    loaded, codes = read_table(table, gold, reading, classes)
    return MemoryEngine(loaded.annotations, gold=codes, threads=threads, source=loaded)


def _is_large(table: Any, place: str, reading: Reading) -> bool:
    """Whether these are plain files that would take more than half of the free memory."""
    if place != "auto" or isinstance(table, (Loaded, Annotations)) or not is_paths(table):
        return False
    size = sum(Path(f).stat().st_size for f in expand(table) if f != "-" and Path(f).is_file())
    large = size > _SMALL and size * _BYTES_IN_MEMORY > free_memory() / 2
    return large and not reading.for_files and not kind_in_memory(table, reading)


_SMALL = 2**26
"""Files of fewer bytes are read into memory without asking how much is free."""

_BYTES_IN_MEMORY = 6
"""A byte of a Parquet file takes about this many in memory while it is encoded."""


def read_table(
    table: Any, gold: Any, reading: dict[str, Any], more: Iterable[Hashable] = ()
) -> tuple[Loaded, NDArray[np.int64] | None]:
    """Encoded answers and the class codes of gold items; classes that only the gold or `more` names are kept.

    With `gold_column` among the options, the file's own true labels are the gold.
    """
    if gold is not None and reading.get("gold_column"):
        msg = "Both gold= and gold_column= were given. Pass one of them."
        raise InputError(msg)
    if isinstance(table, Annotations):
        loaded = Loaded(table, "mapping", ("item", "annotator", "label"))
    else:
        loaded = table if isinstance(table, Loaded) else read(table, Reading.of(reading))
    if reading.get("gold_column") and loaded.gold:
        gold = loaded.gold
    truth = gold if gold is None or isinstance(gold, Truth) else load_truth(gold)
    known = list(loaded.annotations.classes)
    unseen = [c for c in [*(() if truth is None else truth.labels), *more] if c not in set(known)]
    if unseen:
        wider = _with_classes(loaded.annotations, sorted_classes([*known, *unseen]))
        loaded = replace(loaded, annotations=wider)
    return loaded, None if truth is None else truth.codes(loaded.annotations)


def sorted_classes(classes: list[Any]) -> list[Any]:
    """Distinct classes, sorted where they can be."""
    unique = list(dict.fromkeys(classes))
    try:
        return sorted(unique)
    except TypeError:
        return unique


def _with_classes(a: Annotations, classes: list[Any]) -> Annotations:
    """The same answers among more classes."""
    place = Vocabulary(classes).encode(a.classes)
    answer = a.annotator * len(classes) + place[a.label]
    small: NDArray[Any] = answer.astype(answer_dtype(a.n_annotators, len(classes)))
    return Annotations(a.offsets, small, a.items, a.annotators, Vocabulary(classes))


def match_annotations(new: Annotations, annotators: tuple[Hashable, ...], classes: tuple[Hashable, ...]) -> Annotations:
    """The same answers in the codes of a fitted model; unknown annotators and labels are dropped with a warning."""
    who, what = Vocabulary(list(annotators)).encode(new.annotators), Vocabulary(list(classes)).encode(new.classes)
    _warn_unknown("annotators", [a for a, code in zip(new.annotators, who, strict=True) if code < 0])
    _warn_unknown("labels", [c for c, code in zip(new.classes, what, strict=True) if code < 0])
    annotator, label = who[new.annotator], what[new.label]
    keep = (annotator >= 0) & (label >= 0)
    return Annotations.from_codes(
        new.item[keep],
        annotator[keep],
        label[keep],
        items=new.items,
        annotators=Vocabulary(list(annotators)),
        classes=Vocabulary(list(classes)),
    )


def match_whole_table(new: Annotations, annotators: tuple[Hashable, ...], classes: tuple[Hashable, ...]) -> Annotations:
    """As `match_annotations`, for a table to be labelled as a whole: some of its answers must be of use."""
    matched = match_annotations(new, annotators, classes)
    if not matched.n_labels:
        msg = "No answer of this table has an annotator and a label that the model knows. Pass answers of its crowd."
        raise InputError(msg)
    return matched


def _warn_unknown(what: str, names: list[Any]) -> None:
    if names:
        shown = ", ".join(map(str, names[:5])) + (", ..." if len(names) > 5 else "")
        msg = f"The model does not know {len(names)} {what} ({shown}); their answers are ignored."
        warnings.warn(msg, CrowdWarning, stacklevel=5)


def label_table(loaded: Loaded, codes: NDArray[np.int64]) -> Any:
    """A table of the user's kind: item and label."""
    return loaded.item_table({loaded.names[2]: loaded.label_column(codes)})


def probability_table(loaded: Loaded, posterior: Floats) -> Any:
    """A table of the user's kind: item and the probability of every class."""
    classes = list(loaded.annotations.classes)
    if loaded.kind == "mapping":
        return loaded.item_table({"probability": [dict(zip(classes, row, strict=True)) for row in posterior.tolist()]})
    return loaded.item_table(dict(zip(column_names(list(classes), loaded.names[0]), posterior.T, strict=True)))
