"""Hard votes: weights of annotators in; labels by the weighted vote, and each annotator's agreement with them, out.

Methods that count against a chosen label, not against probabilities, need the answers one by one: they run in memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covote.engines.base import Engine
from covote.labels import TIE

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class HardVotes:
    """The answers of a crowd, ready for one weighted vote after another."""

    item: Ints  # (answers,)
    annotator: Ints  # (answers,)
    label: Ints  # (answers,)
    count: Floats  # (answers,): how often the item of the answer counts
    gold: Ints | None  # (items,)
    shape: tuple[int, int, int]  # items, annotators, classes

    @classmethod
    def of(cls, answers: Engine) -> HardVotes:
        """The answers of an engine, brought into memory."""
        engine = answers.in_memory()
        a = engine.annotations
        item = a.item
        count = np.ones(len(item)) if engine.weight is None else np.asarray(engine.weight, np.float64)[item]
        shape = (a.n_items, a.n_annotators, a.n_classes)
        return cls(item, a.annotator, a.label, count, engine.gold, shape)

    def chosen(self, weight: Floats) -> Floats:
        """Which class each item gets, (items, classes): 1 for the class with most weight, tied classes share it."""
        N, _, K = self.shape
        votes = np.bincount(self.item * K + self.label, weight[self.annotator], minlength=N * K).reshape(N, K)
        best = votes >= votes.max(axis=1, keepdims=True, initial=-np.inf) - TIE * max(
            float(np.abs(weight).max()), 1e-300
        )
        out: Floats = best / best.sum(axis=1, keepdims=True)
        if self.gold is not None:
            out[self.gold >= 0] = np.eye(K)[self.gold[self.gold >= 0]]
        return out

    def agreement(self, weight: Floats) -> Floats:
        """Share of each annotator's answers that are the label of the item by the weighted vote, (annotators,).

        An annotator without answers has 1 over the number of classes, as one who guesses.
        """
        M, K = self.shape[1:]
        right = self.chosen(weight)[self.item, self.label]
        hits = np.bincount(self.annotator, self.count * right, minlength=M)
        answers = np.bincount(self.annotator, self.count, minlength=M)
        return np.asarray(np.where(answers > 0, hits / np.maximum(answers, 1e-300), 1 / max(K, 1)))


def signed_vote_scores(weight: Floats, n_classes: int) -> NDArray[np.float64]:
    """A table (annotators, labels, classes) of votes: a negative weight votes for all classes but the label.

    >>> signed_vote_scores(np.array([-1.0]), 3)[0, 0].tolist()
    [0.0, 1.0, 1.0]
    """
    eye = np.eye(n_classes)
    loud = np.abs(weight)[:, None, None]
    return np.asarray(np.where((weight < 0)[:, None, None], loud * (1 - eye), loud * eye))
