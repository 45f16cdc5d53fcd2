"""Tables of very many columns are read as a slow, obvious reader reads them."""

# ruff: noqa: ARG005  makers of tables share one signature

from __future__ import annotations

import csv
import gzip

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from covote.annotations import load
from covote.annotations import source as source_module
from covote.annotations.truth import load_truth
from covote.errors import ColumnError, FileError

ROWS = 6
ODD = 'of "two",\nlines'


def table_of(columns, labels=("cat", "dog", ODD, "")):
    """Column names and texts: an item column in the middle, one annotator per other column, gaps."""
    drawn = np.random.default_rng(columns).choice(np.array(labels, dtype=object), (ROWS, columns))
    table = {f"ann {m}": drawn[:, m].tolist() for m in range(columns)}
    half = dict(list(table.items())[: columns // 2])
    return {**half, "item": [f"i{n}" for n in range(ROWS)], **table}


def write_csv(path, table, opened=open):
    with opened(path, "wt", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows([list(table), *zip(*table.values(), strict=True)])
    return path


def zipped(path):
    """The file packed by Zstandard."""
    path.with_suffix(".zst").write_bytes(pa.Codec("zstd").compress(path.read_bytes(), asbytes=True))
    return path.with_suffix(".zst")


def relation(table):
    con = duckdb.connect()
    con.register("given", pa.table(nones(table)))
    return con.table("given")


def nones(table):
    return {name: [value or None for value in column] for name, column in table.items()}


MAKERS = {
    "csv": lambda d, t: write_csv(d / "a.csv", t),
    "csv packed by gzip": lambda d, t: write_csv(d / "a.csv.gz", t, gzip.open),
    "csv packed by Zstandard": lambda d, t: zipped(write_csv(d / "a.csv", t)),
    "parquet": lambda d, t: pa.parquet.write_table(pa.table(nones(t)), d / "a.parquet") or d / "a.parquet",
    "arrow": lambda d, t: pa.feather.write_feather(pa.table(nones(t)), d / "a.arrow") or d / "a.arrow",
    "duckdb": lambda d, t: relation(t),
    "pandas": lambda d, t: pd.DataFrame(t),
    "pandas objects": lambda d, t: pd.DataFrame(nones(t), dtype=object),
    "pandas categories": lambda d, t: pd.DataFrame(nones(t)).astype("category"),
    "polars": lambda d, t: pl.DataFrame(t),
    "pyarrow": lambda d, t: pa.table(t),
    "pyarrow dictionaries": lambda d, t: pa.table({k: pa.array(v).dictionary_encode() for k, v in nones(t).items()}),
}


def read_slowly(table):
    """(item, annotator, label) of every cell that is not empty."""
    people = [name for name in table if name != "item"]
    return {(i, m, table[m][n]) for n, i in enumerate(table["item"]) for m in people if table[m][n] not in ("", None)}


def answers_of(a):
    names = a.annotators.to_list(), a.items.to_list(), a.classes.to_list()
    return {(names[1][i], names[0][m], names[2][k]) for i, m, k in zip(a.item, a.annotator, a.label, strict=True)}


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("columns", [5, 300, 3000])
def test_cells_are_those_of_the_slow_reader(kind, columns, tmp_path):
    table = table_of(columns)
    a = load(MAKERS[kind](tmp_path, table)).annotations
    assert answers_of(a) == read_slowly(table)
    assert a.items.to_list() == table["item"]
    assert a.annotators.to_list() == [name for name in table if name != "item"]
    assert a.classes.to_list() == sorted({label for _, _, label in read_slowly(table)})


def test_parquet_is_read_without_pyarrow_too(monkeypatch, tmp_path):
    table = table_of(1500)
    path = MAKERS["parquet"](tmp_path, table)
    monkeypatch.setattr(source_module.importlib.util, "find_spec", lambda name: None)
    assert answers_of(load(path).annotations) == read_slowly(table)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_of_several_types_share_their_labels(frame):
    table = {"item": ["x", "y"]}
    for m in range(100):
        table[f"a{m}"] = [[0, 1], [1.0, None], [1, 0], [None, 0.0]][m % 4]
    a = load(frame(table)).annotations
    assert a.classes.to_list() == [0, 1]
    assert [type(label) for label in a.classes] == [int, int]
    assert answers_of(a) == read_slowly(table)


def test_objects_of_several_kinds_keep_the_integer():
    table = {"item": ["x", "y"], **{f"a{m}": [[1.0, "b"], [1, "b"]][m % 2] for m in range(100)}}
    a = load(pd.DataFrame(table, dtype=object)).annotations
    assert [type(label) for label in a.classes] == [int, str]
    assert answers_of(a) == read_slowly(table)


def test_files_with_other_columns_are_joined_by_name(tmp_path):
    one, two = table_of(70), {k: v for k, v in table_of(80).items() if k != "ann 3"}
    two["item"] = [f"j{n}" for n in range(ROWS)]
    a = load([write_csv(tmp_path / "a.csv", one), write_csv(tmp_path / "b.csv", two)]).annotations
    assert answers_of(a) == read_slowly(one) | read_slowly(two)


def test_a_long_table_may_have_very_many_columns(tmp_path):
    table = table_of(3000)
    table |= {"annotator": ["ann", "bob"] * 3, "label": ["x", "y", "", "x", "x", "y"]}
    a = load(write_csv(tmp_path / "a.csv", table)).annotations
    expected = {row for row in zip(table["item"], table["annotator"], table["label"], strict=True) if row[2]}
    assert answers_of(a) == expected
    truth = load_truth(write_csv(tmp_path / "t.csv", table), item="item", label="label")
    assert len(truth.items) == 5


def test_a_line_of_the_wrong_width_is_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("\n".join([",".join(f"a{m}" for m in range(100)), ",".join(["x"] * 100), ",".join(["x"] * 99)]))
    with pytest.raises(FileError, match="line 3, has 99 columns, 100 are expected. Correct the line, or pass delim"):
        load(path)


@pytest.mark.parametrize("kind", ["csv", "parquet", "polars"])
def test_a_table_of_measurements_is_not_taken_for_answers(kind, tmp_path):
    table = table_of(200, labels=[f"{x:.6f}" for x in np.random.default_rng(0).random(500)])
    with pytest.raises(ColumnError, match="No annotator and label columns recognised"):
        load(MAKERS[kind](tmp_path, table))


def test_names_that_come_twice_are_told_apart(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("\n".join([",".join(["a"] * 100), ",".join(["x"] * 100)]))
    assert load(path).annotations.annotators.to_list() == ["a", *(f"a_{m}" for m in range(1, 100))]
