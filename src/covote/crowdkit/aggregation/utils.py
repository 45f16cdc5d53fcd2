"""crowd-kit's helpers around aggregation: evaluation, accuracies, rows that sum to 1, skills joined to answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from covote.crowdkit.aggregation.base import BaseClassificationAggregator
from covote.crowdkit.frames import COLUMNS


def clone_aggregator(aggregator: Any) -> Any:
    """A new aggregator with the same arguments and nothing learnt."""
    assert isinstance(aggregator, BaseClassificationAggregator), "Only classification aggregators can be cloned."
    options: Any = aggregator
    return type(aggregator)(**{f.name: getattr(aggregator, f.name) for f in fields(options) if f.init})


def evaluate_in(row: Any) -> int:
    """1 where the predicted label is one of the true ones."""
    return int(row["label_pred"] in row["label_true"])


def evaluate_equal(row: Any) -> int:
    """1 where the predicted label is the true one."""
    return int(row["label_pred"] == row["label_true"])


def evaluate(df_true: Any, df_pred: Any, evaluate_func: Callable[[Any], int] = evaluate_in) -> float:
    """Mean of `evaluate_func` over the tasks of `df_true`, all of which must be predicted."""
    both = df_true.merge(df_pred, on="task", suffixes=("_true", "_pred"))
    assert len(both) == len(df_true), f"{len(df_true)} tasks have a true label and {len(both)} of them a prediction."
    return float(np.mean([evaluate_func(row) for _, row in both.iterrows()]))


def factorize(data: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sorted distinct values, and the code of every value in the shape of `data`."""
    values, codes = np.unique(data, return_inverse=True)
    return values, codes.reshape(data.shape)


def get_most_probable_labels(proba: Any) -> Any:
    """The first label of the largest probability of every task."""
    return proba.idxmax(axis="columns") if proba.size else pd.Series([], dtype="O")


def normalize_rows(scores: Any) -> Any:
    """Rows divided by their sums."""
    return scores.div(scores.sum(axis=1), axis=0)


def manage_data(data: Any, weights: Any = None, skills: Any = None) -> Any:
    """The answers with columns `weight` (by task) and `skill`, 1 where none are given."""
    data = data[COLUMNS]
    for name, given in (("weight", weights), ("skill", skills)):
        data = data.assign(**{name: 1}) if given is None else data.join(given.rename(name), on="task")
    return data


def get_accuracy(data: Any, true_labels: Any, by: str | None = None) -> Any:
    """Share of answers that are (one of) the true labels of their task: overall, or by a column.

    A column `weight` of `data` weighs the answers; the same answer given twice counts once; tasks without truth are
    left out.
    """
    weighted = "weight" in data.columns
    data = data[[*COLUMNS, "weight"]] if weighted else data[COLUMNS].assign(weight=1)
    if data.empty:
        judged = data.assign(true_label=[])
    else:
        judged = data.join(pd.Series(true_labels, name="true_label"), on="task")
    judged = judged[judged["true_label"].notna()]
    right = np.array([a == b for a, b in zip(judged["label"], judged["true_label"], strict=True)], dtype=float)
    judged = judged.assign(score=right * judged["weight"])
    judged = judged.sort_values("score").drop_duplicates(COLUMNS, keep="last")
    if by is None:
        return judged["score"].sum() / judged["weight"].sum()
    grouped = judged.groupby(by)
    return grouped["score"].sum() / grouped["weight"].sum()


def add_skills_to_data(data: Any, skills: Any, on_missing_skill: str, default_skill: float | None) -> Any:
    """The answers with the skill of their worker as column `skill`."""
    if on_missing_skill not in ("error", "ignore", "value"):
        msg = f"on_missing_skill is {on_missing_skill!r}, expected 'error', 'ignore' or 'value'."
        raise ValueError(msg)
    if on_missing_skill != "value" and default_skill is not None:
        msg = "default_skill is given, but on_missing_skill is not 'value'. Pass on_missing_skill='value'."
        raise ValueError(msg)
    if on_missing_skill == "value" and default_skill is None:
        msg = "on_missing_skill='value' needs a default_skill. Pass one, for example 0.5."
        raise ValueError(msg)
    joined = data.join(skills.rename("skill"), on="worker")
    missing = joined["skill"].isna()
    if on_missing_skill == "value":
        return joined.fillna({"skill": default_skill})
    if on_missing_skill == "error" and missing.any():
        msg = f"{missing.sum()} answers are of workers without a skill. Pass their skills, or another on_missing_skill."
        raise ValueError(msg)
    lost = joined["task"].nunique() - joined.loc[~missing, "task"].nunique()
    if lost:
        msg = f"{lost} tasks have no worker with a known skill. Pass more skills, or another on_missing_skill."
        raise ValueError(msg)
    return joined[~missing]
