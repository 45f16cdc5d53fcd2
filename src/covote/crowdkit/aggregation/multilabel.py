"""Lists of labels: BinaryRelevance asks one yes-or-no question for every label."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pandas as pd

from covote.crowdkit.aggregation.base import BaseClassificationAggregator
from covote.crowdkit.aggregation.classification import MajorityVote
from covote.crowdkit.aggregation.utils import clone_aggregator
from covote.crowdkit.frames import COLUMNS


@dataclass(eq=False)
class BinaryRelevance(BaseClassificationAggregator):
    """A copy of `base_aggregator` for every label decides which tasks have it; labels come back as lists."""

    base_aggregator: BaseClassificationAggregator = field(default_factory=MajorityVote)
    """Any classification aggregator."""

    def __post_init__(self) -> None:
        assert isinstance(self.base_aggregator, BaseClassificationAggregator), (
            "The base aggregator must be a classification aggregator."
        )
        self.aggregators_: dict[Any, Any] = {}

    def fit(self, data: Any) -> Self:
        """Learn from a frame whose labels are lists."""
        data = data[COLUMNS]
        said = [set(labels) for labels in data["label"]]
        every = set().union(*said)
        try:
            ordered = sorted(every)
        except TypeError:
            ordered = list(every)
        lists: dict[Any, list[Any]] = {}
        self.aggregators_ = {}
        for label in ordered:
            answers = data[["task", "worker"]].assign(label=np.array([int(label in s) for s in said]))
            one = clone_aggregator(self.base_aggregator)
            for task, has in one.fit_predict(answers).items():
                lists.setdefault(task, []).extend([label] if has else [])
            self.aggregators_[label] = one
        self.labels_ = pd.Series(lists, dtype=object if lists else float, name="agg_label")
        if lists:
            self.labels_.index.name = "task"
        return self
