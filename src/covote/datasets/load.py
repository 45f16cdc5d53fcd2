"""A data set's name in, `DataSet` out: answers and truth ready for `fit`, all of them or the paper's part."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from covote.annotations import Annotations, Loaded, Truth, load, load_truth
from covote.datasets.features import read_features
from covote.datasets.folders import crowd_files, dataset_path
from covote.datasets.known import KNOWN, KnownSet
from covote.errors import InputError

Protocol = Literal["all", "paper"]


@dataclass(frozen=True, eq=False)
class DataSet:
    """Answers and truth of a data set; pass `annotations` to any estimator's `fit`."""

    name: str
    protocol: Protocol
    annotations: Loaded
    truth: Truth
    about: str

    @property
    def truth_codes(self) -> NDArray[np.int64]:
        """The truth as class codes, shape (items,): -1 where an item has none."""
        return self.truth.codes(self.annotations.annotations)


def load_dataset(
    name: str, protocol: Protocol = "all", *, seed: int = 0, answering: float = 1.0, duplicates: str = "majority"
) -> DataSet:
    """Load a data set from the data folders; see `covote.datasets.data_folders` for where these are.

    With protocol "paper" the crowd is the one of the paper: 30 annotators on bluebird, the 52 most active on dog,
    everybody on the others. The UCI sets are labelled by ten classifiers trained on 20 %, each answering with
    probability `answering`, drawn by `seed`; protocol "paper" gives them the paper's number of items. `duplicates` is
    what to do when an annotator gives an item two different labels, as happens in some sets that are not the paper's.
    """
    if protocol not in ("all", "paper"):
        msg = f"Protocol must be 'all' or 'paper', got '{protocol}'."
        raise InputError(msg)
    known = KNOWN.get(name)
    if known is None and protocol == "paper":
        msg = f"Data set '{name}' is not one of the paper's ({', '.join(KNOWN)}). Use protocol='all'."
        raise InputError(msg)
    folder = dataset_path(name)
    if known is not None and known.kind == "uci":
        return _classified(known, folder, protocol, seed, answering)
    return _answered(name, folder, protocol, duplicates)


def _answered(name: str, folder: Path, protocol: Protocol, duplicates: str) -> DataSet:
    files = crowd_files(folder)
    assert files is not None  # dataset_path found them
    plain = files[0].suffix == ".txt"  # tab-separated, without header
    answers = {"columns": ("item", "annotator", "label"), "delimiter": "\t"} if plain else {}
    truths = {"columns": ("item", "label"), "delimiter": "\t"} if plain else {}
    loaded = load(str(files[0]), duplicates=duplicates, **answers)  # type: ignore[arg-type]
    truth = load_truth(str(files[1]), **truths)  # type: ignore[arg-type]
    if protocol == "paper":
        a = loaded.annotations
        loaded = replace(loaded, annotations=a.select(paper_annotators(name, a)))
    about = KNOWN[name].about if name in KNOWN else f"Answers and truth from {folder}."
    return DataSet(name, protocol, loaded, truth, about)


def paper_annotators(name: str, annotations: Annotations) -> NDArray[np.int64]:
    """Codes of the annotators the paper keeps: 30 on bluebird, those with at least 45 answers on dog, else all."""
    everybody = np.arange(annotations.n_annotators)
    if name == "bluebird":
        return everybody[[int(str(annotator)) <= 30 for annotator in annotations.annotators]]
    if name == "dog":
        return everybody[np.bincount(annotations.annotator, minlength=annotations.n_annotators) >= 45]
    return everybody


def _classified(known: KnownSet, folder: Path, protocol: Protocol, seed: int, answering: float) -> DataSet:
    from covote.simulate_classifiers import classifier_crowd

    table = read_features(known.name, folder)
    n_items = known.n_items if protocol == "paper" else None
    crowd = classifier_crowd(table.rows, table.classes, n_items=n_items, answering=answering, seed=seed)
    a = crowd.annotations
    truth = Truth(a.items.to_list(), [a.classes[code] for code in crowd.truth])
    return DataSet(known.name, protocol, Loaded(a, "mapping", ("item", "annotator", "label")), truth, known.about)
