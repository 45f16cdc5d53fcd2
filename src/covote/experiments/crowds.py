"""What an experiment fits on: the setting of a crowd in, its answers, truth and true model out."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from covote.annotations import Annotations
from covote.datasets import KNOWN, dataset_path, load_dataset
from covote.datasets.features import read_features
from covote.model import Model
from covote.simulate import Case, Crowd, draw, paper_model
from covote.simulate_classifiers import ClassifierCrowd, classifier_crowd

N_ITEMS = 10_000
LARGEST = 50
"""Annotators of the largest crowd of the figure; the smaller ones are parts of it."""

PRIORS = {"uniform": (1 / 3, 1 / 3, 1 / 3), "skewed": (1 / 6, 2 / 3, 1 / 6)}


@dataclass(frozen=True)
class CrowdSetting:
    """Everything that decides which crowd is drawn; equal settings give equal crowds."""

    kind: Literal["amt", "uci", "synthetic", "growing"]
    dataset: str  # a data set's name; or case and prior, e.g. "case2-skewed"
    level: float | None = None  # probability of answering; for "growing" the number of annotators
    protocol: Literal["paper", "all"] = "paper"
    trial: int = 0
    seed: int = 0


@dataclass(frozen=True, eq=False)
class KnownCrowd:
    """A crowd with its truth."""

    annotations: Annotations
    truth: NDArray[np.int64]  # (items,): class codes, -1 without truth
    model: Model | None = None  # the model it was drawn from
    alone: tuple[float, ...] = ()  # error of each annotator alone, where all were asked everything


def make_crowd(setting: CrowdSetting) -> KnownCrowd:
    """Load or draw the crowd.

    >>> crowd = make_crowd(CrowdSetting("synthetic", "case1-uniform", 0.2))
    >>> crowd.annotations.n_items, crowd.annotations.n_annotators
    (10000, 25)
    """
    makers = {"amt": _amt, "uci": _uci, "synthetic": _synthetic, "growing": _growing}
    return makers[setting.kind](setting)


def _amt(setting: CrowdSetting) -> KnownCrowd:
    data = load_dataset(setting.dataset, setting.protocol)
    return KnownCrowd(data.annotations.annotations, data.truth_codes)


def _uci(setting: CrowdSetting) -> KnownCrowd:
    assert setting.level is not None
    trained = _trained(setting.dataset, str(dataset_path(setting.dataset)), setting.trial, setting.seed)
    crowd = trained.thinned(setting.level, seed=_rng(setting, "answering", setting.level))
    return KnownCrowd(crowd.annotations, crowd.truth, alone=tuple(crowd.errors.values()))


@lru_cache(maxsize=1)  # the same classifiers answer for every level
def _trained(name: str, folder: str, trial: int, seed: int) -> ClassifierCrowd:
    from pathlib import Path

    table = read_features(name, Path(folder))
    rng = _rng(CrowdSetting("uci", name, trial=trial, seed=seed), "training")
    return classifier_crowd(table.rows, table.classes, n_items=KNOWN[name].n_items, seed=rng)


def _synthetic(setting: CrowdSetting) -> KnownCrowd:
    assert setting.level is not None
    model = _model(setting, 25)
    drawn = draw(model, N_ITEMS, answering=setting.level, seed=_rng(setting, "answers", setting.level))
    return _drawn(drawn)


def _growing(setting: CrowdSetting) -> KnownCrowd:
    """The first `level` annotators of a large crowd, the special one first.

    Growing one crowd instead of drawing a new one for every size shows what more annotators do, and not what other
    annotators do. The annotator whose matrix the paper makes dominant is any of those that are: given the matrices
    they are alike in distribution.
    """
    assert setting.level is not None
    model = _model(setting, LARGEST)
    dominant = (model.confusion.argmax(axis=1) == np.arange(model.n_classes)).all(axis=1)
    first = int(np.argmax(dominant))
    others = np.delete(np.arange(LARGEST), first)
    keep = np.concatenate([[first], others])[: int(setting.level)]
    drawn = _drawn(draw(model, N_ITEMS, answering=0.5, seed=_rng(setting, "answers")))
    part = Model(model.prior, model.confusion[keep], model.classes, tuple(model.annotators[m] for m in keep))
    return KnownCrowd(drawn.annotations.select(keep), drawn.truth, part)


def _model(setting: CrowdSetting, n_annotators: int) -> Model:
    name, prior = setting.dataset.split("-")
    case: Case = "case1" if name == "case1" else "case2"
    return paper_model(case, n_annotators=n_annotators, prior=PRIORS[prior], seed=_rng(setting, "model"))


def _drawn(crowd: Crowd) -> KnownCrowd:
    return KnownCrowd(crowd.annotations, crowd.truth, crowd.model)


def _rng(setting: CrowdSetting, what: str, level: float = 0.0) -> np.random.Generator:
    """A stream of its own for each use, independent of the order in which experiments run."""
    use = zlib.crc32(f"{setting.kind} {setting.dataset} {what} {level:g}".encode())
    return np.random.default_rng([setting.seed, setting.trial, use])
