"""Bad input: one sentence each, written out by hand."""

from __future__ import annotations

import contextlib
import gzip
import lzma

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from covote.annotations import load
from covote.errors import ColumnError, FileError, InputError

HEADER = "item,annotator,label\n"
NO_ANSWERS = "The table holds no answers. Pass one with at least one labelled item."


def sentence_of(error, table, **options):
    with pytest.raises(error) as caught:
        load(table, **options)
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None
    return str(caught.value)


def write(path, data):
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([("x", "ann", "cat"), (None, "bob", "dog")], "Row 2 has a label but no item. Give every label its item and its annotator, or remove the row."),
        ([("x", "ann", None), ("x", "", "dog")], "Row 2 has a label but no annotator. Give every label its item and its annotator, or remove the row."),
        ([("x", float("nan"), 1)], "Row 1 has a label but no annotator. Give every label its item and its annotator, or remove the row."),
        ([("x", "ann", float("inf"))], "The label column holds the number inf. Ids and labels must be finite; leave a missing answer empty."),
        ([("x", float("-inf"), 1)], "The annotator column holds the number -inf. Ids and labels must be finite; leave a missing answer empty."),
        ([], NO_ANSWERS),
        ([("x", "ann", None)], NO_ANSWERS),
        ([("x", "ann")], "Row 1 is ('x', 'ann'). Pass triples (item, annotator, label), a table, or the path of a file."),
        ([("x", "ann", "cat"), "abc"], "Row 2 is 'abc'. Pass triples (item, annotator, label), a table, or the path of a file."),
        ([("x", ["ann"], "cat")], "A value cannot be an id or a label: unhashable type: 'list'. Pass strings, numbers, tuples or other hashable values."),
        (7, "An object of type int is no table of answers. Pass a file, a frame, a label matrix or triples."),
        (np.zeros(3), "The label matrix has shape (3,). Pass one of shape (items, annotators)."),
        (np.array([[1.0, np.inf]]), "The label column holds the number inf. Ids and labels must be finite; leave a missing answer empty."),
        (np.array([[-1, -1]]), NO_ANSWERS),
        (np.zeros((0, 4), dtype=int), NO_ANSWERS),
    ],
)  # fmt: skip
def test_bad_rows(rows, sentence):
    assert sentence_of(InputError, rows) == sentence


def frames(columns, folder):
    table = pa.table(columns)
    pa.parquet.write_table(table, folder / "a.parquet")
    return [table, pd.DataFrame(columns), pl.DataFrame(columns), pl.LazyFrame(columns), folder / "a.parquet"]


def test_missing_ids_and_infinite_numbers_in_every_frame(tmp_path):
    for table in frames({"item": ["x", None, "y"], "annotator": ["a", "b", "c"], "label": ["u", None, "v"]}, tmp_path):
        assert load(table).annotations.n_labels == 2
    lost = "Row 3 has a label but no item. Give every label its item and its annotator, or remove the row."
    for table in frames({"item": ["x", None, None], "annotator": ["a", "b", "c"], "label": ["u", None, "v"]}, tmp_path):
        assert sentence_of(InputError, table) == lost
    for table in frames({"item": [1, 2, None], "annotator": [1, 1, 1], "label": [1, None, 2]}, tmp_path):
        assert sentence_of(InputError, table) == lost
    infinite = "The {} column holds the number inf. Ids and labels must be finite; leave a missing answer empty."
    for role in ("item", "annotator", "label"):
        columns = {"item": [1.0, 2.0], "annotator": [1.0, 2.0], "label": [1.0, 2.0], role: [1.0, float("inf")]}
        for table in frames(columns, tmp_path):
            assert sentence_of(InputError, table) == infinite.format(role)


def test_nan_is_no_answer_and_text_nan_beside_numbers_too(tmp_path):
    for table in frames({"item": [1, 2, 3], "annotator": [1, 1, 1], "label": [1.0, float("nan"), 2.0]}, tmp_path):
        assert load(table).annotations.items.to_list() == [1, 3]
    path = write(tmp_path / "a.csv", HEADER + "1,1,0\n2,1,nan\n3,1,NaN\n4,1,1\n")
    a = load(path).annotations
    assert (a.items.to_list(), a.classes.to_list()) == (["1", "4"], ["0", "1"])
    path = write(tmp_path / "a.csv", HEADER + "1,1,0\n2,1,inf\n")
    assert sentence_of(InputError, path) == (
        "The label column holds the number inf. Ids and labels must be finite; leave a missing answer empty."
    )
    path = write(tmp_path / "a.csv", HEADER + "1,1,nan\n2,1,inf\n3,1,bread\n")
    assert load(path).annotations.classes.to_list() == ["bread", "inf", "nan"]


@pytest.mark.parametrize(
    ("names", "options", "sentence"),
    [
        (["rater", "item", "label"], {"annotator": "worker"}, "Column 'worker' not found. Columns are: rater, item, label. Pass annotator=\"rater\"."),
        (["who", "item", "label"], {}, 'No annotator column recognised. Columns are: who, item, label. Pass annotator="who", or shape="wide" if each column is an annotator.'),
        (["who", "item", "label"], {"shape": "long"}, 'No annotator column recognised. Columns are: who, item, label. Pass annotator="who".'),
        (["worker", "txt", "labl"], {"item": "txt"}, 'No label column recognised. Columns are: worker, txt, labl. Pass label="labl", or shape="wide" if each column is an annotator.'),
        (["item", "worker", "label"], {"item": "label", "label": "label"}, "Column 'label' is given for two roles. Item, annotator and label are three columns."),
        (["item", "worker", "label"], {"shape": "tall"}, "shape='tall' is not known. Pass one of \"auto\", \"long\", \"wide\"."),
        (["item", "worker", "label"], {"shape": "wide", "label": "label"}, 'A wide table has a column for each annotator: pass item= alone, or shape="long".'),
    ],
)  # fmt: skip
def test_columns_not_found(names, options, sentence, tmp_path):
    columns = {name: ["a", "b"] for name in names}
    path = write(tmp_path / "a.csv", ",".join(names) + "\na,a,a\nb,b,b\n")
    for table in (pd.DataFrame(columns), pl.DataFrame(columns), path):
        assert sentence_of(InputError, table, **options) == sentence


def test_tables_of_too_few_columns(tmp_path):
    path = write(tmp_path / "a.csv", "item\nx\n")
    for table in (path, pd.DataFrame({"item": ["x"]}), pl.DataFrame({"item": ["x"]})):
        assert sentence_of(ColumnError, table) == (
            "No annotator and no label column found. Columns are: item. Pass a table that has them."
        )


def test_two_columns_of_one_name():
    frame = pd.DataFrame([[1, 2, 3, 4]], columns=["item", "annotator", "label", "label"])
    assert sentence_of(InputError, frame) == "The table has several columns named 'label'. Rename all but one."


def test_lists_are_no_labels(tmp_path):
    table = pa.table({"item": [1], "annotator": [1], "label": [[1, 2]]})
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    assert sentence_of(InputError, tmp_path / "a.parquet") == (
        "Column 'label' holds lists or records. Ids and labels must be strings, numbers or dates."
    )
    path = write(tmp_path / "a.jsonl", '{"item": 1, "annotator": 2, "label": {"a": 1}}\n')
    assert sentence_of(InputError, path) == (
        "Column 'label' holds lists or records. Ids and labels must be strings, numbers, true or false: name a path "
        "inside it with item=, annotator= or label=, such as label.id."
    )
    for frame in (table, pl.DataFrame({"item": [1], "annotator": [1], "label": [[1, 2]]})):
        assert sentence_of(InputError, frame) == (
            "A value cannot be an id or a label: unhashable type: 'list'. Pass strings, numbers, tuples or other hashable values."
        )


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff", "   \n"])
def test_empty_files(text, tmp_path):
    path = write(tmp_path / "a.csv", text)
    assert sentence_of(InputError, path) == (
        f"File '{path}' holds no answers: it is empty. Pass a table with at least one labelled item."
    )


def test_tables_without_rows(tmp_path):
    path = write(tmp_path / "a.csv", HEADER)
    assert sentence_of(InputError, path) == NO_ANSWERS
    assert sentence_of(InputError, write(path, HEADER[:-1])) == NO_ANSWERS
    assert sentence_of(InputError, write(path, HEADER + "x,ann,\n")) == NO_ANSWERS
    empty = {"item": [], "annotator": [], "label": []}
    for table in [*frames(empty, tmp_path), *frames({"item": [], "ann": [], "bob": []}, tmp_path)]:
        assert sentence_of(InputError, table) == NO_ANSWERS


def test_one_annotator_one_class_one_item_are_legal():
    a = load([("x", "ann", "cat")]).annotations
    assert (a.n_items, a.n_annotators, a.n_classes, a.n_labels) == (1, 1, 1, 1)


def test_classes_must_be_classes():
    rows = [("x", "ann", "cat")]
    assert sentence_of(InputError, rows, classes=["cat", None]) == (
        "classes holds None, which stands for no answer. Name real classes only."
    )


def test_files_that_are_not_there(tmp_path):
    assert sentence_of(FileError, "no/such.csv") == "File 'no/such.csv' not found. Check the path."
    assert sentence_of(FileError, "no/*.csv") == "No file matches 'no/*.csv'. Check the pattern."
    assert (
        sentence_of(FileError, tmp_path)
        == f"'{tmp_path}' is a folder. Pass its files, for example '{tmp_path}/*.parquet'."
    )


def test_damaged_text(tmp_path):
    path = tmp_path / "a.csv"
    for text, sentence in {
        HEADER + "x,ann,cat\ny,bob\n": "line 3, has 2 columns, 3 are expected. Correct the line, or pass delimiter=.",
        HEADER
        + "x,ann,cat\ny,bob,dog,9\n": "line 3, has 4 columns, 3 are expected. Correct the line, or pass delimiter=.",
        HEADER + 'x,ann,"cat\ny,bob,dog\n': "line 2, has a quote that does not close. Correct the line.",
        HEADER.encode() + b"x,ann,caf\xe9\n": "line 2, is not UTF-8 text. Convert it to UTF-8.",
    }.items():
        assert sentence_of(FileError, write(path, text)) == f"File '{path}', {sentence}"
    mixed = HEADER.encode().replace(b"\n", b"\r\n") + b"x,ann,cat\n"
    assert sentence_of(FileError, write(path, mixed + b"x,bob,caf\xe9\r\n")) in (
        f"File '{path}' is not UTF-8 text. Convert it to UTF-8.",
        f"File '{path}', line 3, is not UTF-8 text. Convert it to UTF-8.",
    )
    assert sentence_of(ColumnError, write(path, "1,2,3\n"), columns="item,label") == (
        "columns= names 2 columns, but the first line has 3. Name every column, in order."
    )


def test_damaged_files(tmp_path):
    table = pa.table({"item": ["x"] * 999, "annotator": [str(n) for n in range(999)], "label": ["cat"] * 999})
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    pa.feather.write_feather(table, tmp_path / "a.arrow")
    text = (HEADER + "".join(f"x,{n},cat\n" for n in range(9999))).encode()
    sentence = "File '{}' is damaged or cut short. Fetch or write it again."
    packed = "File '{}' is damaged or cut short. Unpack it by hand or fetch it again."
    zst = pa.BufferOutputStream()
    with pa.CompressedOutputStream(zst, "zstd") as out:
        out.write(text)
    for name, data, wanted in (
        ("a.parquet", whole[:-9], sentence),
        ("b.parquet", b"PAR1", sentence),
        ("c.parquet", whole[: len(whole) // 2] + bytes(50) + whole[len(whole) // 2 + 50 :], None),
        ("a.arrow", (tmp_path / "a.arrow").read_bytes()[:-20], sentence),
        ("a.csv.gz", gzip.compress(text)[:-20], None),
        ("b.csv.gz", gzip.compress(text)[:40], packed),
        ("a.csv.xz", lzma.compress(text)[:-20], packed),
        *((f"{cut}.csv.zst", zst.getvalue().to_pybytes()[:cut], packed) for cut in (5, 60, -3, -1)),
    ):
        path = write(tmp_path / name, data)
        found = sentence_of(FileError, path)
        assert found.startswith(f"File '{path}' ")
        assert wanted is None or found == wanted.format(path)


def test_damaged_json(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"item": 1, "annotator": 2, "label": 3}\n{"item": 1, "anno\n')
    assert sentence_of(FileError, path) == f"File '{path}' holds malformed JSON. Correct it or write it again."


def test_formats_must_not_be_mixed(tmp_path):
    pa.parquet.write_table(pa.table({"item": [1]}), tmp_path / "a.parquet")
    write(tmp_path / "a.csv", HEADER)
    assert sentence_of(InputError, [tmp_path / "a.csv", tmp_path / "a.parquet"]) == (
        "The files are of different formats (parquet, text). Pass files of one format."
    )


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    for data in (lzma.compress(HEADER.encode() + b"x,ann,cat\n"), lzma.compress(HEADER.encode() + b"x,ann,cat,9\n")):
        path = write(tmp_path / "a.csv.xz", data)
        with contextlib.suppress(FileError):
            load(path)
        assert list((tmp_path / "scratch").iterdir()) == []
