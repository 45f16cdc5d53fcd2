"""Label quality: a fitted estimator in; how far to trust every label, every answer and every annotator out.

The names are cleanlab's. Its scores rest on a classifier's probabilities; these rest on the fitted posterior.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.estimators.base import Aggregator

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Quality:
    """Three tables as mappings from column names to lists; `pandas.DataFrame(q.items)` makes a frame of one.

    `items`: item, consensus_label, consensus_quality_score (probability that the chosen label is right, the
    confidence), annotator_agreement (share of the item's answers that are the chosen label), num_annotations.
    `answers`: item, annotator, label, label_quality (probability that this answer is right).
    `annotators`: annotator, annotator_quality (mean quality of its answers), agreement_with_consensus (share of its
    answers that are the chosen label, on items that somebody else answered too), worst_class (the label whose answers
    have least quality), num_examples_labeled. What cannot be computed is None.
    """

    items: dict[str, list[Any]]
    answers: dict[str, list[Any]]
    annotators: dict[str, list[Any]]


def label_quality(fitted: Aggregator) -> Quality:
    """Scores between 0 and 1 of a fit in memory; low ones are worth a second look.

    >>> from covote import MajorityVote
    >>> votes = [("x", "ann", "cat"), ("x", "bob", "cat"), ("x", "eve", "dog"), ("y", "ann", "dog")]
    >>> quality = label_quality(MajorityVote().fit(votes))
    >>> [round(score, 2) for score in quality.items["consensus_quality_score"]]
    [0.67, 1.0]
    >>> quality.annotators["annotator"][2], round(quality.annotators["annotator_quality"][2], 2)
    ('eve', 0.33)
    """
    a = fitted.loaded_.annotations
    classes, posterior, codes = list(a.classes), fitted.posterior_, np.asarray(fitted.codes_, np.int64)
    item, who, label = a.item, a.annotator, a.label
    score = posterior[item, label]  # (answers,)
    same = (codes[item] == label).astype(np.float64)
    size = np.bincount(item, minlength=a.n_items)
    shared = size[item] > 1
    M, K = a.n_annotators, a.n_classes
    items = {
        "item": list(a.items),
        "consensus_label": [classes[c] for c in codes],
        "consensus_quality_score": fitted.confidence_.tolist(),
        "annotator_agreement": _means(item, same, a.n_items),
        "num_annotations": size.tolist(),
    }
    people, things = list(a.annotators), items["item"]
    answers = {
        "item": [things[i] for i in item],
        "annotator": [people[m] for m in who],
        "label": [classes[k] for k in label],
        "label_quality": score.tolist(),
    }
    annotators = {
        "annotator": people,
        "annotator_quality": _means(who, score, M),
        "agreement_with_consensus": _means(who[shared], same[shared], M),
        "worst_class": _worst(who * K + label, score, M, classes),
        "num_examples_labeled": np.bincount(who, minlength=M).tolist(),
    }
    return Quality(items, answers, annotators)


def _means(group: NDArray[np.int64], values: Floats, size: int) -> list[float | None]:
    count, total = np.bincount(group, minlength=size), np.bincount(group, values, minlength=size)
    return [float(t / c) if c else None for t, c in zip(total, count, strict=True)]


def _worst(cell: NDArray[np.int64], score: Floats, n_annotators: int, classes: list[Any]) -> list[Any]:
    """The label of least mean quality of each annotator; the first of equals."""
    K = len(classes)
    count, total = np.bincount(cell, minlength=n_annotators * K), np.bincount(cell, score, minlength=n_annotators * K)
    mean = np.where(count > 0, total / np.maximum(count, 1), np.inf).reshape(n_annotators, K)
    return [classes[int(row.argmin())] if K and np.isfinite(row).any() else None for row in mean]
