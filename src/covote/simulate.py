"""Draw crowds: a model and sizes in, annotations and truth out; the two cases of the paper's synthetic experiments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from covote.annotations import Annotations, Vocabulary
from covote.errors import InputError
from covote.model import Model, pick

Floats = NDArray[np.float64]
Case = Literal["case1", "case2"]


@dataclass(frozen=True, eq=False)
class Crowd:
    """A drawn crowd: its answers, the true class of every item (codes) and the model it was drawn from."""

    annotations: Annotations
    truth: NDArray[np.int64]  # (items,)
    model: Model


def paper_model(
    case: Case,
    *,
    n_annotators: int = 25,
    n_classes: int = 3,
    prior: Sequence[float] | None = None,
    seed: int | np.random.Generator = 0,
) -> Model:
    """Confusion matrices as in the paper's supplement: uniform random columns, one annotator special.

    In case 1 one annotator, chosen at random, is perfect; in case 2 the largest entry of each of its columns is put
    on the diagonal. Everybody else is random, so about half of the crowd is worse than chance.

    >>> paper_model("case1", n_annotators=3, seed=1).confusion.shape
    (3, 3, 3)
    """
    rng = np.random.default_rng(seed)
    M, K = n_annotators, n_classes
    confusion = rng.random((M, K, K))
    confusion /= confusion.sum(axis=1, keepdims=True)
    chosen = int(rng.integers(M))
    if case == "case1":
        confusion[chosen] = np.eye(K)
    else:
        for k in range(K):
            top = int(np.argmax(confusion[chosen, :, k]))
            confusion[chosen, [k, top], k] = confusion[chosen, [top, k], k]
    d = np.full(K, 1 / K) if prior is None else np.asarray(prior, dtype=np.float64)
    return Model(d / d.sum(), confusion, tuple(range(K)), tuple(range(M)))


def draw(model: Model, n_items: int = 10_000, *, answering: float = 1.0, seed: int | np.random.Generator = 0) -> Crowd:
    """Draw `n_items` items from the model; each annotator answers each item with probability `answering`.

    >>> crowd = draw(paper_model("case2"), 100, answering=0.5)
    >>> crowd.annotations.n_items, crowd.annotations.n_annotators
    (100, 25)
    """
    if not 0 < answering <= 1 or n_items < 1:
        msg = f"A crowd needs at least one item and 0 < answering <= 1, got {n_items} items and {answering}."
        raise InputError(msg)
    rng = np.random.default_rng(seed)
    truth = rng.choice(model.n_classes, size=n_items, p=model.prior)
    columns_items, columns_labels = [], []
    for confusion in model.confusion:
        who = np.flatnonzero(rng.random(n_items) < answering) if answering < 1 else np.arange(n_items)
        cumulative = np.cumsum(confusion, axis=0)[:, truth[who]].T  # (answers, labels)
        columns_items.append(who)
        columns_labels.append(pick(rng.random(len(who)), cumulative))
    sizes = [len(c) for c in columns_items]
    annotations = Annotations.from_codes(
        np.concatenate(columns_items),
        np.repeat(np.arange(model.n_annotators), sizes),
        np.concatenate(columns_labels),
        items=Vocabulary(np.arange(n_items)),
        annotators=Vocabulary(list(model.annotators)),
        classes=Vocabulary(list(model.classes)),
    )
    return Crowd(annotations, np.asarray(truth, dtype=np.int64), model)
