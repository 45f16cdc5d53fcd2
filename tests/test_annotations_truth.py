"""The truth: from files, frames, mappings and pairs to class codes of the annotations' items."""

# ruff: noqa: ARG005  makers of tables share one signature

from __future__ import annotations

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from covote.annotations import Truth, load, load_truth
from covote.errors import ColumnError, InputError

ANSWERS = [("x", "ann", "cat"), ("y", "ann", "dog"), ("z", "bob", "cat")]
PAIRS = {"z": "cat", "x": "dog", "unseen": "cat", "y": "bird"}
CODES = [1, -2, 0]


def write(path, text):
    path.write_text(text)
    return path


MAKERS = {
    "mapping": lambda d: PAIRS,
    "pairs": lambda d: list(PAIRS.items()),
    "generator": lambda d: iter(PAIRS.items()),
    "csv": lambda d: write(d / "t.csv", "item,label\n" + "".join(f"{i},{k}\n" for i, k in PAIRS.items())),
    "csv with other names": lambda d: write(
        d / "t.csv", "gold,note,task_id\n" + "".join(f"{k},?,{i}\n" for i, k in PAIRS.items())
    ),
    "tsv without header": lambda d: write(d / "t.txt", "z\tcat\n" + "".join(f"{i}\t{k}\n" for i, k in PAIRS.items())),
    "jsonl": lambda d: write(d / "t.jsonl", "".join(f'{{"id": "{i}", "truth": "{k}"}}\n' for i, k in PAIRS.items())),
    "pandas": lambda d: pd.DataFrame({"task": PAIRS.keys(), "label": PAIRS.values()}),
    "polars": lambda d: pl.DataFrame({"task": list(PAIRS), "label": ["?"] * 4, "truth": list(PAIRS.values())}),
    "polars lazy": lambda d: pl.LazyFrame({"task": list(PAIRS), "gold": list(PAIRS.values())}),
    "pyarrow": lambda d: pa.table({"task": list(PAIRS), "answer": list(PAIRS.values())}),
    "duckdb": lambda d: duckdb.connect().from_arrow(pa.table({"task": list(PAIRS), "answer": list(PAIRS.values())})),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_every_kind_of_truth_gives_the_same_codes(kind, tmp_path):
    truth = load_truth(MAKERS[kind](tmp_path))
    assert dict(zip(truth.items, truth.labels, strict=True)) == PAIRS
    assert truth.codes(load(ANSWERS).annotations).tolist() == CODES


def test_classes_seen_only_in_the_truth_can_be_added():
    truth = load_truth(PAIRS)
    a = load(ANSWERS, classes=truth.labels).annotations
    assert a.classes.to_list() == ["cat", "dog", "bird"]
    assert truth.codes(a).tolist() == [1, 2, 0]


def test_columns_may_be_named(tmp_path):
    path = write(tmp_path / "t.csv", "a,b\nx,cat\n")
    assert load_truth(path, item="a", label="b") == Truth(["x"], ["cat"])
    assert load_truth(write(tmp_path / "u.csv", "cat,x\n"), columns="label,item") == Truth(["x"], ["cat"])
    with pytest.raises(ColumnError) as error:
        load_truth(path)
    assert str(error.value) == 'No item column recognised. Columns are: a, b. Pass item="a".'
    with pytest.raises(ColumnError) as error:
        load_truth(path, item="a")
    assert str(error.value) == 'No label column recognised. Columns are: a, b. Pass label="b".'


def test_repeats_must_agree():
    assert load_truth([("x", 1), ("x", 1), ("y", None)]) == Truth(["x"], [1])
    with pytest.raises(InputError) as error:
        load_truth([("x", 1), ("x", 2)])
    assert str(error.value) == "The truth gives item 'x' both 1 and 2. Keep one true label an item."


def test_text_that_spells_numbers_meets_numbers(tmp_path):
    path = write(tmp_path / "t.csv", "item,label\n1,0\n2,1\n03,1\n")
    frame = pl.DataFrame({"item": [1, 2, 3], "annotator": [1, 1, 1], "label": [0, 1, 0]})
    assert load_truth(path).codes(load(frame).annotations).tolist() == [0, 1, -1]
    answers = load([("1", "ann", "0"), ("2", "ann", "1")]).annotations
    assert load_truth({1: 0, 2: 1}).codes(answers).tolist() == [0, 1]
    floats = load(frame.cast({"label": pl.Float64})).annotations
    assert load_truth(path).codes(floats).tolist() == [0, 1, -1]


def test_a_truth_that_shares_no_item():
    with pytest.raises(InputError) as error:
        load_truth({"q": "cat"}).codes(load(ANSWERS).annotations)
    assert str(error.value) == (
        "The truth shares no item with the annotations: its first item is 'q', that of the annotations 'x'. "
        "Check that both use the same ids."
    )


@pytest.mark.parametrize(
    ("truth", "sentence"),
    [
        ({}, "The truth holds no labelled item. Pass a table of items and their true labels."),
        ([("x", None)], "The truth holds no labelled item. Pass a table of items and their true labels."),
        ([(None, "cat")], "Row 1 of the truth has a label but no item. Give every label its item, or remove the row."),
        ([("x", "cat", 1)], "Row 1 of the truth is ('x', 'cat', 1). Pass pairs (item, label), a mapping, or the path of a file."),
        (7, "An object of type int is no truth. Pass a file, a frame, a mapping or pairs (item, label)."),
        ({"x": float("inf")}, "The label column holds the number inf. Ids and labels must be finite; leave a missing answer empty."),
    ],
)  # fmt: skip
def test_bad_truths(truth, sentence):
    with pytest.raises(InputError) as error:
        load_truth(truth)
    assert str(error.value) == sentence
