"""An engine with a memory: the sums of any engine in, the same with answers given before added out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations.history import History
from covote.annotations.value import Vocabulary
from covote.engines.base import Engine, ExpectedCounts
from covote.model import Scores

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WithHistory:
    """As the engine it holds, but expected counts have the past answers of annotators added.

    They belong to no item: pair counts, the class prior and labels are those of the answers at hand. The
    log-likelihood has theirs, so that EM still never lowers it.
    """

    engine: Engine
    history: Floats  # (annotators, labels, classes)

    @classmethod
    def of(cls, engine: Engine, past: History) -> WithHistory:
        """The past of annotators that the engine knows; rows with a class or label that it does not know are left."""
        people, classes = Vocabulary(list(engine.annotators)), Vocabulary(list(engine.classes))
        table = np.zeros((len(people), len(classes), len(classes)))
        if past.counts:
            who, klass, label = (list(names) for names in zip(*past.counts, strict=True))
            place = people.encode(who), classes.encode(label), classes.encode(klass)
            known = np.all([p >= 0 for p in place], axis=0)
            np.add.at(table, tuple(p[known] for p in place), np.array(list(past.counts.values()))[known])
        return cls(engine, table)

    def __getattr__(self, name: str) -> Any:
        """Everything that the past does not change is the engine's."""
        return getattr(self.engine, name)

    def label_counts(self) -> Floats:
        """Answers each annotator gave, now and before: (annotators, labels)."""
        return np.asarray(self.engine.label_counts() + self.history.sum(axis=2))

    def expected_counts(self, scores: Scores) -> ExpectedCounts:
        """Sums over the items and over the past, whose classes are certain."""
        soft = self.engine.expected_counts(scores)
        value = soft.log_likelihood
        if scores.link == "log":
            past = self.history > 0
            value += float((self.history[past] * scores.table[past]).sum())
        return replace(soft, confusion=soft.confusion + self.history, log_likelihood=value)
