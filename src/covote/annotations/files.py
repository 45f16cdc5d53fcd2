"""Paths, globs or standard input -> a DuckDB relation with the table's columns."""

from __future__ import annotations

import glob
import gzip
import os
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any

from covote.annotations.text import sniff
from covote.errors import FileError


def is_paths(table: Any) -> bool:
    """Whether this is a path or a list of paths."""
    if isinstance(table, (str, os.PathLike)):
        return True
    return isinstance(table, (list, tuple)) and bool(table) and all(isinstance(p, (str, os.PathLike)) for p in table)


def find_files(paths: Any) -> list[str]:
    """The files meant by a path, a glob or a list of those, in order."""
    out: list[str] = []
    for path in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
        text = os.fspath(path)
        found = [text] if os.path.exists(text) else sorted(glob.glob(text, recursive=True))
        if not found:
            msg = f"File '{text}' not found. Check the path."
            raise FileError(msg)
        out += found
    return out


def open_files(
    paths: Any,
    con: Any,
    *,
    columns: Sequence[str] | None,
    delimiter: str | None,
    given: Iterable[Hashable],
    width: int = 3,
) -> Any:
    """A relation over the files."""
    files = find_files(paths)
    if Path(files[0]).suffix in (".parquet", ".pq"):
        return con.read_parquet(files)
    opened = gzip.open(files[0]) if files[0].endswith(".gz") else open(files[0], "rb")
    with opened as stream:
        head = stream.read(2**16).decode("utf-8-sig", errors="ignore")
    if len(head) > 2**15:
        head = head[: head.rfind("\n") + 1]
    layout = sniff(head, delimiter=delimiter, columns=columns, given=given, width=width)
    return con.read_csv(
        files,
        sep=layout.delimiter,
        header=layout.header,
        quotechar='"',
        escapechar='"',
        columns=dict.fromkeys(layout.names, "VARCHAR"),
        auto_detect=False,
    )


def columns_of(columns: Sequence[str] | str | None) -> tuple[str, ...] | None:
    """Column names given as a sequence or as text with commas."""
    if columns is None:
        return None
    return tuple(name.strip() for name in columns.split(",")) if isinstance(columns, str) else tuple(columns)
