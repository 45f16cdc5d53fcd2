"""Answers on disk: files of any size in, an engine over encoded parts out; DuckDB splits the rows by item."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from covote.annotations import Reading, Truth
from covote.annotations.classes import order_classes
from covote.annotations.columns import ROLES, Long, Wide
from covote.annotations.encode import Coded, check_finite
from covote.annotations.exports import plain_files
from covote.annotations.load import is_paths
from covote.annotations.repeats import lost_id, settle
from covote.annotations.source import Source, read_files, read_relation
from covote.annotations.sql import Column, columns_of
from covote.annotations.stored import StoredColumn, identifier, literal
from covote.annotations.tables import expression
from covote.annotations.wide import check_cells
from covote.engines.chunked import ChunkedEngine, Crowd, Work
from covote.engines.machine import free_memory
from covote.engines.passes import Chunk, Sums
from covote.errors import InputError

T = TypeVar("T")

_BYTES_A_ROW = 240
"""Memory that the encoding of a row may take, with room to spare."""


def open_disk(
    table: Any, reading: Reading, truth: Truth | None = None, *, limit: int | None = None, threads: int | None = None
) -> ChunkedEngine:
    """An engine over the answers of files, a DuckDB relation or another lazy frame; `limit` is in bytes."""
    allowed = limit or free_memory() // 2
    work = partial(_split_source, reading=reading, truth=truth, limit=allowed, threads=threads or os.cpu_count() or 1)
    if type(table).__module__.split(".")[0] in ("duckdb", "_duckdb"):
        reading.check_frame("a DuckDB relation")
        return read_relation(table, work)
    if not is_paths(table):
        reading.check_frame("a frame")
        return _streamed(table, work)
    files = plain_files(table, reading, "disk")
    return read_files(files, work, columns=reading.columns, delimiter=reading.delimiter, given=reading.given)


def _streamed(frame: Any, work: Callable[[Source], ChunkedEngine]) -> ChunkedEngine:
    import narwhals.stable.v2 as nw

    lazy = nw.from_native(frame, pass_through=True)
    if not isinstance(lazy, nw.LazyFrame):
        msg = "This table is in memory already, and engine='disk' is for files and lazy frames. Use engine='memory'."
        raise InputError(msg)
    with tempfile.TemporaryDirectory(prefix="covote-") as folder:
        path = Path(folder) / "rows.parquet"
        lazy.sink_parquet(path)
        return read_files(str(path), work)


class _Folder(dict[str, NDArray[Any]]):
    """A temporary folder that is removed with the last object that holds this one, and at the end at the latest.

    It is a dict so that DuckDB takes it for a table: registered on a connection, it lives as long as the connection
    and the relations made on it.
    """

    def __init__(self) -> None:
        super().__init__(unused=np.empty(0))
        self.path = Path(tempfile.mkdtemp(prefix="covote-parts-"))
        self.remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def _split_source(source: Source, *, reading: Reading, truth: Truth | None, limit: int, threads: int) -> ChunkedEngine:
    folder = _Folder()
    try:
        source.con.execute(f"SET memory_limit = '{max(limit * 6 // 10, 2**26)}B'")
        source.con.execute("SET preserve_insertion_order = false")
        source.con.register("covote_folder", folder)
        return _Splitter(source, folder.path, reading, truth, limit, threads).engine()
    except BaseException:
        folder.remove()
        raise


@dataclass(frozen=True)
class _Splitter:
    """The rows of a source -> encoded parts in a folder."""

    source: Source
    folder: Path
    reading: Reading
    truth: Truth | None
    limit: int
    threads: int

    def engine(self) -> ChunkedEngine:
        chosen = self.reading.choose_and_tell(self.source.names)
        item, who, what = self._rows(chosen)
        self._survey(item, who, what)
        labels = StoredColumn(self.source.con, "what", json_text=what.json_text)
        unseen = [] if self.truth is None else list(dict.fromkeys(self.truth.labels))
        classes, final = class_codes(labels, self.reading, unseen)
        self._number_labels(final)
        annotators = self._annotators(chosen, who)
        names = chosen.names if isinstance(chosen, Long) else (str(chosen.item or "item"), "annotator", "label")
        crowd = Crowd(tuple(annotators), tuple(classes), names, self.truth is not None)
        if isinstance(chosen, Wide) and not chosen.sure:
            self._check_cells(labels, chosen)
        n_rows = self.source.rows("SELECT sum(n) FROM met JOIN labels ON what = value WHERE final >= 0")[0][0]
        if not n_rows:
            msg = "The table holds no answers. Pass one with at least one labelled item."
            raise InputError(msg)
        parts = max(-(-int(n_rows) * _BYTES_A_ROW // self.limit), 1)
        self._split(parts, wide=isinstance(chosen, Wide), item=item)
        sizes = (len(annotators), len(classes))
        home = Disk(self.source.con, self.folder, parts, sizes, self.threads, self.limit, item)
        matched = [home.encode(p, crowd, self.reading.duplicates, self.truth) for p in range(parts)]
        if self.truth is not None and not any(matched):
            msg = f"The truth shares no item with the annotations: its first item is {self.truth.items[0]!r}. "
            raise InputError(msg + "Check that both use the same ids.")
        shutil.rmtree(self.folder / "rows")
        return ChunkedEngine(home, crowd)

    def _rows(self, chosen: Long | Wide) -> tuple[Column, Column, Column]:
        """A view `rows` of item, who, what and the number of the row; its columns."""
        con = self.source.con
        numbered = "(SELECT *, row_number() OVER () AS covote_row FROM source)"
        if isinstance(chosen, Long):
            found = columns_of(self.source, (chosen.item, chosen.annotator, chosen.label), ROLES)
            picked = [column.sql for column in found]
            columns = [replace(c, name=name) for c, name in zip(found, ("item", "who", "what"), strict=True)]
        else:
            cells = [str(name) for name in chosen.annotators]
            wanted = cells if chosen.item is None else [str(chosen.item), *cells]
            found = columns_of(self.source, wanted, ["item"] * (len(wanted) - len(cells)) + ["label"] * len(cells))
            kinds = {column.type for column in found[-len(cells) :]}
            if len(kinds) > 1:
                msg = f"The annotators' columns have different types ({', '.join(sorted(kinds))}). Use engine='memory'."
                raise InputError(msg)
            item = Column("item", "item", "BIGINT") if chosen.item is None else replace(found[0], name="item")
            columns = [item, Column("annotator", "who", "INTEGER"), replace(found[-1], name="what")]
            cell_list = f"unnest([{', '.join(identifier(name) for name in cells)}])"
            first = "covote_row - 1" if chosen.item is None else found[0].sql
            picked = [first, f"unnest(range({len(cells)}))::INTEGER", cell_list]
        listed = ", ".join(f"{sql} AS {column.name}" for sql, column in zip(picked, columns, strict=True))
        con.execute(f"CREATE VIEW rows AS SELECT {listed}, covote_row AS row FROM {numbered}")  # noqa: S608
        return columns[0], columns[1], columns[2]

    def _survey(self, item: Column, who: Column, what: Column) -> None:
        """Tables `met` (who, what, answers, first row, first row without item or annotator) and `what` of labels."""
        infinite = f"bool_or(isinf({item.sql}))" if item.type in ("FLOAT", "DOUBLE") else "false"
        self.source.con.execute(f"""
            CREATE TABLE met AS SELECT who, what, count(*) AS n, min(row) AS first, {infinite} AS infinite,
                min(row) FILTER (WHERE NOT {item.present}) AS no_item,
                min(row) FILTER (WHERE NOT {who.present}) AS no_who
            FROM rows WHERE {what.present} GROUP BY who, what""")  # noqa: S608
        self._numbered("what", "SELECT what AS value, min(first) AS first FROM met GROUP BY what")

    def _numbered(self, table: str, query: str) -> None:
        """A table (value, code) of the values of a query in the order of their first rows."""
        self.source.con.execute(f"""
            CREATE TABLE {table} AS
            SELECT value, (row_number() OVER (ORDER BY first) - 1)::INTEGER AS code FROM ({query}) ORDER BY code""")  # noqa: S608

    def _number_labels(self, final: NDArray[np.int32]) -> None:
        """A table `labels` (value, final): the class code of every label met, -1 for text that means no answer."""
        codes = {"code": np.arange(len(final), dtype=np.int32), "final": final}
        assert codes
        self.source.con.execute("CREATE TABLE labels AS SELECT value, final FROM what JOIN codes USING (code)")

    def _annotators(self, chosen: Long | Wide, who: Column) -> list[Any]:
        con = self.source.con
        answered = "FROM met JOIN labels ON what = value WHERE final >= 0"
        lost = self.source.rows(f"SELECT min(no_item), min(no_who), bool_or(infinite) {answered}")[0]
        for role, row in zip(ROLES, lost[:2], strict=False):
            if row is not None:
                raise InputError(lost_id(role, row))
        check_finite([float("inf")] if lost[2] else [], "item")
        if isinstance(chosen, Wide):
            return list(chosen.annotators)
        self._numbered("who", f"SELECT who AS value, min(first) AS first {answered} GROUP BY who")
        names = StoredColumn(con, "who", json_text=who.json_text).tolist()
        check_finite(names, "annotator")
        return names

    def _check_cells(self, labels: StoredColumn, wide: Wide) -> None:
        met: list[set[Any]] = [set() for _ in wide.annotators]
        values = labels.tolist()
        for m, code in self.source.rows("SELECT met.who, w.code FROM met JOIN what w ON met.what = w.value"):
            met[m].add(values[code])
        check_cells(met, wide.annotators)

    def _split(self, parts: int, *, wide: bool, item: Column) -> None:
        """The coded rows as Parquet files, by a hash of the item."""
        stored = "r.item::VARCHAR" if item.type in ("HUGEINT", "UHUGEINT") else "r.item"  # which Parquet has not
        if wide:
            coded = "r.who, coalesce(l.final, -1) AS what FROM rows r LEFT JOIN labels l ON r.what = l.value"
            coded += f" WHERE {replace(item, name='item').present.replace(item.sql, 'r.item')}"
        else:
            coded = (
                "w.code AS who, l.final AS what FROM rows r JOIN labels l ON r.what = l.value "
                "JOIN who w ON r.who = w.value WHERE l.final >= 0"
            )
        before, after = coded.split(" FROM ", 1)
        con = self.source.con
        con.execute("SET disabled_optimizers = 'join_order,build_side_probe_side'")  # the large side is read once
        con.execute(
            f"COPY (SELECT {stored} AS item, {before}, r.row, (hash(r.item) % {parts})::INTEGER AS part FROM {after}) "  # noqa: S608
            f"TO {literal(str(self.folder / 'rows'))} (FORMAT parquet, PARTITION_BY (part))"
        )
        con.execute("RESET disabled_optimizers")


def class_codes(labels: Any, reading: Reading, unseen: Iterable[Hashable] = ()) -> tuple[list[Any], NDArray[np.int32]]:
    """The classes in their order, those that only the gold names among them, and the class code of each label met."""
    met = list(labels)
    more = [label for label in unseen if label not in set(met)]
    known = Coded(np.arange(len(met) + len(more)), [*met, *more])
    ordered = order_classes(known, reading.classes)
    return list(ordered.values), ordered.codes[: len(met)].astype(np.int32)


@dataclass(frozen=True, eq=False)
class Disk:
    """The home of chunks in a folder: arrays of each part as .npy files, the ids of its items as Parquet."""

    con: Any
    folder: Path
    parts: int
    sizes: tuple[int, int]
    threads: int
    limit: int
    item: Column

    def encode(self, part: int, crowd: Crowd, duplicates: str, truth: Truth | None) -> bool:
        """Turn the rows of a part into arrays and ids; whether the truth knows one of the items."""
        self.con.execute("DROP TABLE IF EXISTS ids")
        rows = f"read_parquet({literal(str(self.folder / 'rows' / f'part={part}' / '*.parquet'))})"
        if not (self.folder / "rows" / f"part={part}").exists():
            rows = "(SELECT NULL::BIGINT AS item, 0 AS who, 0 AS what, 0 AS row WHERE false)"
        self.con.execute(f"""
            CREATE TABLE ids AS SELECT item AS value, (row_number() OVER (ORDER BY min(row)) - 1)::INTEGER AS code,
                min(row) AS first FROM {rows} GROUP BY item ORDER BY code""")  # noqa: S608
        order = "" if duplicates == "error" else "ORDER BY row"
        found = self.con.execute(
            f"SELECT ids.code, who, what FROM {rows} JOIN ids ON item = ids.value {order}"  # noqa: S608
        ).fetchnumpy()
        ids = StoredColumn(self.con, "ids", json_text=self.item.json_text)
        code, who, what = (np.asarray(found.pop(name)) for name in ("code", "who", "what"))
        if np.any(what < 0):  # items of a wide table that nobody answered
            code, who, what = (column[what >= 0] for column in (code, who, what))
        coded = Coded(code, ids), Coded(who, list(crowd.annotators)), Coded(what, list(crowd.classes))
        found = settle(*coded, duplicates=duplicates)
        self._save("offsets", part, found.offsets)
        self._save("answer", part, found.answer)
        firsts = self.con.execute("SELECT first FROM ids ORDER BY code").fetchnumpy()["first"]
        self._save("first", part, np.asarray(firsts, np.int64))
        self.con.execute(f"COPY (FROM ids ORDER BY code) TO {self._ids(part)} (FORMAT parquet)")
        if truth is None:
            return False
        gold = truth.matched(found)
        self._save("gold", part, gold)
        return bool((gold >= 0).any())

    def _save(self, name: str, part: int, array: NDArray[Any]) -> None:
        np.save(self.folder / f"{name}-{part}.npy", array)

    def _load(self, name: str, part: int) -> Any:
        path = self.folder / f"{name}-{part}.npy"
        return np.load(path) if path.exists() else None

    def _ids(self, part: int) -> str:
        return literal(str(self.folder / f"ids-{part}.parquet"))

    def _values(self, part: int) -> list[Any]:
        with self.con.cursor() as con:
            rows = con.execute(f"SELECT value FROM read_parquet({self._ids(part)}) ORDER BY code").fetchall()  # noqa: S608
        values = [value for (value,) in rows]
        return [json.loads(value) for value in values] if self.item.json_text else values

    def _keys(self, part: int) -> NDArray[np.uint64]:
        from covote.sampling import item_keys

        known = self._load("keys", part)
        if known is None:
            known = item_keys(self._values(part))
            self._save("keys", part, known)
        return known  # type: ignore[no-any-return]

    def chunk(self, part: int, keys: bool = False) -> Chunk:
        """One part in memory."""
        offsets, answer, first, gold = (self._load(name, part) for name in ("offsets", "answer", "first", "gold"))
        return Chunk.of(offsets, answer, self.sizes, first=first, gold=gold, keys=self._keys(part) if keys else None)

    def run(self, work: Work, keys: bool = False) -> Iterator[Sums]:
        return in_turn(lambda part: work(self.chunk(part, keys)), range(self.parts), self.threads)

    def table(self, work: Work, columns: Sequence[str], classes: Sequence[Hashable] | None) -> Any:
        """A DuckDB relation, items in the order of the input; the folder stays as long as it does."""
        key, *names = columns
        value = "value->>'$'" if self.item.json_text else f"value::{self.item.type}"
        run = tempfile.mkdtemp(dir=self.folder)
        for part, arrays in enumerate(self.run(work)):
            given: dict[str, Any] = {"code": np.arange(len(arrays[0]), dtype=np.int32)}
            picked = []
            for number, (name, array) in enumerate(zip(names, arrays, strict=True)):
                column = array if number or classes is None else Coded(array, list(classes))
                sql, given[f"c{number}"] = expression(f"c{number}", column)
                picked.append(f"{sql} AS {identifier(name)}")
            path = literal(str(Path(run) / f"{part}.parquet"))
            self.con.execute(
                f"COPY (SELECT {value} AS {identifier(key)}, {', '.join(picked)}, first AS covote_first "  # noqa: S608
                f"FROM read_parquet({self._ids(part)}) JOIN given USING (code)) TO {path} (FORMAT parquet)"
            )
        shown = ", ".join(map(identifier, columns))
        files = literal(str(Path(run) / "*.parquet"))
        return self.con.sql(f"SELECT {shown} FROM read_parquet({files}) ORDER BY covote_first")  # noqa: S608

    def ids(self) -> Sequence[Any]:
        return [value for part in range(self.parts) for value in self._values(part)]

    def free(self) -> int:
        return self.limit


def in_turn(work: Callable[[int], T], tasks: Iterable[int], threads: int) -> Iterator[T]:
    """Results in the order of the tasks; a few tasks ahead are worked on in threads."""
    from concurrent.futures import Future, ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[T]] = deque()
        for task in tasks:
            waiting.append(pool.submit(work, task))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        yield from (future.result() for future in waiting)
