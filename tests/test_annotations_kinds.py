"""The same table through every kind of input gives the same codes and vocabularies."""

# ruff: noqa: ARG005  makers of tables share one signature

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import random
import subprocess
import sys
from pathlib import Path

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest

from covote.annotations import Annotations, load

NAMES = ("item", "annotator", "label")
ROWS = [
    ("01", "ann", "dog"), ("1", "ann", "cat"), ("01", "bob", "dog"), ("x,y", "Zoë", "dog"), ("1", "bob", ""),
    ('a "b"', "bob", "cat"), ("01", "Zoë", "a bird"), ("1", "ann", "cat"), ("line\nbreak", "ann", " cat"), ("only empty", "eve", ""),
]  # fmt: skip


def encode_slowly(rows):
    """What loading must give: the three vocabularies and the answers, the obvious way."""
    rows = [row for row in rows if row[2] not in ("", None)]
    items, annotators = list(dict.fromkeys(r[0] for r in rows)), list(dict.fromkeys(r[1] for r in rows))
    classes = sorted({r[2] for r in rows})
    answers = sorted({(items.index(i), annotators.index(a), classes.index(c)) for i, a, c in rows})
    return items, annotators, classes, answers


def decoded(a: Annotations):
    answers = list(zip(a.item.tolist(), a.annotator.tolist(), a.label.tolist(), strict=True))
    return a.items.to_list(), a.annotators.to_list(), a.classes.to_list(), answers


def text_of(rows, delimiter=",", header=True, end="\n"):
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end)
    writer.writerows(([NAMES] if header else []) + list(rows))
    return out.getvalue()


def json_of(rows):
    return "".join(json.dumps(dict(zip(NAMES, row, strict=True))) + "\n" for row in rows)


def columns_of(rows):
    return {name: [row[i] for row in rows] for i, name in enumerate(NAMES)}


def write(path: Path, data: bytes | str) -> Path:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def arrow_stream(table, path):
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)
    return path


def zstd(data: str) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as out:
        out.write(data.encode())
    return sink.getvalue().to_pybytes()


def shards(rows, folder):
    for part in range(3):
        write(folder / f"part{part}.csv", text_of(rows[part * 4 : part * 4 + 4]))
    return str(folder / "part*.csv")


MAKERS = {
    "csv": lambda rows, d: write(d / "a.csv", text_of(rows)),
    "csv as str": lambda rows, d: str(write(d / "a.csv", text_of(rows))),
    "csv with BOM": lambda rows, d: write(d / "a.csv", b"\xef\xbb\xbf" + text_of(rows).encode()),
    "csv with CRLF": lambda rows, d: write(d / "a.csv", text_of(rows, end="\r\n")),
    "csv without final newline": lambda rows, d: write(d / "a.csv", text_of(rows)[:-1]),
    "csv of mixed line ends": lambda rows, d: write(d / "a.csv", text_of(rows[:5], end="\r\n") + text_of(rows[5:], header=False)),
    "csv in UTF-16": lambda rows, d: write(d / "a.csv", text_of(rows).encode("utf-16")),
    "tsv": lambda rows, d: write(d / "a.tsv", text_of(rows, "\t")),
    "semicolons": lambda rows, d: write(d / "a.txt", text_of(rows, ";")),
    "bars": lambda rows, d: write(d / "a.data", text_of(rows, "|")),
    "csv.gz": lambda rows, d: write(d / "a.csv.gz", gzip.compress(text_of(rows).encode())),
    "csv.bz2": lambda rows, d: write(d / "a.csv.bz2", bz2.compress(text_of(rows).encode())),
    "csv.xz": lambda rows, d: write(d / "a.csv.xz", lzma.compress(text_of(rows).encode())),
    "csv.zst": lambda rows, d: write(d / "a.csv.zst", zstd(text_of(rows))),
    "csv.zst in two frames": lambda rows, d: write(d / "a.csv.zst", zstd(text_of(rows[:5])) + zstd(text_of(rows[5:], header=False))),
    "csv.gz in two members": lambda rows, d: write(d / "a.gz", gzip.compress(text_of(rows[:5]).encode()) + gzip.compress(text_of(rows[5:], header=False).encode())),
    "glob": shards,
    "list of paths": lambda rows, d: (shards(rows, d), sorted(d.iterdir()))[1],
    "jsonl": lambda rows, d: write(d / "a.jsonl", json_of(rows)),
    "jsonl.gz": lambda rows, d: write(d / "a.jsonl.gz", gzip.compress(json_of(rows).encode())),
    "jsonl, packed and not": lambda rows, d: [write(d / "a.jsonl", json_of(rows[:5])), write(d / "b.jsonl.gz", gzip.compress(json_of(rows[5:]).encode()))],
    "json list": lambda rows, d: write(d / "a.json", json.dumps([dict(zip(NAMES, r, strict=True)) for r in rows])),
    "parquet": lambda rows, d: pa.parquet.write_table(pa.table(columns_of(rows)), d / "a.parquet") or d / "a.parquet",
    "feather": lambda rows, d: pa.feather.write_feather(pa.table(columns_of(rows)), d / "a.feather") or d / "a.feather",
    "arrow stream": lambda rows, d: arrow_stream(pa.table(columns_of(rows)), d / "a.arrows"),
    "pandas": lambda rows, d: pd.DataFrame(columns_of(rows)),
    "pandas objects": lambda rows, d: pd.DataFrame(columns_of(rows), dtype=object, index=range(100, 100 + len(rows))),
    "pandas categories": lambda rows, d: pd.DataFrame(columns_of(rows), dtype="category"),
    "polars": lambda rows, d: pl.DataFrame(columns_of(rows)),
    "polars categories": lambda rows, d: pl.DataFrame(columns_of(rows)).cast(pl.Categorical),
    "polars lazy": lambda rows, d: pl.LazyFrame(columns_of(rows)),
    "pyarrow": lambda rows, d: pa.table(columns_of(rows)),
    "pyarrow in chunks": lambda rows, d: pa.concat_tables([pa.table(columns_of([row])) for row in rows]),
    "pyarrow dictionaries": lambda rows, d: pa.table({k: pa.array(v).dictionary_encode() for k, v in columns_of(rows).items()}),
    "duckdb": lambda rows, d: duckdb.connect().from_arrow(pa.table(columns_of(rows))),
    "narwhals": lambda rows, d: nw.from_native(pl.DataFrame(columns_of(rows))),
    "narwhals lazy": lambda rows, d: nw.from_native(pl.LazyFrame(columns_of(rows))),
    "triples": lambda rows, d: rows,
    "generator": lambda rows, d: (row for row in rows),
}  # fmt: skip


@pytest.mark.parametrize("kind", MAKERS)
def test_every_kind_of_input_gives_the_same_annotations(kind, tmp_path):
    assert decoded(load(MAKERS[kind](ROWS, tmp_path)).annotations) == encode_slowly(ROWS)


@pytest.mark.parametrize("kind", MAKERS)
def test_rows_in_another_order_renumber_items_and_annotators_and_change_nothing_else(kind, tmp_path):
    rows = random.Random(1).sample(ROWS, len(ROWS))
    assert decoded(load(MAKERS[kind](rows, tmp_path)).annotations) == encode_slowly(rows)
    a, b = load(ROWS).annotations, load(MAKERS[kind](rows, tmp_path)).annotations
    assert a.classes.to_list() == b.classes.to_list()
    assert triples_of(a) == triples_of(b)


def triples_of(a: Annotations):
    items, annotators, classes, answers = decoded(a)
    return {(items[i], annotators[m], classes[k]) for i, m, k in answers}


def test_standard_input(tmp_path, monkeypatch):
    for data in (text_of(ROWS).encode(), gzip.compress(text_of(ROWS).encode())):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert decoded(load("-").annotations) == encode_slowly(ROWS)


@pytest.mark.parametrize("kind", ["parquet", "pandas", "polars", "pyarrow", "duckdb"])
def test_many_rows_of_integers_and_of_text(kind, tmp_path):
    rng = np.random.default_rng(0)
    pairs = rng.permutation(300 * 90)[:9000]
    rows = [
        (int(p // 90) * 1000, int(p % 90) - 45, int(k)) for p, k in zip(pairs, rng.integers(0, 5, 9000), strict=True)
    ]
    assert decoded(load(MAKERS[kind](rows, tmp_path)).annotations) == encode_slowly(rows)
    text = [(f"i{i}", f"a{a}", f"c{c}") for i, a, c in rows]
    assert decoded(load(MAKERS[kind](text, tmp_path)).annotations) == encode_slowly(text)
    mixed = [(i, a, f"c{c}") for i, a, c in rows]
    assert decoded(load(MAKERS[kind](mixed, tmp_path)).annotations) == encode_slowly(mixed)


@pytest.mark.parametrize("kind", ["parquet", "polars", "pyarrow", "csv", "triples"])
def test_hundreds_of_classes(kind, tmp_path):
    rows = [(f"i{n % 40}", f"a{n // 40}", f"c{n % 301:03}") for n in range(3000)]
    assert decoded(load(MAKERS[kind](rows, tmp_path)).annotations) == encode_slowly(rows)


KINDS = {
    "csv": "file", "parquet": "file", "pandas": "pandas", "polars": "polars", "polars lazy": "polars-lazy",
    "pyarrow": "pyarrow", "duckdb": "duckdb", "triples": "mapping", "narwhals": "polars",
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_tables_come_back_in_the_kind_they_came_in(kind, tmp_path):
    loaded = load(MAKERS[kind](ROWS, tmp_path))
    assert loaded.kind == KINDS[kind]
    a = loaded.annotations
    codes = np.arange(a.n_items) % a.n_classes
    table = loaded.item_table({"best": loaded.label_column(codes), "sure": np.arange(a.n_items) / 4})
    best = [a.classes[int(c)] for c in codes]
    assert rows_of(table, loaded.kind) == list(zip(a.items, best, (np.arange(a.n_items) / 4).tolist(), strict=True))
    table = loaded.annotator_table({"count": list(range(a.n_annotators))})
    assert rows_of(table, loaded.kind) == list(zip(a.annotators, range(a.n_annotators), strict=True))


def rows_of(table, kind):
    if kind == "mapping":
        return [(item, *(value if isinstance(value, tuple) else (value,))) for item, value in table.items()]
    if kind in ("file", "duckdb"):
        assert isinstance(table, duckdb.DuckDBPyRelation)
        return table.fetchall()
    if kind == "polars-lazy":
        assert isinstance(table, pl.LazyFrame)
        return table.collect().rows()
    library = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}[kind]
    assert isinstance(table, library)
    return nw.from_native(table, eager_only=True).rows()


def test_a_relation_stays_on_the_users_connection():
    con = duckdb.connect()
    con.execute(
        "CREATE TABLE votes AS SELECT 'i' || (n // 3) AS task, n % 3 AS worker, 'yes' AS label FROM range(9) t(n)"
    )
    found = load(con.table("votes")).item_table({"label": ["yes"] * 3})  # noqa: F841  DuckDB finds it by name
    assert con.sql("SELECT v.task, count(*) FROM votes v JOIN found USING (task) GROUP BY 1 ORDER BY 1").fetchall() == [
        ("i0", 3), ("i1", 3), ("i2", 3),
    ]  # fmt: skip
    assert con.execute("SELECT count(*) FROM duckdb_tables()").fetchone() == (1,)


@pytest.mark.dask
def test_other_frames_are_collected():
    frames = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    loaded = load(frames.from_pandas(pd.DataFrame(columns_of(ROWS)), npartitions=3))
    assert decoded(loaded.annotations) == encode_slowly(ROWS)
    assert loaded.kind == "pandas"


def test_importing_needs_neither_duckdb_nor_narwhals():
    code = "import sys, covote.annotations; print(sorted({'duckdb', 'narwhals', 'pandas', 'polars', 'pyarrow'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


WITHOUT = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("pandas", "polars", "pyarrow"):
            raise ImportError(name)
sys.meta_path.insert(0, Absent())
import numpy as np
from covote.annotations import load
for path in sys.argv[1:]:
    loaded = load(path)
    a = loaded.annotations
    codes = np.zeros(a.n_items, dtype=int)
    print(loaded.item_table({"label": loaded.label_column(codes), "sure": codes / 2}).fetchall(), a.annotators.to_list())
"""


def test_files_need_no_frame_library(tmp_path):
    paths = [str(MAKERS[kind](ROWS[:2], tmp_path)) for kind in ("csv", "jsonl", "parquet", "csv.zst")]
    done = subprocess.run([sys.executable, "-c", WITHOUT, *paths], capture_output=True, text=True, check=True)
    assert done.stdout == "[('01', 'cat', 0.0), ('1', 'cat', 0.0)] ['ann']\n" * 4


@pytest.mark.parametrize(
    "names",
    [("first", "number", "value"), ("code", "source", "wanted"), ("lost", "c1", "c0"), ('a "b"', "it's", "SELECT")],
)
@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "duckdb"])
def test_columns_may_have_any_name(names, kind, tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "NAMES", names)
    roles = dict(zip(("item", "annotator", "label"), names, strict=True))
    for rows in (ROWS, [(n, n % 3, n % 2) for n in range(9)]):
        table = MAKERS[kind](rows, tmp_path)
        loaded = load(table, duplicates="last", **roles)
        wanted = [tuple(map(str, row)) for row in rows] if kind == "csv" else rows
        assert decoded(loaded.annotations) == encode_slowly(wanted)
        assert loaded.names == names
        assert loaded.item_table({names[1]: [0] * loaded.annotations.n_items}).columns == list(names[:2])
