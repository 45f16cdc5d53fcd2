"""Options that several commands share, and the way from their text to values."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Annotated, Any

import typer

from covote.errors import InputError

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
Method = Annotated[str, typer.Option("--method", "-m", help="Name of the method; see docs/how-to-choose.md.")]
Set = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="An option of the method, e.g. --set tol=1e-6.")
]
Threads = Annotated[int | None, typer.Option(help="Threads; all cores when not given. The answer is the same.")]
Output = Annotated[str, typer.Option("--output", "-o", help="Folder for the results.")]
Format = Annotated[str, typer.Option(help="Format of the result tables: csv or parquet.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Seed = Annotated[int, typer.Option(help="Seed of everything random.")]


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
    return {
        "item": item,
        "annotator": annotator,
        "label": label,
        "columns": columns,
        "shape": shape,
        "duplicates": duplicates,
        "delimiter": tab.get(delimiter, delimiter) if delimiter else None,
    }


def table_argument(files: list[str]) -> Any:
    """One path or several, as `load` takes them."""
    return files[0] if len(files) == 1 else files


def method_options(settings: list[str] | None) -> dict[str, Any]:
    """NAME=VALUE texts to keyword arguments; values are Python literals, or text.

    >>> method_options(["tol=1e-6", "init=majority"])
    {'tol': 1e-06, 'init': 'majority'}
    """
    options = {}
    for text in settings or []:
        name, equals, value = text.partition("=")
        if not equals:
            msg = f"Option --set needs NAME=VALUE, got '{text}'."
            raise InputError(msg)
        try:
            options[name.strip()] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            options[name.strip()] = value
    return options


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> str:
    """`value` if it is one of `choices`, else one sentence."""
    if value not in choices:
        msg = f"Option --{name} must be one of {', '.join(choices)}, got '{value}'."
        raise InputError(msg)
    return value


def progress_bar(title: str) -> tuple[Any, Callable[[int, int, float], None]]:
    """A context manager that draws a bar on standard error when that is a terminal, and the callback that moves it."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    task = bar.add_task(title, total=None)

    def move(done: int, limit: int, _: float) -> None:
        bar.update(task, completed=done, total=limit)

    return bar, move
