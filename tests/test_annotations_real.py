"""The real data sets load with the sizes that their README states."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from covote.annotations import load, load_truth
from covote.errors import ConflictError

DATA = Path(os.environ.get("COVOTE_DATA") or Path(__file__).parents[2] / "shared" / "data")
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not (DATA / "amt").is_dir(), reason=f"the data folder {DATA} is absent; set COVOTE_DATA"),
]

AMT = {  # classes, items, annotators, labels, items with truth, labels an annotator: least, median, most
    "bluebird": (2, 108, 39, 4212, 108, 108, 108, 108),
    "rte": (2, 800, 164, 8000, 800, 20, 20, 800),
    "trec": (2, 19033, 762, 88385, 2275, 1, 17, 7078),
    "dog": (4, 807, 109, 8070, 807, 1, 38, 345),
    "web": (5, 2665, 177, 15567, 2653, 1, 19, 1225),
}
DEV = {  # items, annotators, labels, classes, items with truth, repeated pairs, of these in conflict
    "adult2": (11040, 825, 92721, 4, 333, 2922, 149),
    "bm": (1000, 83, 5000, 2, 1000, 0, 0),
    "d_sentiment": (1000, 85, 20000, 2, 1000, 0, 0),
    "face": (584, 27, 5242, 4, 584, 0, 0),
    "labelme": (1000, 59, 2547, 8, 1000, 0, 0),
    "ms": (700, 44, 2945, 10, 700, 0, 0),
    "product": (8315, 176, 24945, 2, 8315, 0, 0),
    "snow_temp": (462, 76, 4620, 2, 462, 0, 0),
    "leaves": (384, 83, 3840, 6, 384, 0, 0),
    "llm_feedback": (5972, 14, 79772, 2, 5972, 0, 0),
    "wrench_youtube": (1843, 10, 3538, 2, 1843, 0, 0),
    "wrench_semeval": (2527, 164, 3198, 9, 2527, 0, 0),
    "mediaeval_q1": (4711, 202, 13734, 2, 3532, 7, 1),
    "mediaeval_q2": (4710, 208, 13481, 2, 3531, 7, 2),
}


@pytest.mark.parametrize("name", AMT)
def test_tables_of_numbers_without_header(name):
    classes, items, annotators, labels, with_truth, *spread = AMT[name]
    loaded = load(DATA / "amt" / name / "crowd.txt")
    a = loaded.annotations
    assert (a.n_classes, a.n_items, a.n_annotators, a.n_labels) == (classes, items, annotators, labels)
    given = np.bincount(a.annotator)
    assert [given.min(), int(np.median(given)), given.max()] == spread
    truth = load_truth(DATA / "amt" / name / "truth.txt").codes(a)
    assert (np.count_nonzero(truth >= 0), np.count_nonzero(truth == -2)) == (with_truth, 0)
    frame = pl.read_csv(
        DATA / "amt" / name / "crowd.txt", separator="\t", has_header=False, new_columns=["item", "annotator", "label"]
    )
    b = load(frame).annotations
    assert [str(x) for x in b.items] == a.items.to_list()
    assert np.array_equal(a.answer, b.answer)
    assert np.array_equal(a.offsets, b.offsets)


@pytest.mark.parametrize("name", DEV)
def test_tables_with_header_and_repeats(name):
    items, annotators, labels, classes, with_truth, repeated, conflicts = DEV[name]
    path = DATA / "dev" / name / "labels.csv"
    if conflicts:
        with pytest.raises(ConflictError):
            load(path)
    a = load(path, duplicates="first").annotations
    assert (a.n_items, a.n_annotators, a.n_labels, a.n_classes) == (items, annotators, labels - repeated, classes)
    b = load(path, duplicates="last").annotations
    assert np.count_nonzero(a.answer != b.answer) <= conflicts
    truth = load_truth(DATA / "dev" / name / "truth.csv").codes(a)
    assert np.count_nonzero(truth >= 0) == with_truth
