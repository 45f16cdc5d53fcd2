"""The base of crowd-kit's classification aggregators."""

from __future__ import annotations

from typing import Any


class BaseClassificationAggregator:
    """What all aggregators share: `fit`, `fit_predict` and the labels as a Series named agg_label."""

    labels_: Any = None
    """The most probable label of every task."""

    def fit(self, data: Any) -> Any:
        """Learn from a frame of task, worker, label."""
        raise NotImplementedError

    def fit_predict(self, data: Any, *args: Any, **options: Any) -> Any:
        """Fit, then the labels."""
        self.fit(data, *args, **options)
        return self.labels_


class WithProbabilities(BaseClassificationAggregator):
    """Aggregators with probabilities of every label."""

    probas_: Any = None
    """Probability of every label (columns) for every task (rows)."""

    def fit_predict_proba(self, data: Any, *args: Any, **options: Any) -> Any:
        """Fit, then the probabilities."""
        self.fit(data, *args, **options)
        return self.probas_
