"""Seconds to read a wide table of twenty rows, by its number of columns and the kind of table."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.big import timed
from benchmarks.measure import in_child

COLUMNS = (300, 600, 3_000, 30_000, 100_000)
KINDS = ("CSV", "Parquet", "pandas", "Polars", "PyArrow")
ROWS = 20


def many_columns(columns=COLUMNS, kinds=KINDS):
    """Rows of columns, kind, seconds and peak; each is read in a process of its own."""
    rows = []
    for number in columns:
        for kind in kinds:
            rows.append({"columns": number, "kind": kind})
            rows[-1] |= in_child("benchmarks.many_columns:read", columns=number, kind=kind)
    return rows


def read(columns, kind):
    """Seconds to read one table, after a small one has loaded the libraries."""
    with tempfile.TemporaryDirectory() as folder:
        from covote.annotations import load

        load(table(Path(folder), 70, kind))
        given = table(Path(folder), columns, kind)
        return timed(lambda: load(given))


def table(folder, columns, kind):
    """A table of two labels with a third of the cells empty."""
    drawn = np.random.default_rng(columns).choice(["yes", "no", ""], (columns, ROWS)).tolist()
    cells = {"item": [f"item {n}" for n in range(ROWS)], **{f"a{m}": drawn[m] for m in range(columns)}}
    path = folder / f"{columns}.{kind.lower()}"
    if kind == "CSV":
        with open(path, "w", newline="") as out:
            csv.writer(out).writerows([list(cells), *zip(*cells.values(), strict=True)])
        return path
    if kind == "pandas":
        import pandas as pd

        return pd.DataFrame(cells)
    if kind == "Polars":
        import polars as pl

        return pl.DataFrame(cells)
    import pyarrow as pa
    from pyarrow import parquet

    if kind == "PyArrow":
        return pa.table(cells)
    parquet.write_table(pa.table(cells), path)
    return path
