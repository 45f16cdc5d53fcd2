"""Labelling functions: rules that vote one class or say nothing; their answers in, votes weighted by rarity out.

For such a crowd Dawid-Skene is not identified: "this rule says spam whatever the item is" explains every answer. What
informs is that a rule spoke at all, and the more so the more rarely it does: an answer that an annotator gives on one
item in ten carries log 10 nats. Votes are weighted by that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from covote.model import Scores

Floats = NDArray[np.float64]

ONE_SIDED = 0.98
"""An annotator is one-sided when this share of its answers has one label."""

FEW = 3
"""Annotators of fewer answers are not called one-sided: chance makes them so."""

DOUBT = 0.5
"""Nats of evidence, spread evenly over the classes, that stand against the votes."""


def one_sided(label_counts: Floats) -> NDArray[np.bool_]:
    """Whose answers have one label, (annotators,)."""
    answers = label_counts.sum(axis=1)
    return np.asarray((label_counts.max(axis=1, initial=0.0) >= ONE_SIDED * answers) & (answers >= FEW))


def one_sided_share(label_counts: Floats, n_items: int) -> float:
    """Share of all answers that come from one-sided annotators who are silent now and then.

    `label_counts` is (annotators, labels). Somebody who gives every item the same label is no labelling function: its
    silence tells nothing.

    >>> one_sided_share(np.array([[10.0, 0.0], [0.0, 5.0], [2.0, 3.0]]), 20)
    0.75
    >>> one_sided_share(np.array([[20.0, 0.0], [0.0, 5.0], [2.0, 3.0]]), 20)
    0.16666666666666666
    """
    answers = label_counts.sum(axis=1)
    rules = one_sided(label_counts) & (answers < 0.9 * n_items)
    return float(answers[rules].sum() / max(answers.sum(), 1e-300))


def rule_scores(label_counts: Floats, n_items: float) -> Scores:
    """Votes weighted by -log of how often the annotator gives that answer to an item; shares are the probabilities.

    >>> rule_scores(np.array([[10.0, 0.0]]), 100).table.round(2).tolist()
    [[[2.31, 0.0], [0.0, 4.62]]]
    """
    K = label_counts.shape[1]
    nats = np.log((n_items + 1) / np.maximum(label_counts, 1.0))  # (annotators, labels)
    return Scores(nats[:, :, None] * np.eye(K), np.full(K, DOUBT / K), "linear")
