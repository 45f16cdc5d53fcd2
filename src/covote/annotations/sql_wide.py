"""The columns of a wide `Source` -> codes of the items and of every annotator's labels, by DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from covote.annotations.columns import Wide
from covote.annotations.distinct_rows import FEW_DISTINCT, DistinctRows, can_pack, possible, strides, unpack
from covote.annotations.encode import Coded
from covote.annotations.many_columns import MANY, in_groups, labels_in
from covote.annotations.native import IntArray
from covote.annotations.source import MOST_IN_VIEW, Source, fetch_join
from covote.annotations.sql import (
    Column,
    code_of,
    columns_of,
    distinct,
    fetch_in_order,
    integers_of,
    is_integer,
    set_lists,
    spans_of,
)
from covote.annotations.stored import StoredColumn, new_table
from covote.annotations.wide import SMALL, check_cells, labels_of


def encode_wide(source: Source, wide: Wide) -> tuple[Coded, list[Coded] | DistinctRows]:
    """Items of the rows, and the label codes of each annotator's column, of distinct rows where these are few."""
    if len(wide.annotators) > MANY:
        return _encode_many(source, wide)
    names = [name for name in (wide.item, *wide.annotators) if name is not None]
    columns = columns_of(
        source, names, ["item"] * (len(names) - len(wide.annotators)) + ["label"] * len(wide.annotators)
    )
    cells = columns[-len(wide.annotators) :]
    if not wide.sure:
        _check_sample(source, cells)
    lists = {c.name: StoredColumn(source.con, t, json_text=c.json_text) for c, t in _cell_labels(source, cells).items()}
    rows = _fetch_packed(source, cells, lists)
    coded = fetch_in_order(source, cells, lists, "true") if rows is None else rows.cells
    if not wide.sure:
        check_cells(labels_of(coded), wide.annotators)
    if wide.item is None:
        numbers = np.arange(len(coded[0].codes if rows is None else rows.index))
        items = Coded(numbers, numbers)
    else:
        items = _encode_items(source, columns[0])
    return items, coded if rows is None else rows


def _encode_many(source: Source, wide: Wide) -> tuple[Coded, list[Coded]]:
    """The same for very many columns."""
    names = [str(name) for name in wide.annotators]
    if source.once:
        source.use(names if wide.item is None else [str(wide.item), *names])
    if source.cells is None:
        cells = _cells_in_blocks(source, names, sure=wide.sure)
    else:
        if not wide.sure and len(set(chain.from_iterable(found := labels_of(source.cells(names, 1000))))) > SMALL:
            check_cells(found, names)
        cells = source.cells(names, None)
    if not wide.sure:
        check_cells(labels_of(cells), names)
    if wide.item is not None:
        return _encode_items(source, columns_of(source, [wide.item], ["item"])[0]), cells
    numbers = np.arange(len(cells[0].codes))
    return Coded(numbers, numbers), cells


def _cells_in_blocks(source: Source, names: Sequence[str], *, sure: bool) -> list[Coded]:
    cells: list[Coded] = []
    for start in range(0, len(names), MOST_IN_VIEW):
        block = names[start : start + MOST_IN_VIEW]
        columns = columns_of(source, block, ["label"] * len(block))
        if not sure and not start:
            _check_sample(source, columns)
        lists: dict[str, StoredColumn] = {}
        texts = [column for column in columns if not is_integer(column)]
        for _, places in in_groups([(column.type, column.json_text) for column in texts], MOST_IN_VIEW):
            group = [texts[place] for place in places]
            lists |= dict.fromkeys((column.name for column in group), labels_in(source, group))
        cells += fetch_in_order(source, columns, lists, "true")
    return cells


def _fetch_packed(source: Source, cells: Sequence[Column], lists: dict[str, StoredColumn]) -> DistinctRows | None:
    """The distinct rows, read as one integer a row; None where there may be too many."""
    spans = spans_of(source, [column for column in cells if column.name not in lists], "true")
    sizes = [len(lists[c.name]) if c.name in lists else spans[c.name][1] - spans[c.name][0] + 1 for c in cells]
    if not can_pack(sizes, lambda: source.rows("SELECT count(*) FROM source")[0][0]):
        return None
    set_lists(source, lists)
    codes = [
        code_of(c, lists.get(c.name), spans.get(c.name, (0, 0)), missing=size)
        for c, size in zip(cells, sizes, strict=True)
    ]
    packed = " + ".join(f"{code}::INTEGER * {stride}" for code, stride in zip(codes, strides(sizes), strict=True))
    kind = "USMALLINT" if possible(sizes) <= FEW_DISTINCT else "INTEGER"
    array = source.con.execute(f"SELECT ({packed})::{kind} AS packed FROM source").fetchnumpy()["packed"]  # noqa: S608
    values = [lists[c.name] if c.name in lists else integers_of(c, spans[c.name]) for c in cells]
    return unpack(array, values)


def _check_sample(source: Source, cells: Sequence[Column]) -> None:
    """Refuse a long table with unknown names by its first rows, before its ids are counted."""
    rows = source.rows(f"SELECT {', '.join(c.sql for c in cells)} FROM source LIMIT 1000")  # noqa: S608
    labels = [{value for value in column if value is not None} for column in zip(*rows, strict=True)]
    if len(set().union(*labels)) > SMALL:
        check_cells(labels, [c.name for c in cells])


def _cell_labels(source: Source, cells: Sequence[Column]) -> dict[Column, str]:
    """A table of the distinct labels of each column that does not hold integers."""
    texts = [column for column in cells if not is_integer(column)]
    if not texts:
        return {}
    parts = ", ".join(
        f"list(DISTINCT {column.sql}) FILTER (WHERE {column.present}) AS c{i}" for i, column in enumerate(texts)
    )
    gathered = new_table()
    source.con.execute(f"CREATE TABLE {gathered} AS SELECT {parts} FROM source")  # noqa: S608
    tables = {}
    for i, column in enumerate(texts):
        tables[column] = new_table()
        source.con.execute(f"""
            CREATE TABLE {tables[column]} AS
            SELECT value, (row_number() OVER () - 1)::INTEGER AS code
            FROM (SELECT unnest(c{i}) AS value FROM {gathered})""")  # noqa: S608
    return tables


def _encode_items(source: Source, item: Column) -> Coded:
    """Item codes of all rows of a wide table, in order."""
    if is_integer(item):
        return fetch_in_order(source, [item], {}, "true")[0]
    table = distinct(source, item, item.present)
    query = f"""
        SELECT coalesce(v.code, -1) AS code, s.number
        FROM (SELECT {item.sql} AS value, row_number() OVER () AS number FROM source) s
        LEFT JOIN {table} v ON s.value = v.value"""  # noqa: S608
    arrays = fetch_join(source.con, query)
    codes: IntArray = np.empty(len(arrays["code"]), dtype=np.int32)
    codes[arrays["number"] - 1] = arrays["code"]
    return Coded(codes, StoredColumn(source.con, table, json_text=item.json_text))
