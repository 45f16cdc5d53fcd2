"""Options that several commands share, and the way from their text to values."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Annotated, Any, Self

import typer

from covote.errors import FileError, InputError

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...", help="CSV, TSV, JSONL, Parquet or Arrow, compressed or not; globs; - for standard input."
    ),
]
Item = Annotated[str | None, typer.Option(help="Name of the item column (recognised when not given).")]
Annotator = Annotated[str | None, typer.Option(help="Name of the annotator column.")]
Label = Annotated[str | None, typer.Option(help="Name of the label column.")]
Columns = Annotated[str | None, typer.Option(help="Names for a file without header, e.g. item,annotator,label.")]
Shape = Annotated[str, typer.Option(help="auto, long (a row an answer) or wide (a row an item, a column an annotator)")]
Duplicates = Annotated[
    str, typer.Option(help="When an annotator gives an item two different labels: error, first, last or majority.")
]
Delimiter = Annotated[str | None, typer.Option(help="Field delimiter of text files (detected when not given).")]
Method = Annotated[str, typer.Option("--method", "-m", help="Name of the method: auto, or one of covote.METHODS.")]
Set = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="An option of the method, e.g. --set tol=1e-6.")
]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads; all cores when not given. The answer is the same.")]
Output = Annotated[str, typer.Option("--output", "-o", help="Folder for the results.")]
Format = Annotated[str, typer.Option(help="Format of the result tables: csv or parquet.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of everything random.")]


def reading(
    item: str | None,
    annotator: str | None,
    label: str | None,
    columns: str | None,
    shape: str,
    duplicates: str,
    delimiter: str | None,
) -> dict[str, Any]:
    """The options of `covote.annotations.load`."""
    tab = {"\\t": "\t", "tab": "\t"}
    _check_columns(columns)
    return {
        "item": item,
        "annotator": annotator,
        "label": label,
        "columns": columns,
        "shape": shape,
        "duplicates": duplicates,
        "delimiter": tab.get(delimiter, delimiter) if delimiter else None,
    }


def _check_columns(columns: str | None) -> None:
    """Raise for a list of names that has an empty one, or one twice."""
    names = [] if columns is None else [name.strip() for name in columns.split(",")]
    if "" in names:
        msg = f"Option --columns has an empty name in '{columns}'. Give every column a name, e.g. item,annotator,label."
        raise InputError(msg)
    folded = [name.casefold() for name in names]  # DuckDB does not tell names apart by case
    twice = next((name for name, plain in zip(names, folded, strict=True) if folded.count(plain) > 1), None)
    if twice is not None:
        msg = f"Option --columns names '{twice}' twice in '{columns}'. Give every column its own name."
        raise InputError(msg)


def table_argument(files: list[str]) -> Any:
    """One path or several, as `load` takes them."""
    return files[0] if len(files) == 1 else files


def method_options(settings: list[str] | None) -> dict[str, Any]:
    """NAME=VALUE texts to keyword arguments; values are Python literals (true, false and none in any case), or text.

    >>> method_options(["tol=1e-6", "init=majority", "accelerate=false"])
    {'tol': 1e-06, 'init': 'majority', 'accelerate': False}
    """
    words = {"true": True, "false": False, "none": None}
    options: dict[str, Any] = {}
    for text in settings or []:
        name, equals, value = text.partition("=")
        if not equals:
            msg = f"Option --set needs NAME=VALUE, got '{text}'."
            raise InputError(msg)
        try:
            options[name.strip()] = ast.literal_eval(value)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):  # all that odd text can cause
            options[name.strip()] = words.get(value.lower(), value)
    return options


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> str:
    """`value` if it is one of `choices`, else one sentence."""
    if value not in choices:
        msg = f"Option --{name} must be one of {', '.join(choices)}, got '{value}'."
        raise InputError(msg)
    return value


def check_writable(*, folder: str | None = None, file: str | None = None) -> None:
    """Raise before any work where a result could not be written: below a file, or in a closed folder."""
    for path, is_folder in ((folder, True), (file, False)):
        why = None if path is None else _obstacle(Path(path), is_folder=is_folder)
        if why is not None:
            msg = f"Cannot write to {path}: {why}. Choose a place that can be written."
            raise FileError(msg)


def _obstacle(path: Path, *, is_folder: bool) -> str | None:
    if is_folder and path.is_file():
        return "it is a file, and a folder is needed"
    if not is_folder and path.is_dir():
        return "it is a folder, and a file is needed"
    above = next((p for p in path.absolute().parents if os.path.lexists(p)), path)
    if not above.is_dir():
        return f"{above} is no folder"
    return None if os.access(above, os.W_OK | os.X_OK) else f"{above} is closed to writing"


def check_crowd(annotators: Sequence[Hashable], classes: Sequence[Hashable]) -> None:
    """Raise where there is nothing to aggregate: one annotator, or one label throughout."""
    if len(annotators) < 2:
        msg = f"Only one annotator ({annotators[0]}) answered. Pass the answers of at least two."
        raise InputError(msg)
    if len(classes) < 2:
        msg = f"Every answer is '{classes[0]}'. There is nothing to aggregate: pass answers with at least two labels."
        raise InputError(msg)


class Bar:
    """A progress bar on standard error while the work goes on; draws nothing where that is no terminal."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._drawn: Any = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            shown = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}"), TimeElapsedColumn())
            self._drawn = Progress(*shown, console=Console(stderr=True), transient=True)
            self._drawn.add_task(self._title, total=None)
            self._drawn.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._drawn is not None:
            self._drawn.stop()

    def move(self, done: int, limit: int, value: float) -> None:
        """Called by the loop after each iteration."""
        del value
        if self._drawn is not None:
            self._drawn.update(self._drawn.task_ids[0], completed=done, total=limit)

    def rename(self, title: str) -> None:
        """Say what is being done now."""
        if self._drawn is not None:
            self._drawn.update(self._drawn.task_ids[0], description=title)
