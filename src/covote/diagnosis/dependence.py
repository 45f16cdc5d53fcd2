"""How pairs of independent annotators agree after a fit: answers and a model in, the null of the pair tests out.

A fitted model has already bent towards the data, so the null distribution is drawn: crowds simulated from the model, in
the same pattern of answers, and fitted again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from covote.annotations import Annotations
from covote.counts import PairCounts
from covote.engines.memory import MemoryEngine
from covote.methods.agreement import Null, excess, fit_work, unshrunk
from covote.methods.dawid_skene import dawid_skene
from covote.model import Model, pick

_REDRAWS, _LABELS_REDRAWN = 20, 1_000_000
_PRIOR_DRAWS = 20  # weight of the crowd's own spread against a pair's, in draws


def simulated_null(annotations: Annotations, model: Model, pairs: PairCounts, *, seed: int = 0) -> Null:
    """The statistic's distribution in crowds drawn from `model`, fitted again from it.

    Each pair's own spread over the draws is averaged with that of the crowd, since there are few draws and many pairs.
    """
    work = fit_work(annotations.n_labels, model.n_annotators, model.n_classes)
    number = int(np.clip(_LABELS_REDRAWN // work, 6, _REDRAWS))
    place = pairs.first * pairs.n_annotators + pairs.second
    scores = np.zeros((number, pairs.n_pairs))
    for draw, stream in enumerate(np.random.default_rng(seed).spawn(number)):
        engine = MemoryEngine(redrawn(annotations, model, stream))
        counts = engine.pair_counts()
        found = np.searchsorted(counts.first * counts.n_annotators + counts.second, place)
        again = dawid_skene(engine, model, tol=1e-6, max_iter=60).model
        assert again is not None
        scores[draw] = excess(_taken(counts, found), unshrunk(engine, again))
    crowd_centre, crowd_spread = scores.mean(), scores.std()
    weight = number / (number + _PRIOR_DRAWS)
    centre = weight * scores.mean(axis=0) + (1 - weight) * crowd_centre
    spread = np.sqrt(weight * scores.var(axis=0, ddof=1) + (1 - weight) * crowd_spread**2)
    return Null(centre, np.maximum(spread, 0.05), float(number + _PRIOR_DRAWS - 1))


def redrawn(annotations: Annotations, model: Model, stream: np.random.Generator) -> Annotations:
    """The same pattern of answers with classes and labels drawn from the model: a crowd of independent annotators."""
    a, K = annotations, annotations.n_classes
    truth = stream.choice(K, a.n_items, p=model.prior)
    item, annotator = a.item, a.annotator
    cumulative = np.cumsum(model.confusion, axis=1)[annotator, :, truth[item]]  # (labels given, labels)
    label = pick(stream.random(a.n_labels), cumulative)
    answer = (annotator * K + label).astype(a.answer.dtype)
    return Annotations(a.offsets, answer, a.items, a.annotators, a.classes)


def _taken(counts: PairCounts, places: NDArray[np.intp]) -> PairCounts:
    return PairCounts(
        counts.first[places],
        counts.second[places],
        counts.blocks[places],
        counts.label_counts,
        counts.n_items,
        counts.classes,
        counts.annotators,
    )
