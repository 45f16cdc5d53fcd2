"""Result files: columns in, CSV or Parquet out, written under a temporary name and moved into place."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from covote.annotations.tables import make_table
from covote.errors import FileError

Writer = Callable[[Path], None]


def write_folder(folder: Path, files: Mapping[str, Writer]) -> list[Path]:
    """Let each writer make its file; all files are moved into `folder` only when all are made."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        workplace = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise _cannot_write(folder, error) from error
    try:
        for name, write in files.items():
            write(workplace / name)
        folder.mkdir(exist_ok=True)
        return [(workplace / name).replace(folder / name) for name in files]
    except OSError as error:
        raise _cannot_write(folder, error) from error
    finally:
        shutil.rmtree(workplace, ignore_errors=True)


def relation_writer(table: Any, format: str) -> Writer:
    """Writes a DuckDB relation as one file, or a Spark frame as a folder of parts."""

    def write(path: Path) -> None:
        if hasattr(table, "write_csv"):
            table.write_parquet(str(path)) if format == "parquet" else table.write_csv(str(path), header=True)
        else:
            writer = table.write.mode("error")
            writer.parquet(str(path)) if format == "parquet" else writer.option("header", True).csv(str(path))

    return write


def table_writer(columns: Mapping[str, Any], format: str, *, origin: Any = None) -> Writer:
    """Writes columns of equal length as CSV or Parquet; `origin` is where the ids of the first column live."""
    key, *others = columns

    def write(path: Path) -> None:
        rest = {name: columns[name] for name in others}
        relation_writer(make_table("duckdb", key, columns[key], rest, origin=origin), format)(path)

    return write


def write_text(path: Path, text: str) -> None:
    """Write one text file; it appears whole or not at all."""
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):  # the folder itself may be missing, or a file
            temporary.unlink()
        raise _cannot_write(path, error) from error


def _cannot_write(path: Path, error: OSError) -> FileError:
    return FileError(f"Cannot write to {path}: {error.strerror or error}. Choose a place that can be written.")
