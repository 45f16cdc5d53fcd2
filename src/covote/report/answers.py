"""A fitted estimator in, what the report says of classes and items out: shares, confidence, calibration, doubts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from covote.estimators.base import Aggregator
from covote.estimators.summary import UNCERTAIN
from covote.report.facts import ClassShare, ConfidenceBin, Doubt, Range, Votes, plain
from covote.score import error_interval

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_CLASSES = 200
MOST_DOUBTS = 200
MOST_NAMED = 12  # annotators named for one label of one item
_BINS = 20


def class_shares(estimator: Aggregator, low: Floats, high: Floats) -> tuple[ClassShare, ...]:
    """The classes, largest share first, at most `MOST_CLASSES`; `low` and `high` (classes,) are ends of intervals."""
    names = estimator.loaded_.annotations.classes.to_list()
    items = np.bincount(estimator.codes_, minlength=len(names))
    posterior = estimator.posterior_
    share = posterior.mean(axis=0) if len(posterior) else np.zeros(len(names))
    votes = estimator.engine_.label_counts().sum(axis=0)
    votes = votes / max(float(votes.sum()), 1.0)
    order = np.lexsort((np.arange(len(names)), -share))[:MOST_CLASSES]
    return tuple(
        ClassShare(
            plain(names[k]), int(items[k]), Range(float(share[k]), float(low[k]), float(high[k])), float(votes[k])
        )
        for k in order
    )


def confidence_bins(confidence: Floats, posterior: Floats, truth: Ints | None) -> tuple[ConfidenceBin, ...]:
    """Twentieths of confidence, from the first that holds an item; with truth also how often each bin is right."""
    place = np.minimum((confidence * _BINS + 1e-9).astype(np.int64), _BINS - 1)
    size, total = (np.bincount(place, weights=w, minlength=_BINS) for w in (None, confidence))
    bins = []
    for b in range(int(place.min(initial=_BINS - 1)), _BINS):
        n = int(size[b])
        known = np.flatnonzero((place == b) & (truth != -1)) if truth is not None else np.empty(0, np.int64)
        bins.append(
            ConfidenceBin(
                low=b / _BINS,
                high=(b + 1) / _BINS,
                items=n,
                expected_wrong=float(n - total[b]),
                confidence=float(total[b] / n) if n else None,
                accuracy=_accuracy(posterior[known], truth[known]) if truth is not None and len(known) else None,
                truth_items=len(known),
            )
        )
    return tuple(bins)


def _accuracy(posterior: Floats, truth: Ints) -> Range:
    error = error_interval(posterior, truth)
    return Range(1 - error.value, 1 - error.high, 1 - error.low)


def doubts(estimator: Aggregator, accuracy: Floats, truth: Ints | None) -> tuple[Doubt, ...]:
    """The items of lowest confidence below `UNCERTAIN`, most doubtful first, at most `MOST_DOUBTS`."""
    confidence = estimator.confidence_
    candidates = np.flatnonzero(confidence < UNCERTAIN)
    if len(candidates) > MOST_DOUBTS:
        candidates = candidates[np.argpartition(confidence[candidates], MOST_DOUBTS)[:MOST_DOUBTS]]
    order = candidates[np.lexsort((candidates, confidence[candidates]))]
    return tuple(_doubt(estimator, int(n), accuracy, truth) for n in order)


def _doubt(estimator: Aggregator, n: int, accuracy: Floats, truth: Ints | None) -> Doubt:
    a, probability = estimator.loaded_.annotations, estimator.posterior_[n]
    chosen = int(estimator.codes_[n])
    others = np.argsort(-probability, kind="stable")
    rival = int(others[others != chosen][0]) if len(others) > 1 else None
    known = None if truth is None or truth[n] < 0 else plain(a.classes[int(truth[n])])
    return Doubt(
        item=plain(a.items[n]),
        label=plain(a.classes[chosen]),
        confidence=float(probability[chosen]),
        rival=None if rival is None else plain(a.classes[rival]),
        rival_probability=None if rival is None else float(probability[rival]),
        truth=known,
        votes=_votes(estimator, n, accuracy),
    )


def _votes(estimator: Aggregator, n: int, accuracy: Floats) -> tuple[Votes, ...]:
    """Who said what on item n: labels with most votes first, their most accurate annotators first."""
    a = estimator.loaded_.annotations
    who, label = np.divmod(a.answer[a.offsets[n] : a.offsets[n + 1]].astype(np.int64), a.n_classes)
    count = np.bincount(label, minlength=a.n_classes)
    votes = []
    for k in np.lexsort((np.arange(len(count)), -count))[: int((count > 0).sum())].tolist():
        named = who[label == k]
        named = named[np.argsort(-accuracy[named], kind="stable")][:MOST_NAMED].tolist()
        names = tuple(plain(a.annotators[m]) for m in named)
        votes.append(Votes(plain(a.classes[k]), int(count[k]), names, tuple(float(accuracy[m]) for m in named)))
    return tuple(votes)
