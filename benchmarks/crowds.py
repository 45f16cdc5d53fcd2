"""Synthetic crowds for the benchmarks: sizes in, a Parquet file of answers (and, on request, arrays) out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np


def _draw(number: str, stream: int) -> str:
    """SQL of a pseudo-random integer: streams of the same number are independent (those of `hash(a, b)` are not)."""
    return f"hash(({number})::BIGINT * 256 + {stream})"


@dataclass(frozen=True)
class Crowd:
    """`answers` of `annotators` on each of `items`; everything follows from hashes of the numbers, so that any
    part can be drawn anywhere. Annotator a is right with a probability between 0.5 and 0.95."""

    items: int
    annotators: int = 1000
    classes: int = 4
    answers: int = 5
    shuffled: bool = True  # rows in random order, as answers arrive, or sorted by item

    @property
    def labels(self) -> int:
        return self.items * self.answers

    def query(self) -> str:
        """SQL of the answers: item, annotator, label."""
        n = self.labels
        stride = next(s for s in range(int(n * 0.6180339887) | 1, n + 2) if math.gcd(s, n) == 1) if n > 2 else 1
        row = f"(i::HUGEINT * {stride} % {n})::BIGINT" if self.shuffled else "i"
        spread = max((self.annotators - 1) // max(self.answers, 1), 1)
        return f"""
            WITH rows AS (SELECT {row} AS j FROM range({n}) t(i)),
            placed AS (SELECT j, j // {self.answers} AS item, j % {self.answers} AS slot FROM rows),
            asked AS (
                SELECT j, item, {self.truth("item")} AS truth,
                    ({_draw("item", 1)} % {self.annotators} + slot * (1 + {_draw("item", 2)} % {spread}))
                        % {self.annotators} AS who
                FROM placed)
            SELECT item::BIGINT AS item, who::INTEGER AS annotator,
                (CASE WHEN {_draw("j", 4)} % 1000 < 500 + {_draw("who", 5)} % 450 THEN truth
                 ELSE {_draw("j", 6)} % {self.classes} END)::INTEGER AS label
            FROM asked"""

    def truth(self, item: str) -> str:
        """SQL of the true class of an item."""
        return f"{_draw(item, 3)} % {self.classes}"

    def write(self, path: Path) -> Path:
        """A Parquet file of the answers."""
        with duckdb.connect() as con:
            con.execute(f"COPY ({self.query()}) TO '{path}' (FORMAT parquet)")
        return path

    def arrays(self):
        """Item, annotator, label and truth as arrays."""
        with duckdb.connect() as con:
            rows = con.execute(self.query()).fetchnumpy()
            truth = con.execute(f"SELECT ({self.truth('i')})::INTEGER t FROM range({self.items}) r(i)").fetchnumpy()[
                "t"
            ]
        return rows["item"], rows["annotator"], rows["label"], truth

    def frame(self):
        """The answers as crowd-kit wants them, and the truth."""
        import pandas as pd

        item, annotator, label, truth = self.arrays()
        return pd.DataFrame({"task": item, "worker": annotator, "label": label}), truth

    def accuracy(self, labels_file: Path, label: str = "label") -> float:
        """Share of right labels in a Parquet file with columns item and label."""
        with duckdb.connect() as con:
            right = con.execute(f"SELECT avg(({label} = {self.truth('item')})::DOUBLE) FROM '{labels_file}'")
            return float(right.fetchone()[0])


def wide_file(path: Path, items: int, annotators: int = 9, classes: int = 2) -> Path:
    """A Parquet file with a row an item and a column a judge; all answered."""
    truth = f"{_draw('i', 3)} % {classes}"
    columns = ", ".join(
        f"(CASE WHEN {_draw('i', 10 + a)} % 1000 < {600 + 35 * a} THEN {truth} "
        f"ELSE {_draw('i', 100 + a)} % {classes} END)::TINYINT AS judge{a}"
        for a in range(annotators)
    )
    with duckdb.connect() as con:
        con.execute(f"COPY (SELECT i AS item, {columns} FROM range({items}) t(i)) TO '{path}' (FORMAT parquet)")
    return path


def annotations(crowd: Crowd):
    """The answers encoded, without a file."""
    from covote.annotations import Annotations, Vocabulary

    item, annotator, label, truth = crowd.arrays()
    names = [Vocabulary(np.arange(n)) for n in (crowd.items, crowd.annotators, crowd.classes)]
    encoded = Annotations.from_codes(item, annotator, label, items=names[0], annotators=names[1], classes=names[2])
    return encoded, truth
