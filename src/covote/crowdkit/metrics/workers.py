"""How good workers are: their agreement with aggregated labels."""

from __future__ import annotations

from typing import Any

from covote.crowdkit.aggregation.classification import MajorityVote
from covote.crowdkit.aggregation.utils import get_accuracy

_VOTES = MajorityVote()


def accuracy_on_aggregates(
    answers: Any, aggregator: Any = _VOTES, aggregates: Any = None, by: str | None = None
) -> Any:
    """Share of answers equal to the aggregated label, overall or `by` "worker" or "task".

    `aggregates` are the labels by task; without them they come from the aggregator (majority vote).
    """
    if aggregates is None and aggregator is None:
        msg = "There is nothing to compare with. Pass an aggregator or aggregates."
        raise AssertionError(msg)
    return get_accuracy(answers, aggregator.fit_predict(answers) if aggregates is None else aggregates, by=by)
