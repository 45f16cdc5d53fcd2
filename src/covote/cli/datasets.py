"""`covote datasets`: list the data sets, say where one is, download those of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

Names = Annotated[
    list[str], typer.Argument(metavar="NAME...", help="Names of data sets, or 'all' for those of the paper.")
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of a data set.")]
Into = Annotated[
    Path | None, typer.Option("--into", help="Data folder to download to (default: COVOTE_DATA, else the cache).")
]

commands = typer.Typer(no_args_is_help=True, help="The data sets of the paper, and any in a data folder.")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(commands, name="datasets")


@commands.command("list")
def list_sets() -> None:
    """List every data set that has a name, its size, and where it is."""
    from covote.cli.show import console, show_table
    from covote.datasets import KNOWN, data_folders, dataset_names

    rows: list[Any] = []
    for name in dataset_names():
        known = KNOWN.get(name)
        sizes = (known.n_items, known.n_annotators, known.n_classes) if known else ("", "", "")
        rows.append((name, _place(name), *(f"{n:,}" if isinstance(n, int) else n for n in sizes)))
    columns = ("name", "where", "items", "annotators", "classes")
    show_table("Data sets (sizes as in the paper)", columns, rows, left=2)
    out = console()
    out.print("Looked for in: " + ", ".join(str(f) for f in data_folders()), markup=False, soft_wrap=True)


@commands.command("path")
def path(name: Name) -> None:
    """Print the folder that holds a data set.

    Example: covote aggregate $(covote datasets path web)/crowd.txt --columns item,annotator,label
    """
    from covote.datasets import dataset_path

    typer.echo(str(dataset_path(name)))


@commands.command("fetch")
def fetch(names: Names, into: Into = None) -> None:
    """Download data sets of the paper from their public origins; what is there already is left alone.

    Example: covote datasets fetch bluebird web
    """
    from covote.datasets import KNOWN, fetch_dataset

    wanted = list(KNOWN) if names == ["all"] else names
    for name in wanted:
        bar, move = download_bar()
        with bar:
            place = fetch_dataset(name, into, progress=move)
        typer.echo(f"{name}: {place}")


def download_bar() -> tuple[Any, Any]:
    """A bar a file on standard error when that is a terminal, and the callback `(file, bytes, bytes in all)`."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    tasks: dict[str, Any] = {}

    def move(file: str, done: int, total: int) -> None:
        if file not in tasks:
            tasks[file] = bar.add_task(file)
        bar.update(tasks[file], completed=done, total=total or None)

    return bar, move


def _place(name: str) -> str:
    from covote.datasets import dataset_path
    from covote.errors import CovoteError

    try:
        return str(dataset_path(name))
    except CovoteError:
        return f"not here: covote datasets fetch {name}"
