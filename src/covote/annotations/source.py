"""Data files or a DuckDB relation -> `Source`: a view named `source` with the columns that are needed."""

from __future__ import annotations

import importlib.util
import os
import re
import tempfile
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

from covote.annotations.encode import Coded
from covote.annotations.files import DataFile, find_files, open_file, start_of, with_head, with_plain_lines
from covote.annotations.frames import encode_cells
from covote.annotations.many_columns import MANY, TextTable, lines_query
from covote.annotations.stored import identifier, literal
from covote.annotations.text import Layout, sniff
from covote.errors import FileError, InputError, MissingExtraError

T = TypeVar("T")

MOST_IN_VIEW = 1000
"""Columns that DuckDB reads at a time; Parquet files of more are read by PyArrow where it is installed."""


@dataclass
class Source:
    """A DuckDB connection with a view `source`; `use` is called with the columns that are needed."""

    con: Any
    names: list[str]
    use: Callable[[Sequence[str]], None] = lambda _: None
    json_text: set[str] = field(default_factory=set)  # columns that hold JSON texts of several kinds
    once: bool = False  # whether the first `use` must name all columns that will be needed
    cells: Callable[[Sequence[str], int | None], list[Coded]] | None = None  # reads many columns better than SQL

    def types(self, names: Sequence[str]) -> list[str]:
        """SQL types of these columns."""
        relation = self.con.table("source").select(*(identifier(name) for name in names))
        return [str(kind) for kind in relation.types]

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query over `source`."""
        return self.con.execute(query).fetchall()  # type: ignore[no-any-return]


def connect() -> Any:
    """A connection of our own, which spills to the system's folder for temporary files."""
    import duckdb

    return duckdb.connect(config={"temp_directory": str(Path(tempfile.gettempdir()) / "covote-spill")})


def fetch_join(con: Any, query: str) -> dict[str, Any]:
    """The columns of a query as arrays, its joins made as they are written.

    DuckDB does not know the length of a text file, and would hold it in memory instead of the vocabulary it is
    joined with.
    """
    con.execute("SET disabled_optimizers = 'join_order,build_side_probe_side'")
    try:
        return con.execute(query).fetchnumpy()  # type: ignore[no-any-return]
    finally:
        con.execute("RESET disabled_optimizers")


def read_files(
    paths: Any,
    work: Callable[[Source], T],
    *,
    columns: Sequence[str] | str | None = None,
    delimiter: str | None = None,
    given: Iterable[Hashable] = (),
    width: int = 3,
) -> T:
    """Open the files as a source and do the work on it; what goes wrong with a file becomes a `FileError`."""
    import duckdb

    if isinstance(columns, str):
        columns = [name.strip() for name in columns.split(",")]
    delimiter = "\t" if delimiter in ("\\t", "tab") else delimiter
    options: dict[str, Any] = {"delimiter": delimiter, "columns": columns, "given": tuple(given), "width": width}
    names = find_files(paths)
    shown = "standard input" if names == ["-"] else names[0]
    shown += f" and {len(names) - 1} more" if len(names) > 1 else ""
    with tempfile.TemporaryDirectory(prefix="covote-") as folder:
        con = connect()
        try:
            files = _filled_files(names, Path(folder), con, shown)
            try:
                return work(_open(con, files, options, Path(folder)))
            except duckdb.Error as error:
                if "invalid state" not in str(error):  # what DuckDB says to lines ended in several ways
                    raise
            files = [with_plain_lines(f, Path(folder), sniff(f.head, **options).delimiter) for f in files]
            return work(_open(con, files, options, Path(folder)))
        except duckdb.OutOfMemoryException:
            raise
        except duckdb.Error as error:
            raise FileError(_sentence(str(error), shown)) from None


def _filled_files(names: Sequence[str], folder: Path, con: Any, shown: str) -> list[DataFile]:
    """The files that are not empty."""
    files = [_headed(open_file(name, folder), con) for name in names]
    files = [file for file in files if file.format not in ("text", "json") or file.head.strip()]
    if not files:
        msg = f"{start_of(shown)} holds no answers: it is empty. Pass a table with at least one labelled item."
        raise InputError(msg)
    return files


def read_relation(relation: Any, work: Callable[[Source], T]) -> T:
    """Do the work on a user's relation, which is evaluated once, on the user's connection, into a file of ours."""
    with tempfile.TemporaryDirectory(prefix="covote-") as folder:
        con = connect()
        path = str(Path(folder) / "rows.parquet")
        kinds = dict(zip(relation.columns, (str(kind) for kind in relation.types), strict=True))

        def use(names: Sequence[str]) -> None:
            wide = {name for name in names if kinds[name] in ("HUGEINT", "UHUGEINT")}  # which Parquet has not
            out = (f"{identifier(n)}::VARCHAR AS {identifier(n)}" if n in wide else identifier(n) for n in names)
            if not os.path.exists(path):
                relation.select(*_expressions(out)).write_parquet(path)
            back = (f"{identifier(n)}::{kinds[n]} AS {identifier(n)}" if n in wide else identifier(n) for n in names)
            query = f"SELECT {', '.join(back)} FROM read_parquet({literal(path)})"  # noqa: S608
            con.execute(f"CREATE OR REPLACE VIEW source AS {query}")

        return work(Source(con, list(relation.columns), use, once=True))


def _expressions(texts: Iterable[str]) -> list[Any]:
    import duckdb

    return [duckdb.SQLExpression(text) for text in texts]


def _open(con: Any, files: Sequence[DataFile], options: dict[str, Any], folder: Path) -> Source:
    formats = sorted({file.format for file in files})
    if len(formats) > 1:
        msg = f"The files are of different formats ({', '.join(formats)}). Pass files of one format."
        raise InputError(msg)
    con.execute("DROP VIEW IF EXISTS source")
    paths = ", ".join(literal(file.path) for file in files)
    if formats == ["text"]:
        layouts = [sniff(file.head, **options) for file in files]
        query = _text_query(files, layouts)
        if max(len(layout.names) for layout in layouts) > MANY:
            return _open_many_texts(con, TextTable(con, list(zip(files, layouts, strict=True))), query, folder)
    elif formats == ["json"]:
        from covote.annotations.json_lines import open_json

        compressions = {file.compression for file in files}
        return open_json(con, f"[{paths}]", min(compressions) if len(compressions) == 1 else "auto")
    elif formats == ["parquet"]:
        query = f"SELECT * FROM read_parquet([{paths}], union_by_name = {len(files) > 1})"  # noqa: S608
        schema = con.execute(f"SELECT name, num_children FROM parquet_schema([{paths}])").fetchall()  # noqa: S608
        if len(schema) > len(files) * (MANY + 1):
            return _open_many_columns(con, files, query, schema)
    else:
        table = _arrow_table(files)
        con.register("source", table)
        return Source(con, list(table.column_names), cells=partial(_arrow_cells, lambda: table))
    con.execute(f"CREATE VIEW source AS {query}")
    return Source(con, con.table("source").columns)


def _open_many_texts(con: Any, table: TextTable, query: str, folder: Path) -> Source:
    """A few columns are copied to a file of ours; DuckDB reads the table itself where all are wanted at once."""

    def use(names: Sequence[str]) -> None:
        part = query
        if len(names) <= MANY:
            path = folder / "few columns.csv"
            table.keep(names, path)
            part = _read_csv(Layout(",", tuple(names), header=False), "none", [str(path)])
        con.execute(f"CREATE OR REPLACE VIEW source AS {part}")

    return Source(con, table.names, use, cells=table.cells)


def _open_many_columns(con: Any, files: Sequence[DataFile], query: str, schema: Sequence[tuple[str, int]]) -> Source:
    """A source over Parquet files whose view has the columns in use only: DuckDB is slow to bind very many."""

    def use(names: Sequence[str]) -> None:
        listed = ", ".join(map(identifier, names))
        con.execute(f"CREATE OR REPLACE VIEW source AS {query.replace('*', listed, 1)}")

    nested = sum(bool(children) for _, children in schema) > len(files)
    names = con.sql(query).columns if nested else list(dict.fromkeys(name for name, children in schema if not children))
    arrow = len(names) > MOST_IN_VIEW and importlib.util.find_spec("pyarrow")
    return Source(
        con, names, use, cells=partial(_arrow_cells, cache(partial(_parquet_table, files))) if arrow else None
    )


def _parquet_table(files: Sequence[DataFile]) -> Any:
    import pyarrow as pa
    from pyarrow import parquet

    return pa.concat_tables([parquet.ParquetFile(file.path).read() for file in files], promote_options="default")


def _arrow_cells(table: Callable[[], Any], names: Sequence[str], limit: int | None) -> list[Coded]:
    found = table()
    return encode_cells(found if limit is None else found.slice(0, limit), names, "pyarrow")


def _text_query(files: Sequence[DataFile], layouts: Sequence[Layout]) -> str:
    pairs = zip(zip(layouts, (file.compression for file in files), strict=True), files, strict=True)
    parts = [
        _read_csv(layout, compression, [file.path for _, file in group])
        for (layout, compression), group in groupby(pairs, key=lambda pair: pair[0])
    ]
    return " UNION ALL BY NAME ".join(parts)


def _read_csv(layout: Layout, compression: str, paths: Sequence[str]) -> str:
    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in layout.names)
    return (
        f"SELECT * FROM read_csv([{', '.join(map(literal, paths))}], auto_detect = false, "  # noqa: S608
        f"delim = {literal(layout.delimiter)}, quote = '\"', escape = '\"', header = {layout.header}, "
        f"columns = {{{columns}}}, compression = {literal(compression)})"
    )


def _arrow_table(files: Sequence[DataFile]) -> Any:
    try:
        import pyarrow as pa
        from pyarrow import feather, ipc
    except ImportError:
        msg = "Reading Arrow files needs PyArrow, which is not installed. Run: pip install 'covote[frames]'"
        raise MissingExtraError(msg) from None
    tables = []
    for file in files:
        try:
            with open(file.path, "rb") as stream:
                streaming = stream.read(4) == b"\xff\xff\xff\xff"
            tables.append(
                ipc.open_stream(file.path).read_all() if streaming else feather.read_table(file.path, memory_map=True)
            )
        except (pa.ArrowException, OSError):
            msg = f"File '{file.shown}' is damaged or cut short. Fetch or write it again."
            raise FileError(msg) from None
    return pa.concat_tables(tables, promote_options="default")


def _headed(file: DataFile, con: Any) -> DataFile:
    if file.compression != "zstd":
        return file
    lines = con.execute(lines_query(file.path) + " LIMIT 1000").fetchall()
    return with_head(file, [line or "" for (line,) in lines])


def _sentence(message: str, shown: str) -> str:
    """One sentence for what DuckDB says in many."""
    name = start_of(shown)
    line = re.search(r"Line: (\d+)", message)
    where = f", line {line[1]}," if line else ""
    widths = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if widths:
        return f"{name}{where} has {widths[2]} columns, {widths[1]} are expected. Correct the line, or pass delimiter=."
    if "not utf-8" in message:
        return f"{name}{where} is not UTF-8 text. Convert it to UTF-8."
    if "unterminated quote" in message:
        return f"{name}{where} has a quote that does not close. Correct the line."
    if "JSON" in message:
        return f"{name} holds malformed JSON. Correct it or write it again."
    if "too small" in message or "magic" in message or "GZIP" in message or "ZSTD" in message or "arquet" in message:
        return f"{name} is damaged or cut short. Fetch or write it again."
    reason = message.split(": ", 1)[-1].split("\n", maxsplit=1)[0].strip().rstrip(".")
    return f"{name} cannot be read: {reason}. Check that it is a table."
