"""Wide tables and label matrices equal their long form, and the silent keep their place."""

# ruff: noqa: ARG005  makers of tables share one signature

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import covote
from covote.annotations import Annotations, Vocabulary, load
from covote.annotations.distinct_rows import RepeatedRows
from covote.errors import ColumnError, InputError

WIDE = {"doc": ["d1", "d2", "d3", "d4"], "ann": ["yes", "no", "", "no"], "bob": ["no", "", "", "yes"], "eve": [""] * 4}
ANSWERS = {("d1", "ann"): "yes", ("d1", "bob"): "no", ("d2", "ann"): "no", ("d4", "ann"): "no", ("d4", "bob"): "yes"}


def answers_of(a):
    return {(a.items[i], a.annotators[m]): a.classes[k] for i, m, k in zip(a.item, a.annotator, a.label, strict=True)}


def nones(table):
    return {name: [value or None for value in column] for name, column in table.items()}


def write_csv(path, table):
    rows = [list(table), *zip(*table.values(), strict=True)]
    path.write_text("\n".join(",".join(row) for row in rows))
    return path


def write_json(path, table):
    rows = zip(*table.values(), strict=True)
    path.write_text(
        "\n".join(json.dumps({k: v for k, v in zip(table, row, strict=True) if v or k != "bob"}) for row in rows)
    )
    return path


MAKERS = {
    "csv": lambda d: write_csv(d / "a.csv", WIDE),
    "jsonl with keys left out": lambda d: write_json(d / "a.jsonl", WIDE),
    "parquet": lambda d: pa.parquet.write_table(pa.table(nones(WIDE)), d / "a.parquet") or d / "a.parquet",
    "pandas": lambda d: pd.DataFrame(nones(WIDE)),
    "pandas index": lambda d: pd.DataFrame(nones(WIDE)).set_index("doc"),
    "polars": lambda d: pl.DataFrame(nones(WIDE)),
    "polars lazy": lambda d: pl.LazyFrame(WIDE),
    "pyarrow": lambda d: pa.table(nones(WIDE)),
}


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("shape", ["auto", "wide"])
def test_a_wide_table_is_recognised_and_keeps_everyone(kind, shape, tmp_path):
    loaded = load(MAKERS[kind](tmp_path), shape=shape)
    a = loaded.annotations
    assert answers_of(a) == ANSWERS
    assert a.items.to_list() == WIDE["doc"]
    assert a.annotators.to_list() == ["ann", "bob", "eve"]
    assert a.classes.to_list() == ["no", "yes"]
    assert loaded.names == ("item" if "index" in kind else "doc", "annotator", "label")


def test_rows_are_the_items_without_an_item_column(tmp_path):
    table = {k: v for k, v in WIDE.items() if k != "doc"}
    for given_table in (pd.DataFrame(table), pl.DataFrame(table), write_csv(tmp_path / "a.csv", table)):
        loaded = load(given_table)
        assert loaded.annotations.items.to_list() == [0, 1, 2, 3]
        assert loaded.names == ("item", "annotator", "label")
        assert loaded.annotations.n_labels == 5


def test_the_item_column_may_be_named():
    frame = pl.DataFrame({"ann": ["a", "b"], "what": ["w1", "w2"], "bob": ["a", "b"]})
    a = load(frame, item="what").annotations
    assert (a.items.to_list(), a.annotators.to_list()) == (["w1", "w2"], ["ann", "bob"])


def test_an_item_in_two_rows_is_one_item():
    frame = pl.DataFrame({"item": [1, 2, 1], "ann": ["a", "b", None], "bob": [None, "a", "b"]})
    a = load(frame).annotations
    assert answers_of(a) == {(1, "ann"): "a", (1, "bob"): "b", (2, "ann"): "b", (2, "bob"): "a"}
    frame = frame.with_columns(ann=pl.Series(["a", "b", "b"]))
    with pytest.raises(InputError, match="Annotator 'ann' labels item 1 both 'a' and 'b'"):
        load(frame)
    assert load(frame, duplicates="last").annotations.label.tolist() == [1, 1, 1, 0]


def test_integers_that_a_gap_made_floats_are_integers_again():
    frame = pd.DataFrame({"item": ["x", "y"], "ann": [1.0, None], "bob": [0, 1]})
    assert [type(x) for x in load(frame).annotations.classes] == [int, int]
    frame = pd.DataFrame({"item": ["x", "y"], "ann": [1.0, None], "bob": [0.0, 1.0]})
    assert [type(x) for x in load(frame).annotations.classes] == [float, float]


def test_columns_may_be_numbers_in_pandas():
    a = load(pd.DataFrame([["a", "b"], ["b", None]], columns=[7, 9])).annotations
    assert answers_of(a) == {(0, 7): "a", (0, 9): "b", (1, 7): "b"}


def test_wide_integers_of_a_file(tmp_path):
    table = pa.table(
        {
            "item": [5, 6, 7],
            "a": pa.array([3, None, 1], pa.int8()),
            "b": [None, 300, 1],
            "c": pa.array([None] * 3, pa.int32()),
        }
    )
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    a = load(tmp_path / "a.parquet", shape="wide").annotations
    assert answers_of(a) == {(5, "a"): 3, (6, "b"): 300, (7, "a"): 1, (7, "b"): 1}
    assert (a.classes.to_list(), a.annotators.to_list()) == ([1, 3, 300], ["a", "b", "c"])


@settings(deadline=None, max_examples=60)
@given(arrays(np.int64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.integers(-1, 3)))
def test_a_matrix_equals_its_triples(matrix):
    cells = {(i, m): int(x) for (i, m), x in np.ndenumerate(matrix) if x != -1}
    if not cells:
        with pytest.raises(InputError, match="holds no answers"):
            load(matrix)
        return
    for given_matrix in (
        matrix,
        np.where(matrix == -1, np.nan, matrix),
        np.ma.masked_equal(matrix, -1),
        with_none(matrix),
    ):
        a = load(given_matrix).annotations
        assert answers_of(a) == cells
        assert a.items.to_list() == list(range(matrix.shape[0]))
        assert a.annotators.to_list() == list(range(matrix.shape[1]))
        assert a.classes.to_list() == sorted(set(cells.values()))
        assert np.all(np.diff(a.offsets) == (matrix != -1).sum(axis=1))


def with_none(matrix):
    out = matrix.astype(object)
    out[matrix == -1] = None
    return out


def test_an_array_of_three_columns_is_a_matrix_unless_called_long():
    rows = np.array([[0, 1, 1], [1, 1, 0]])
    assert load(rows).annotations.n_annotators == 3
    a = load(rows, shape="long").annotations
    assert answers_of(a) == {(0, 1): 1, (1, 1): 0}


def test_a_matrix_gives_mappings():
    loaded = load(np.array([["cat", "dog"], ["", "dog"]]))
    assert loaded.kind == "mapping"
    assert loaded.item_table({"label": ["dog", "cat"]}) == {0: "dog", 1: "cat"}
    assert loaded.item_table({"label": ["dog", "cat"], "sure": [1.0, 0.5]}) == {0: ("dog", 1.0), 1: ("cat", 0.5)}


def test_long_tables_with_unknown_names_are_not_taken_for_wide(tmp_path):
    few = {"foo": ["i1", "i1", "i2"], "bar": ["w1", "w2", "w1"], "baz": ["x", "y", "x"]}
    many = {
        "foo": [str(n) for n in range(500)],
        "bar": [str(n % 40) for n in range(500)],
        "baz": [str(n % 2) for n in range(500)],
    }
    sentence = (
        "No annotator and label columns recognised. Columns are: foo, bar, baz. "
        'Pass item=, annotator= and label=, or shape="wide" if each column is an annotator.'
    )
    for table in (few, many):
        for given_table in (pd.DataFrame(table), pl.DataFrame(table), write_csv(tmp_path / "a.csv", table)):
            with pytest.raises(ColumnError) as error:
                load(given_table)
            assert str(error.value) == sentence
    assert load(write_csv(tmp_path / "a.csv", few), shape="wide").annotations.n_annotators == 3
    with pytest.raises(ColumnError, match=r"Column 'foo' holds 500 different values, which are no labels\."):
        load(write_csv(tmp_path / "a.csv", many), shape="wide")


def test_long_and_wide_forms_agree():
    rng = np.random.default_rng(3)
    matrix = rng.integers(-1, 3, size=(40, 7))
    long = load([(i, m, int(x)) for (i, m), x in np.ndenumerate(matrix) if x >= 0], duplicates="error").annotations
    wide = load(matrix).annotations
    assert answers_of(long) == answers_of(wide)


@pytest.mark.parametrize("kind", ["matrix", "pandas", "polars", "parquet of numbers", "parquet of texts"])
def test_long_wide_tables_are_read_by_their_distinct_rows(kind, tmp_path):
    """Whatever the route, offsets and answers are those of the triples."""
    rng = np.random.default_rng(3)
    matrix = rng.integers(-1, 3, (20_000, 5))
    matrix[:, 4] = 7  # labels with gaps between them
    row, column = np.nonzero(matrix >= 0)
    expected = Annotations.from_codes(
        row, column, np.array([0, 1, 2, 0, 0, 0, 0, 3])[matrix[row, column]], items=Vocabulary(np.arange(20_000))
    )
    ids = rng.permutation(20_000)
    texts = np.where(matrix < 0, "", matrix.astype(str))
    names = [f"j{m}" for m in range(5)]
    numbers = {"item": ids} | {n: pa.array(matrix[:, m], mask=matrix[:, m] < 0) for m, n in enumerate(names)}
    words = {"item": ids} | dict(zip(names, texts.T.tolist(), strict=True))
    if kind.startswith("parquet"):
        pa.parquet.write_table(pa.table(numbers if kind.endswith("numbers") else words), tmp_path / "a.parquet")
    tables = {
        "matrix": lambda: matrix,
        "pandas": lambda: pd.DataFrame(words),
        "polars": lambda: pl.from_arrow(pa.table(numbers)),
    }
    a = load(tables.get(kind, lambda: tmp_path / "a.parquet")(), shape="wide").annotations
    assert isinstance(a, RepeatedRows)
    assert a.distinct.n_items <= 4**4
    assert a.n_items == 20_000
    assert a.n_labels == expected.n_labels == len(a.answer)
    np.testing.assert_array_equal(a.offsets, expected.offsets)
    np.testing.assert_array_equal(a.answer, expected.answer)
    assert a.items.to_list() == (list(range(20_000)) if kind == "matrix" else ids.tolist())
    assert [str(c) for c in a.classes] == ["0", "1", "2", "7"]


def test_repeated_items_and_rows_without_an_item_are_settled_as_ever(tmp_path):
    """Distinct rows are given up where a row is not an item."""
    table = pd.DataFrame(
        {"item": [1, 1, *range(2, 20_000)], "ann": [0, None, *[1] * 19_998], "bob": [None, *[1] * 19_999]}
    )
    pa.parquet.write_table(pa.Table.from_pandas(table), tmp_path / "a.parquet")
    for source in (table, tmp_path / "a.parquet"):
        a = load(source, shape="wide").annotations
        assert a.n_items == 19_999
        assert a.n_labels == 2 * 19_998 + 1 + 1
        assert a.offsets[:2].tolist() == [0, 2]


def test_labels_of_a_wide_text_file_that_is_recognised_by_itself(tmp_path):
    path = write_csv(tmp_path / "w.csv", WIDE)
    labels = covote.aggregate(path, "majority-vote").labels_
    assert [item for item, _ in labels.fetchall()] == WIDE["doc"]
    pa.parquet.write_table(pa.table(nones(WIDE)), tmp_path / "w.parquet")
    assert len(covote.aggregate(tmp_path / "w.parquet", "multispa").labels_.fetchall()) == 4


@pytest.mark.parametrize("kind", ["matrix", "parquet"])
def test_more_distinct_rows_than_two_bytes_hold(kind, tmp_path):
    rng = np.random.default_rng(5)
    truth = rng.integers(3, size=(300_000, 1))
    matrix = np.where(rng.random((300_000, 9)) < 0.6, truth, rng.integers(-1, 3, (300_000, 9)))
    if kind == "parquet":
        columns = {f"j{m}": pa.array(matrix[:, m], mask=matrix[:, m] < 0) for m in range(9)}
        pa.parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    a = load(matrix if kind == "matrix" else tmp_path / "a.parquet", shape="wide").annotations
    assert isinstance(a, RepeatedRows)
    row, column = np.nonzero(matrix >= 0)
    expected = Annotations.from_codes(row, column, matrix[row, column], items=Vocabulary(np.arange(300_000)))
    np.testing.assert_array_equal(a.offsets, expected.offsets)
    np.testing.assert_array_equal(a.answer, expected.answer)
    assert a.n_labels == expected.n_labels
