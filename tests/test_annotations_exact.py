"""Ids and labels come back exactly as they went in: text to the letter, and the types of every library."""

from __future__ import annotations

import csv
import datetime as dt
import json
import pickle
import tempfile
import uuid
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covote.annotations import load
from covote.annotations.native import to_list

NAMES = ("item", "annotator", "label")
TEXT = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), min_size=1, max_size=4)
ODD = st.sampled_from(["01", "1", "1.0", " 1", "1 ", "NULL", "null", "None", "NA", "true", '"', "''", "a,b", "a\nb", "\r\n", "\r", "\n",
                       "\t", ";", "é", "e\u0301", "\ufeff", "\u2028", "\x85", "2020-01-01", "1e5", "-1", "𝄞", "item", "#", "\\", "\\n"])  # fmt: skip
CELL = TEXT | ODD
TABLE = st.dictionaries(st.tuples(CELL, CELL), CELL, min_size=1, max_size=8)


def is_numeric(labels):
    """Labels that all read as numbers, among which "nan" is no answer and "inf" an error."""
    try:
        return bool([float(x) for x in labels])
    except ValueError:
        return False


def check(loaded, table):
    a = loaded.annotations
    assert a.items.to_list() == list(dict.fromkeys(i for i, _ in table))
    assert a.annotators.to_list() == list(dict.fromkeys(m for _, m in table))
    assert a.classes.to_list() == sorted(set(table.values()))
    found = {(a.items[i], a.annotators[m]): a.classes[k] for i, m, k in zip(a.item, a.annotator, a.label, strict=True)}
    assert found == table


@settings(deadline=None, max_examples=60)
@given(
    TABLE,
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    st.sampled_from(",\t;|"),
)
def test_text_survives_delimited_files(table, end, quoting, delimiter):
    if is_numeric(table.values()):
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.txt"
        with path.open("w", encoding="utf-8", newline="") as out:
            rows = [NAMES, *((i, m, k) for (i, m), k in table.items())]
            if any("\r" in cell or "\n" in cell for row in rows for cell in row):
                quoting = csv.QUOTE_ALL  # the module leaves a lone \r bare
            csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(rows)
        check(load(path), table)
        check(load([path], shape="long", delimiter=delimiter), table)


@settings(deadline=None, max_examples=40)
@given(TABLE)
def test_text_survives_json_parquet_and_frames(table):
    if is_numeric(table.values()):
        return
    columns = {name: [(*pair, k)[n] for pair, k in table.items()] for n, name in enumerate(NAMES)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl"
        lines = (json.dumps(dict(zip(NAMES, row, strict=True))) for row in zip(*columns.values(), strict=True))
        path.write_text("\n".join(lines))
        check(load(path), table)
        pa.parquet.write_table(pa.table(columns), Path(folder) / "a.parquet")
        check(load(Path(folder) / "a.parquet"), table)
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        check(load(make(columns)), table)


HASHABLE = st.one_of(
    st.integers(), st.booleans(), st.floats(allow_nan=False, allow_infinity=False), TEXT, st.binary(min_size=1, max_size=3), st.dates(),
    st.datetimes(), st.decimals(allow_nan=False, allow_infinity=False), st.uuids(), st.tuples(st.integers(), TEXT), st.frozensets(st.integers()),
)  # fmt: skip


@settings(deadline=None)
@given(st.dictionaries(st.tuples(HASHABLE, HASHABLE), HASHABLE, min_size=1, max_size=8))
def test_triples_hold_any_hashable_value(table):
    triples = [(item, annotator, label) for (item, annotator), label in table.items()]
    if is_text(table.values()) and is_numeric(table.values()):
        return
    a = load(triples).annotations
    found = {(a.items[i], a.annotators[m]): a.classes[k] for i, m, k in zip(a.item, a.annotator, a.label, strict=True)}
    assert found == table
    firsts = {item: item for item, _, _ in reversed(triples)}
    assert [(type(x), x) for x in a.items] == [
        (type(firsts[x]), firsts[x]) for x in dict.fromkeys(t[0] for t in triples)
    ]


def is_text(values):
    return all(isinstance(value, str) for value in values)


DAY = dt.datetime(2024, 2, 29, 12, 30, 1, 123456)
VALUES = {
    "strings": ["b", "a", "01"],
    "large integers": [2**53 + 1, 2**53, -(2**63)],
    "floats": [1.0, 2.5, -0.5],
    "booleans": [True, False, True],
    "dates": [dt.date(2024, 2, 29), dt.date(1969, 1, 1), dt.date(2024, 1, 1)],
    "times": [DAY, DAY + dt.timedelta(microseconds=1), DAY - dt.timedelta(days=40000)],
    "times with zone": [DAY.replace(tzinfo=dt.UTC), dt.datetime(1969, 1, 1, tzinfo=dt.UTC), dt.datetime(2030, 1, 1, tzinfo=dt.UTC)],
    "decimals": [Decimal("1.50"), Decimal("-0.01"), Decimal("100.00")],
    "bytes": [b"\x00\xff", b"a", b"\n"],
}  # fmt: skip


def long_of(values):
    return {"item": values, "annotator": values[::-1], "label": values}


def pairs_of(values):
    """Items, annotators and sorted classes of `long_of`, without repeats."""
    return list(dict.fromkeys(values)), list(dict.fromkeys(values[::-1])), sorted(set(values))


def assert_same(a, values):
    for found, wanted in zip((a.items, a.annotators, a.classes), pairs_of(values), strict=True):
        assert found.to_list() == wanted
        assert [type(x) for x in found] == [type(x) for x in wanted]
        assert [found[i] for i in range(len(found))] == wanted


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_types_survive_parquet_arrow_polars_and_duckdb(values, tmp_path):
    table = pa.table(long_of(values))
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    frame = pl.DataFrame(long_of(values))
    relation = duckdb.connect().from_arrow(table)
    for given_table in (
        tmp_path / "a.parquet",
        table,
        frame,
        frame.lazy(),
        relation,
        list(zip(*long_of(values).values(), strict=True)),
    ):
        loaded = load(given_table)
        assert_same(loaded.annotations, values)
        back = loaded.item_table({"n": loaded.label_column(loaded.annotations.label[: loaded.annotations.n_items])})
        if loaded.kind in ("file", "duckdb"):
            kinds = relation.select("item").types
            assert back.select("item").types == kinds
            assert back.select("n").types == kinds
        elif loaded.kind == "pyarrow":
            assert [f.type for f in back.schema] == [table.schema.field("item").type] * 2
        elif loaded.kind == "polars":
            assert back.dtypes == [frame["item"].dtype] * 2


PANDAS = {
    "int8": pd.array([3, 1, 2], dtype="int8"),
    "uint64": pd.array([2**64 - 1, 0, 5], dtype="uint64"),
    "float32": pd.array([1.5, 0.25, 3.0], dtype="float32"),
    "Int64": pd.array([2**60 + 1, 1, 2], dtype="Int64"),
    "boolean": pd.array([True, False, True], dtype="boolean"),
    "category": pd.Categorical(["b", "a", "b"], categories=["z", "b", "a"]),
    "times": pd.array(pd.to_datetime(["2024-01-02", "2024-01-01", "2023-01-01"])),
    "zone": pd.array(pd.to_datetime(["2024-01-02", "2024-01-01", "2023-01-01"]).tz_localize("Europe/Berlin")),
    "string": pd.array(["b", "a", "c"], dtype="string"),
    "str": pd.array(["b", "a", "c"], dtype="str"),
    "object": pd.array([2, "x", (1, "y")], dtype=object),
    "decimal objects": pd.array([Decimal("1.5"), Decimal("0.5"), Decimal(7)], dtype=object),
    "arrow": pd.array([Decimal("1.5"), Decimal("0.5"), Decimal("7.0")], dtype=pd.ArrowDtype(pa.decimal128(3, 1))),
}


@pytest.mark.parametrize("column", PANDAS.values(), ids=PANDAS)
def test_pandas_types_survive(column):
    frame = pd.DataFrame({"item": column, "annotator": column, "label": column})
    loaded = load(frame)
    wanted = frame["item"].drop_duplicates().reset_index(drop=True)
    a = loaded.annotations
    assert a.items.to_list() == wanted.tolist()
    assert [type(x) for x in a.items] == [type(x) for x in wanted.tolist()]
    codes = np.array([a.classes.to_list().index(x) for x in wanted.tolist()])
    table = loaded.item_table({"label": loaded.label_column(codes)})
    pd.testing.assert_series_equal(table["item"], wanted, check_categorical=False)
    pd.testing.assert_series_equal(table["label"], wanted, check_names=False, check_categorical=False)


def test_polars_types_survive():
    ids = pl.Series([3, 1, 3], dtype=pl.Int16)
    for column in (
        ids,
        ids.cast(pl.UInt64),
        ids.cast(pl.Int128),
        ids.cast(pl.Float32),
        ids.cast(pl.String).cast(pl.Enum(["1", "3", "9"])),
        ids.cast(pl.Duration),
    ):
        frame = pl.DataFrame({"item": column, "annotator": [1, 1, 2], "label": column})
        loaded = load(frame)
        table = loaded.item_table({"label": loaded.label_column(np.array([1, 0]))})
        assert table.dtypes == [column.dtype] * 2
        assert table["item"].to_list() == table["label"].to_list() == column[:2].to_list()


def test_integers_with_gaps_stay_integers():
    columns = {"item": [1, 2, 2, 3], "annotator": [5, 5, 6, 6], "label": [10, None, 20, None]}
    for table in (
        pl.DataFrame(columns),
        pa.table(columns),
        pd.DataFrame(columns, dtype="Int64"),
        duckdb.from_arrow(pa.table(columns)),
    ):
        a = load(table).annotations
        assert (a.items.to_list(), a.annotators.to_list(), a.classes.to_list()) == ([1, 2], [5, 6], [10, 20])
        assert {type(x) for x in [*a.items, *a.classes]} == {int}


def test_json_values_keep_their_kinds(tmp_path):
    rows = [(1, "ann", "01"), ("1", 2, "01"), (2.5, True, "x"), (10**19, "ann", "x"), (True, False, "y")]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps(dict(zip(NAMES, row, strict=True))) for row in rows))
    loaded = load(path)
    a = loaded.annotations
    assert [(type(x), x) for x in a.items] == [(type(r[0]), r[0]) for r in rows]
    assert [(type(x), x) for x in a.annotators] == [(str, "ann"), (int, 2), (bool, True), (bool, False)]
    assert [row[0] for row in loaded.item_table({"n": list(range(5))}).fetchall()] == [
        "1",
        "1",
        "2.5",
        "10000000000000000000",
        "true",
    ]
    path.write_text('{"item": 7, "annotator": -1, "label": true}\n{"item": 8, "annotator": 1.5, "label": false}\n')
    a = load(path).annotations
    assert (a.items.to_list(), a.annotators.to_list(), a.classes.to_list()) == ([7, 8], [-1, 1.5], [False, True])


def test_parquet_integers_of_every_width(tmp_path):
    for name, low, high in (
        ("int8", -(2**7), 2**7 - 1),
        ("uint8", 0, 255),
        ("int64", -(2**63), 2**63 - 1),
        ("uint64", 0, 2**64 - 1),
        ("int32", -5, 70000),
    ):
        column = pa.array([high, low, high], type=name)
        pa.parquet.write_table(
            pa.table({"item": column, "annotator": [1, 1, 2], "label": column}), tmp_path / "a.parquet"
        )
        loaded = load(tmp_path / "a.parquet")
        assert loaded.annotations.items.to_list() == [high, low]
        assert loaded.annotations.classes.to_list() == [low, high]
        assert loaded.annotations.items.values.dtype == np.dtype(name)


def test_huge_integers_of_duckdb():
    relation = duckdb.connect().sql(
        "SELECT 170141183460469231731687303715884105727::HUGEINT AS item, 1 AS annotator, 'a' AS label"
    )
    loaded = load(relation)
    assert loaded.annotations.items.to_list() == [2**127 - 1]
    assert loaded.item_table({"n": [1]}).fetchall() == [(2**127 - 1, 1)]


def test_equal_numbers_are_one_value():
    a = load([(1, "x", 1), (1.0, "y", 1.0), (uuid.UUID(int=1), "x", True)]).annotations
    assert (a.n_items, a.n_classes, a.items[0]) == (2, 1, 1)


def test_annotations_of_a_file_can_be_pickled(tmp_path):
    (tmp_path / "a.csv").write_text("item,annotator,label\n01,b,c\n02,b,d\n")
    a = load(tmp_path / "a.csv").annotations
    b = pickle.loads(pickle.dumps(a))
    assert (to_list(b.items.values), b.annotators.to_list(), b.answer.tolist()) == (["01", "02"], ["b"], [0, 1])
