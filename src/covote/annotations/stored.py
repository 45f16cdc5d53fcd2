"""A column of distinct values that stays in DuckDB, so that millions of ids never become Python objects unasked."""

from __future__ import annotations

import datetime
import json
import uuid
from collections.abc import Iterator
from typing import Any

import numpy as np

from covote.annotations.native import IntArray

CACHED = 1_000_000
"""Columns up to this length keep their Python values once they were asked for."""


class StoredColumn:
    """The column `value` of a DuckDB table whose rows are in the order of its column `code`, 0, 1, ..."""

    def __init__(self, con: Any, table: str, *, json_text: bool = False) -> None:
        self.con = con
        self.table = table
        self.json_text = json_text  # values are JSON texts of several kinds
        self.type = str(con.table(table).select("value").types[0])
        self._length: int = con.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0]  # noqa: S608  our own table; fetchone would leave it open
        self._list: list[Any] | None = None

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __getitem__(self, code: int) -> Any:
        if self._length <= CACHED:
            return self.tolist()[code]
        return self._fetch(f"WHERE code = {range(self._length)[code]}")[0]

    def __reduce__(self) -> tuple[type[list[Any]], tuple[list[Any]]]:
        return list, (self.tolist(),)  # a connection cannot be copied to another process, values can

    def tolist(self) -> list[Any]:
        """Every value as a Python object."""
        if self._list is not None:
            return self._list
        values = self._fetch("ORDER BY code")
        if self._length <= CACHED:
            self._list = values
        return values

    def take(self, codes: IntArray) -> StoredColumn:
        """A new column with the values at these codes."""
        picked = {"position": np.arange(len(codes), dtype=np.int32), "code": codes.astype(np.int32)}
        table = new_table()
        self.con.register("picked", picked)
        self.con.execute(
            f"CREATE TABLE {table} AS SELECT t.value, p.position AS code "  # noqa: S608
            f"FROM picked p JOIN {self.table} t ON p.code = t.code ORDER BY p.position"
        )
        self.con.unregister("picked")
        return StoredColumn(self.con, table, json_text=self.json_text)

    def _fetch(self, rows: str) -> list[Any]:
        aware = self.type == "TIMESTAMP WITH TIME ZONE"  # DuckDB needs pytz to hand these out itself
        column = "epoch_us(value)" if aware else "value"
        values = [row[0] for row in self.con.execute(f"SELECT {column} FROM {self.table} {rows}").fetchall()]  # noqa: S608
        if aware:
            epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
            return [epoch + datetime.timedelta(microseconds=value) for value in values]
        return [json.loads(value) for value in values] if self.json_text else values


def new_table() -> str:
    """A name that no table has yet."""
    return f"vocabulary_{uuid.uuid4().hex}"


def identifier(name: str) -> str:
    """A column name as SQL writes it.

    >>> identifier('my "task" id')
    '"my ""task"" id"'
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL writes it.

    >>> literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"
