"""A path -> `Peek`: what kind of file it is and its first record, looked at once for all importers."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any

from covote.errors import FileError, MissingExtraError
from covote.importers.json_stream import CutError, documents, elements

HEAD = 2**16
_OPEN: tuple[tuple[bytes, Any], ...] = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\x00", lzma.open))
_DELIMITERS = ",\t;|"


@dataclass(frozen=True)
class Peek:
    """A file or folder, its kind, and enough of its content to recognise it."""

    path: str
    kind: str  # "array", "lines", "object" (JSON); "table" (text), "parquet", "arrow", "zip", "folder", "other"
    names: tuple[str, ...] = ()  # columns, keys of the first record, members of a zip or a folder
    record: Any = field(default=None, repr=False)  # the first record of JSON
    document: Any = field(default=None, repr=False)  # a whole JSON object
    delimiter: str = ","

    def has(self, *names: str) -> bool:
        """Whether all these columns or keys are there."""
        return set(names) <= set(self.names)


def peek(path: str) -> Peek:
    """Look at a file without reading more than is needed."""
    if os.path.isdir(path):
        return Peek(path, "folder", tuple(sorted(os.listdir(path))))
    if path == "-" or not os.path.isfile(path):
        return Peek(path, "other")
    with _reading(path):
        with open(path, "rb") as raw:
            magic = raw.read(8)
        if magic.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(path) as archive:
                return Peek(path, "zip", tuple(archive.namelist()))
        for mark, kind in ((b"PAR1", "parquet"), (b"ARROW1", "arrow"), (b"\xff\xff\xff\xff", "arrow")):
            if magic.startswith(mark):
                return Peek(path, kind, _stored_names(path, kind))
        if magic.startswith(
            (b"\x28\xb5\x2f\xfd", b"\xff\xfe", b"\xfe\xff")
        ):  # zstd and UTF-16: left to the table reader
            return Peek(path, "other")
        try:
            with opened(path) as stream:
                head = stream.read(HEAD)
        except (UnicodeDecodeError, EOFError, OSError, lzma.LZMAError):  # the table reader says what is wrong
            return Peek(path, "other")
    start = head.lstrip()
    if start.startswith("["):
        return _array(path)
    return _object(path, head) if start.startswith("{") else _table(path, head)


def records(peek: Peek) -> Iterator[Any]:
    """The records of a JSON array or of JSON lines, one at a time; a cut file is an error with the place."""
    with _reading(peek.path), opened(peek.path) as stream:
        try:
            yield from elements(stream) if peek.kind == "array" else documents(stream)
        except CutError as error:
            raise cut(peek.path, str(error)) from None


def rows(peek: Peek) -> Iterator[dict[str, str]]:
    """The rows of a text table by column name; a row of another width is an error with its line."""
    with _reading(peek.path), opened(peek.path) as stream:
        reader = csv.reader(stream, delimiter=peek.delimiter)
        next(reader, None)
        for row in reader:
            if not any(row):
                continue
            if len(row) != len(peek.names):
                raise cut(peek.path, f"line {reader.line_num} has {len(row)} columns of {len(peek.names)}")
            yield dict(zip(peek.names, row, strict=True))


def cut(path: str, where: str) -> FileError:
    """The error about a file that ends or breaks in the middle."""
    return FileError(f"File '{path}' is cut short or damaged: {where}. Export it again.")


@contextmanager
def opened(path: str) -> Iterator[IO[str]]:
    """A text file, unpacked where it is compressed."""
    with open(path, "rb") as raw:
        magic = raw.read(6)
        raw.seek(0)
        unpack = next((open_ for start, open_ in _OPEN if magic.startswith(start)), None)
        stream = raw if unpack is None else unpack(raw)
        with io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
            yield text


@contextmanager
def _reading(path: str) -> Iterator[None]:
    csv.field_size_limit(2**30)
    try:
        yield
    except UnicodeDecodeError:
        msg = f"File '{path}' is not UTF-8 text. Convert it to UTF-8."
        raise FileError(msg) from None
    except (EOFError, zipfile.BadZipFile, lzma.LZMAError, gzip.BadGzipFile, csv.Error) as error:
        raise cut(path, str(error) or type(error).__name__) from None
    except OSError as error:
        msg = f"File '{path}' cannot be read: {error.strerror or error}. Check the file and its permissions."
        raise FileError(msg) from None


def _stored_names(path: str, kind: str) -> tuple[str, ...]:
    """The columns of a Parquet or Arrow file; none of a damaged one, about which the table reader says more."""
    if kind == "parquet":
        import duckdb

        try:
            with duckdb.connect() as con:
                return tuple(con.read_parquet(path).columns)
        except duckdb.Error:
            return ()
    try:
        from covote.importers.columnar import arrow_table

        return tuple(arrow_table(path).column_names)
    except (FileError, MissingExtraError):
        return ()


def _array(path: str) -> Peek:
    try:
        with _reading(path), opened(path) as stream:
            first = next(iter(elements(stream)), None)
    except CutError:
        first = None
    return Peek(path, "array", tuple(first) if isinstance(first, dict) else (), first)


def _object(path: str, head: str) -> Peek:
    """JSON lines, or one JSON object, which is read whole."""
    line = head.lstrip().split("\n", 1)[0]
    try:
        with _reading(path), opened(path) as stream:
            found = documents(stream)
            first = next(found)
            second = next(found, None) if len(head) < HEAD or "\n" in head[len(line) : HEAD] else None
    except CutError:
        first, second = _first_line(line), True
    if not isinstance(first, dict):
        return Peek(path, "other")
    if second is None:
        return Peek(path, "object", tuple(first), first, first)
    return Peek(path, "lines", tuple(first), first)


def _first_line(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _table(path: str, head: str) -> Peek:
    lines = head.splitlines()
    if not lines:
        return Peek(path, "other")
    delimiter = max(_DELIMITERS, key=lines[0].count)
    try:
        names = tuple(next(csv.reader(io.StringIO(head, newline=""), delimiter=delimiter)))
    except (csv.Error, StopIteration):
        return Peek(path, "other")
    return Peek(path, "table", names, delimiter=delimiter) if len(set(names)) == len(names) else Peek(path, "other")
