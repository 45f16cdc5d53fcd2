"""Parquet, Arrow, text and JSON alike -> records by column name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from covote.errors import FileError, MissingExtraError
from covote.importers.peek import Peek, cut, records, rows

BATCH = 10_000


def records_of(peek: Peek) -> Iterator[dict[str, Any]]:
    """The records of any table; cells of text that are JSON lists or records are read as such."""
    if peek.kind == "table":
        for row in rows(peek):
            yield {name: _cell(text) for name, text in row.items()}
    elif peek.kind in ("parquet", "arrow"):
        yield from _stored(peek)
    else:
        for number, record in enumerate(records(peek), start=1):
            if not isinstance(record, dict):
                raise cut(peek.path, f"record {number} is no object")
            yield record


def _cell(text: str) -> Any:
    if text[:1] in ("[", "{"):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def _stored(peek: Peek) -> Iterator[dict[str, Any]]:
    if peek.kind == "arrow":
        for batch in arrow_table(peek.path).to_batches(BATCH):
            yield from batch.to_pylist()
        return
    import duckdb

    with _duckdb(peek) as con:
        try:
            found = con.execute("SELECT * FROM read_parquet(?)", [peek.path])
            names = [column[0] for column in found.description]
            while chunk := found.fetchmany(BATCH):
                for row in chunk:
                    yield dict(zip(names, row, strict=True))
        except duckdb.Error as error:
            raise cut(peek.path, str(error).split("\n", maxsplit=1)[0]) from None


def _duckdb(peek: Peek) -> Any:
    import duckdb

    con = duckdb.connect()
    try:
        con.read_parquet(peek.path)
    except duckdb.Error:
        raise cut(peek.path, "it is no whole Parquet file") from None
    return con


def arrow_table(path: str) -> Any:
    """An Arrow file or stream as a PyArrow table."""
    try:
        import pyarrow as pa
        from pyarrow import ipc
    except ImportError:
        msg = "Reading Arrow files needs PyArrow, which is not installed. Run: pip install 'covote[frames]'"
        raise MissingExtraError(msg) from None
    try:
        with pa.memory_map(path) as stream:
            with open(path, "rb") as raw:
                magic = raw.read(6)
            reader = ipc.open_file(stream) if magic == b"ARROW1" else ipc.open_stream(stream)
            return named_classes(reader.read_all())
    except (pa.ArrowException, OSError):
        msg = f"File '{path}' is cut short or damaged. Export it again."
        raise FileError(msg) from None


def named_classes(table: Any) -> Any:
    """An Arrow table of Hugging Face with class names instead of their numbers, as its schema says."""
    import pyarrow as pa

    said = json.loads((table.schema.metadata or {}).get(b"huggingface", b"{}"))
    for name, feature in said.get("info", {}).get("features", {}).items():
        classes = feature.get("names") if isinstance(feature, dict) and feature.get("_type") == "ClassLabel" else None
        if classes and name in table.column_names:
            numbers = table[name].to_pylist()
            values = [None if number is None or number < 0 else classes[number] for number in numbers]
            table = table.set_column(table.column_names.index(name), name, pa.array(values, pa.string()))
    return table
