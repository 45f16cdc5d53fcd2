"""How far answers agree: consistency, uncertainty and Krippendorff's alpha, by crowd-kit's definitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import entropy

from covote.crowdkit.aggregation.classification import MajorityVote
from covote.crowdkit.frames import COLUMNS


def consistency(answers: Any, workers_skills: Any = None, aggregator: Any = None, by_task: bool = False) -> Any:
    """Probability of the aggregated label under the workers' skills (errors spread evenly), mean or by task.

    `aggregator` (majority vote when None) gives the labels, and the skills where none are passed.
    """
    _check(answers)
    aggregator = MajorityVote() if aggregator is None else aggregator
    chosen = aggregator.fit_predict(answers)
    skills = _skills(workers_skills, aggregator)
    chances = _chances(answers, skills)
    labels = list(chances.columns)
    product = chances.groupby(answers["task"].to_numpy()).prod()
    place = product.columns.get_indexer(chosen.reindex(product.index))
    own = product.to_numpy()[np.arange(len(product)), place]
    total = product[labels].sum(axis=1).to_numpy()
    by = np.where(total != 0, own / np.where(total != 0, total, 1.0), 0.0)
    return pd.Series(by, index=pd.Index(product.index, name="task")) if by_task else float(np.mean(by))


def uncertainty(
    answers: Any,
    workers_skills: Any = None,
    aggregator: Any = None,
    compute_by: str = "task",
    aggregate: bool = True,
) -> Any:
    """Entropy of the labels of each task (or worker), each answer spread over labels by the skill of its worker.

    Without skills and aggregator, every worker is taken to be right. Mean, or by task where `aggregate` is False.
    """
    _check(answers)
    if workers_skills is None and aggregator is None:
        workers_skills = pd.Series(1.0, index=pd.unique(answers["worker"]))
    elif workers_skills is None:
        aggregator.fit(answers)
    chances = _chances(answers, _skills(workers_skills, aggregator))
    sums = chances.groupby(answers[compute_by].to_numpy()).sum()
    share = sums.div(sums.sum(axis=1) + 1e-6, axis=0)
    by = pd.Series(entropy(share.to_numpy(), axis=1), index=pd.Index(sums.index, name=compute_by))
    return by.mean() if aggregate else by


def binary_distance(first: Hashable, second: Hashable) -> float:
    """0 for equal labels, 1 for others."""
    return 0.0 if first == second else 1.0


def alpha_krippendorff(answers: Any, distance: Callable[[Any, Any], float] = binary_distance) -> float:
    """Krippendorff's alpha: 1 - observed over expected disagreement, for any distance between labels.

    >>> frame = pd.DataFrame({"task": [1, 1, 2, 2], "worker": ["a", "b"] * 2, "label": ["x", "x", "y", "y"]})
    >>> alpha_krippendorff(frame)
    1.0
    """
    _check(answers)
    units = [Counter(labels) for _, labels in answers.groupby("task")["label"]]
    units = [u for u in units if sum(u.values()) > 1]
    whole = sum(units, Counter())
    size = sum(whole.values())
    if size == 0:
        msg = "No task has two answers, so there is no agreement to measure. Pass tasks with several answers."
        raise ValueError(msg)
    far = {(a, b): distance(a, b) for a in whole for b in whole}
    expected = _disagreement(whole, far)
    if expected == 0:
        return 1.0
    observed = sum(_disagreement(u, far) * sum(u.values()) for u in units) / size
    return float(1 - observed / expected)


def _disagreement(labels: Counter[Any], far: dict[tuple[Any, Any], float]) -> float:
    """Mean distance between two different answers."""
    n = sum(labels.values())
    return sum(labels[a] * labels[b] * far[a, b] for a in labels for b in labels) / (n * (n - 1))


def _check(answers: Any) -> None:
    if not isinstance(answers, pd.DataFrame):
        msg = f"Answers must be a pandas frame with columns task, worker, label, found {type(answers).__name__}."
        raise TypeError(msg)
    for column in COLUMNS:
        assert column in answers, f"There is no column '{column}' in the answers. Name their columns {COLUMNS}."


def _skills(given: Any, aggregator: Any) -> Any:
    if given is not None:
        return given
    skills = getattr(aggregator, "skills_", None)
    if skills is None:
        msg = f"{type(aggregator).__name__} learns no skills of workers. Pass workers_skills."
        raise AssertionError(msg)
    return skills


def _chances(answers: Any, skills: Any) -> Any:
    """Probability of every label (columns) behind each answer (rows)."""
    labels = pd.Index(pd.unique(answers["label"]))
    skill = skills.reindex(answers["worker"]).to_numpy(float)
    if np.isnan(skill).any():
        missing = sorted(map(str, set(answers["worker"][np.isnan(skill)])))
        msg = f"There are no skills for the workers {', '.join(missing)}. Pass workers_skills for all."
        raise AssertionError(msg)
    place = labels.get_indexer(answers["label"])
    table = np.repeat((1 - skill)[:, None] / max(len(labels) - 1, 1), len(labels), axis=1)
    table[np.arange(len(skill)), place] = skill
    return pd.DataFrame(table, columns=labels)
