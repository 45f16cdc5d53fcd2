"""Paths, globs or standard input -> files on disk of a known format that DuckDB or PyArrow can read."""

from __future__ import annotations

import bz2
import codecs
import csv
import glob
import gzip
import io
import lzma
import os
import re
import shutil
import sys
import zlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from covote.annotations.zst import is_whole
from covote.errors import FileError

HEAD = 2**16
"""Bytes looked at to tell the format of a file."""

LONGEST = 2**26
"""Bytes after which the look for the end of a line is given up."""

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"BZh", "bz2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"PAR1", "parquet"),
    (b"ARROW1", "arrow"),
    (b"FEA1", "arrow"),
    (b"\xff\xff\xff\xff", "arrow"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_OPEN: dict[str, Callable[[str], Any]] = {"gzip": gzip.open, "bz2": bz2.open, "xz": lzma.open}
_JSON = re.compile(r'\s*(\{\s*["}]|\[\s*[{\]])')


@dataclass(frozen=True)
class DataFile:
    """A file to read, and how."""

    shown: str  # the name in messages
    path: str
    format: str  # "text", "json", "parquet", "arrow"
    compression: str = "none"  # "none", "gzip", "zstd"
    head: str = ""  # its first lines, of text and JSON


def find_files(paths: Any) -> list[str]:
    """The files meant by a path, a glob or a list of those, in order; "-" stands for standard input."""
    out: list[str] = []
    for path in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
        text = os.fspath(path)
        found = [text] if text == "-" or os.path.exists(text) else sorted(glob.glob(text, recursive=True))
        if not found:
            is_glob = glob.has_magic(text)
            msg = (
                f"No file matches '{text}'. Check the pattern."
                if is_glob
                else f"File '{text}' not found. Check the path."
            )
            raise FileError(msg)
        out += found if len(found) == 1 else [file for file in found if not os.path.isdir(file)]
    return out


def open_file(path: str, scratch: Path) -> DataFile:
    """Find out the format by the first bytes; what DuckDB cannot read is unpacked into the folder `scratch`."""
    if path == "-":
        unpacked = _unpack(sys.stdin.buffer, scratch)
        return replace(open_file(unpacked, scratch), shown="standard input")
    if os.path.isdir(path):
        msg = f"'{path}' is a folder. Pass its files, for example '{os.path.join(path, '*.parquet')}'."
        raise FileError(msg)
    if glob.has_magic(path):  # DuckDB would look for other files
        return replace(open_file(_linked(path, scratch), scratch), shown=path)
    with reading(path):
        with open(path, "rb") as stream:
            start = _first_lines(stream)
        format = _format(start)
        if format == "gzip":
            with gzip.open(path) as stream:
                start = _first_lines(stream)
            if _format(start) == "text":
                return _text(path, "gzip", start)
        if format in _OPEN:
            with _OPEN[format](path) as stream:
                return replace(open_file(_unpack(stream, scratch), scratch), shown=path)
        if format == "utf-16":
            with open(path, encoding="utf-16", newline="") as text:
                return replace(open_file(_rewrite(text, scratch), scratch), shown=path)
        if format == "zstd" and not is_whole(path):
            raise EOFError
    if format == "zstd":
        return DataFile(path, path, "text", "zstd")
    return _text(path, "none", start) if format == "text" else DataFile(path, path, format)


def with_head(file: DataFile, lines: Sequence[str]) -> DataFile:
    """The file with its first lines, from which JSON is told from other text."""
    head = "\n".join(lines)
    return replace(file, head=head, format="json" if _JSON.match(head) else "text")


def with_plain_lines(file: DataFile, scratch: Path, delimiter: str) -> DataFile:
    """A copy of a text table with all lines ended alike, for files that mix the ways of ending a line."""
    if file.compression == "zstd":
        msg = f"{start_of(file.shown)} mixes ways of ending a line. Unpack it first."
        raise FileError(msg)
    unpack = _OPEN.get(file.compression, _open_plain)
    name = _name(scratch)
    with reading(file.shown), unpack(file.path) as stream, open(name, "w", encoding="utf-8", newline="") as out:
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
        writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
        writer.writerows(row for row in csv.reader(text, delimiter=delimiter, strict=True) if row)
    return replace(file, path=str(name), compression="none")


def _open_plain(path: str) -> IO[bytes]:
    return open(path, "rb")


class reading(AbstractContextManager[None]):  # noqa: N801  reads like a word of the language
    """Turn every failure to read a file into one `FileError`."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)):
            msg = f"{start_of(self.path)} is damaged or cut short. Unpack it by hand or fetch it again."
        elif isinstance(error, UnicodeDecodeError):
            msg = f"{start_of(self.path)} is not UTF-8 text. Convert it to UTF-8."
        elif isinstance(error, csv.Error):
            msg = f"{start_of(self.path)} is not a proper table: {error}. Correct it, or pass delimiter=."
        elif isinstance(error, OSError):
            msg = (
                f"{start_of(self.path)} cannot be read: {error.strerror or error}. Check the file and its permissions."
            )
        else:
            return
        raise FileError(msg) from None


def start_of(path: str) -> str:
    """How a sentence about a file begins."""
    return path.capitalize() if path == "standard input" else f"File '{path}'"


def _first_lines(stream: Any) -> bytes:
    """The first bytes, and those up to the end of the second line of a text with long lines."""
    start: bytes = stream.read(HEAD)
    while _format(start) == "text" and start.count(b"\n") < 2 and len(start) < LONGEST:
        more = stream.read(len(start))
        if not more:
            break
        start += more
    return start


def _format(start: bytes) -> str:
    return next((format for magic, format in _MAGIC if start.startswith(magic)), "text")


def _text(path: str, compression: str, start: bytes) -> DataFile:
    head = start.decode("utf-8-sig", errors="ignore")
    if len(start) >= HEAD and "\n" in head:
        head = head[: head.rfind("\n") + 1]  # the last line may be cut
    return DataFile(path, path, "json" if _JSON.match(head) else "text", compression, head)


def _unpack(stream: IO[bytes], scratch: Path) -> str:
    with open(_name(scratch), "wb") as out:
        shutil.copyfileobj(stream, out, 2**20)
    return out.name


def _linked(path: str, scratch: Path) -> str:
    name = _name(scratch)
    try:
        name.symlink_to(os.path.abspath(path))
    except OSError:  # a file system without links
        shutil.copy(path, name)
    return str(name)


def _rewrite(text: IO[str], scratch: Path) -> str:
    with open(_name(scratch), "w", encoding="utf-8", newline="") as out:
        shutil.copyfileobj(text, out, 2**20)
    return out.name


def _name(scratch: Path) -> Path:
    return scratch / f"part{len(list(scratch.iterdir()))}"
