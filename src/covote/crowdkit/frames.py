"""Frames of task, worker, label in; codes, an engine over them, and Series and frames in crowd-kit's shapes out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations.value import Annotations, Vocabulary, pack, sort
from covote.engines.memory import MemoryEngine
from covote.errors import InputError

try:
    import pandas as pd
except ImportError as error:  # pragma: no cover - pandas is there in tests
    msg = "covote.crowdkit needs pandas. Install it with: pip install 'covote[frames]'"
    raise ImportError(msg) from error

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
COLUMNS = ["task", "worker", "label"]


@dataclass(frozen=True, eq=False)
class Coded:
    """Rows as codes: tasks and workers in the order in which they appear, labels sorted; no row without a label."""

    task: Ints  # (rows,)
    worker: Ints  # (rows,)
    label: Ints  # (rows,)
    tasks: Any  # pandas Index
    workers: Any
    labels: Any

    @classmethod
    def of(cls, data: Any, labels: Any = None) -> Coded:
        """Code a frame; a missing column is a KeyError. `labels` fixes the label index."""
        data = data[COLUMNS]
        answered = data["label"].notna()
        data = data if answered.all() else data[answered]
        task, tasks = pd.factorize(data["task"])
        worker, workers = pd.factorize(data["worker"])
        if labels is None:
            label, labels = _sorted_codes(data["label"])
        else:
            label = labels.get_indexer(data["label"])
        return cls(task, worker, label, pd.Index(tasks, name="task"), pd.Index(workers, name="worker"), labels)

    @property
    def size(self) -> int:
        return len(self.task)

    def votes(self, weight: Floats | None = None) -> Floats:
        """Sum of weights of the votes for each label: (tasks, labels)."""
        N, K = len(self.tasks), len(self.labels)
        own = None if weight is None else weight[self.worker]
        return np.bincount(self.task * K + self.label, own, minlength=N * K).reshape(N, K).astype(np.float64)

    @cached_property
    def distinct(self) -> tuple[Ints, Ints, Ints]:
        """Task, worker and label of the rows, repeated rows once."""
        M, K = max(len(self.workers), 1), max(len(self.labels), 1)
        keys = np.unique(pack(self.task, self.worker, self.label, len(self.tasks), M, K))
        return keys // (M * K), keys // K % M, keys % K

    def accuracy(self, chosen: Ints) -> Floats:
        """Share of each worker's answers that are the chosen label of their task."""
        task, worker, label = self.distinct
        M = len(self.workers)
        answers = np.bincount(worker, minlength=M)
        return np.asarray(np.bincount(worker, chosen[task] == label, minlength=M) / np.maximum(answers, 1))

    def engine(self, gold: Ints | None = None) -> MemoryEngine:
        """An engine over the rows; a repeated row counts twice, as in crowd-kit."""
        names = [Vocabulary(np.arange(len(x))) for x in (self.tasks, self.workers, self.labels)]
        keys = pack(self.task, self.worker, self.label, *map(len, names))
        sort(keys)
        return MemoryEngine(Annotations.from_keys(keys, *names), gold=gold)

    def gold(self, true_labels: Any) -> Ints:
        """Label codes of the tasks whose truth is given, -1 elsewhere."""
        place = self.tasks.get_indexer(true_labels.index)
        codes = self.labels.get_indexer(pd.Index(true_labels))
        gold = np.full(len(self.tasks), -1)
        gold[place[place >= 0]] = codes[place >= 0]
        return gold

    def by_task(self, values: Floats, *, ordered: bool) -> Any:
        """A frame of values (tasks, labels), tasks sorted or as they appear."""
        frame = pd.DataFrame(values, index=self.tasks, columns=self.labels)
        return frame.sort_index() if ordered else frame

    def label_series(self, chosen: Ints, *, ordered: bool) -> Any:
        """The chosen label of every task."""
        series = pd.Series(self.labels.take(chosen), index=self.tasks, name="agg_label")
        return series.sort_index() if ordered else series

    def by_worker(self, values: Floats, name: str, *, ordered: bool = True) -> Any:
        """A number for every worker."""
        series = pd.Series(values, index=self.workers, name=name)
        return series.sort_index() if ordered else series


def _sorted_codes(column: Any) -> tuple[Ints, Any]:
    try:
        codes, labels = pd.factorize(column, sort=True)
    except TypeError as error:
        if "unhashable" in str(error):
            msg = f"Labels must be single values, found {error}. Use BinaryRelevance for lists of labels."
            raise InputError(msg) from None
        codes, labels = pd.factorize(column)
    return codes, pd.Index(labels, name="label")


def first_best(values: Floats) -> Ints:
    """The first label of the largest value in each row; a row without any number gets the first label.

    >>> first_best(np.array([[1.0, 1.0], [0.0, 2.0]])).tolist()
    [0, 1]
    """
    if values.shape[1] == 0:
        return np.zeros(len(values), np.int64)
    return np.asarray(np.where(np.isnan(values), -np.inf, values).argmax(axis=1), np.int64)


def shares(votes: Floats) -> Floats:
    """Rows over their sums, as crowd-kit has it: a negative sum turns the row over, a sum of 0 gives no numbers."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(votes / votes.sum(axis=1, keepdims=True))
