"""`covote reproduce`: the paper's tables and figure again, to the terminal, CSV, one HTML page and PNG files."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from covote.cli import options as o
from covote.errors import InputError

if TYPE_CHECKING:
    from covote.experiments.grid import Cell, Grid
    from covote.experiments.results import Results
    from covote.experiments.run import Progress

PARTS = ("amt", "uci", "mse", "synthetic", "annotators")

What = Annotated[str, typer.Argument(metavar="[WHAT]", help=f"One of {', '.join(PARTS)}, or all.")]
Trials = Annotated[int | None, typer.Option(min=1, help="Trials of what is random (default: as in the paper).")]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Processes; as many as cores when not given.")]
CachePath = Annotated[
    Path | None, typer.Option("--cache", help="Folder of results so far (default: in the user's cache).")
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Measure everything again.")]
Fetch = Annotated[bool, typer.Option("--fetch/--no-fetch", help="Download data sets that are not here.")]
Docs = Annotated[Path | None, typer.Option("--docs", help="Also write the results as this Markdown file.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("reproduce")(reproduce)


def reproduce(
    what: What = "all",
    trials: Trials = None,
    jobs: Jobs = None,
    seed: o.Seed = 0,
    output: o.Output = "covote-reproduction",
    cache: CachePath = None,
    fresh: Fresh = False,
    fetch: Fetch = True,
    docs: Docs = None,
) -> None:
    """Run the paper's experiments again and put the numbers beside the paper's.

    What was measured is kept: a run that is stopped goes on where it was. Example: covote reproduce amt
    """
    from covote.datasets import cache_folder
    from covote.experiments.cache import ResultCache
    from covote.experiments.results import reproduce as run

    names = _chosen(what)
    if fetch:
        _fetch_missing(names)
    kept = ResultCache(cache or cache_folder() / "results", fresh=fresh)
    with _bars() as progress:
        results = run(
            names,
            seed=seed,
            trials=trials,
            jobs=jobs or os.cpu_count() or 1,
            cache=kept,
            progress=progress,
            command=_command(),
        )
    _show(results)
    written = write(results, Path(output), docs)
    typer.echo("Written: " + ", ".join(map(str, written)))


def _chosen(what: str) -> tuple[str, ...]:
    if what not in (*PARTS, "all"):
        msg = f"There is no experiment '{what}'. Experiments are: {', '.join(PARTS)}, all."
        raise InputError(msg)
    return PARTS if what == "all" else (what,)


def write(results: Results, folder: Path, docs: Path | None = None) -> list[Path]:
    """CSV files, the page, PNG files where plots can be drawn, and the page of the documentation if asked for."""
    from covote.experiments.markdown import markdown
    from covote.experiments.page import page
    from covote.experiments.plots import can_draw, png
    from covote.experiments.rows import to_csv
    from covote.output import write_folder, write_text

    files: dict[str, Any] = {"index.html": _text_writer(page(results))}
    for part in results.parts:
        files[f"{part.experiment.name}.csv"] = _text_writer(to_csv(part.rows))
    if can_draw():
        for plot in (p for several in results.plots.values() for p in several):
            files[f"{plot.name}.png"] = _bytes_writer(png(plot))
    written = write_folder(folder, files)
    if docs is not None:
        write_text(docs, markdown(results))
        written.append(docs)
    return written


def _text_writer(text: str) -> Callable[[Path], None]:
    return _bytes_writer(text.encode())


def _bytes_writer(content: bytes) -> Callable[[Path], None]:
    def write_bytes(path: Path) -> None:
        path.write_bytes(content)

    return write_bytes


def _command() -> str:
    return shlex.join(["covote", *sys.argv[1:]])


def _fetch_missing(names: Sequence[str]) -> None:
    """Download what the experiments need; what cannot be had is said, and shown as such in the tables."""
    from covote.cli.datasets import download_bar
    from covote.datasets import dataset_path, fetch_dataset
    from covote.errors import CovoteError
    from covote.experiments.catalogue import EXPERIMENTS

    for name in dict.fromkeys(d for n in names for d in EXPERIMENTS[n].datasets):
        try:
            dataset_path(name)
        except CovoteError:
            bar, move = download_bar()
            try:
                with bar:
                    fetch_dataset(name, progress=move)
            except CovoteError as error:
                typer.echo(f"Note: {error}", err=True)


@contextmanager
def _bars() -> Iterator[Callable[[str], Progress]]:
    """A bar an experiment on standard error; a line now and then where that is not a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description:<10}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[last]}"),
    )
    with Bar(*columns, console=console, disable=not console.is_terminal) as bar:

        def start(name: str) -> Progress:
            task = bar.add_task(name, total=None, last="")
            said = [-1]

            def move(done: int, total: int, last: str) -> None:
                bar.update(task, completed=done, total=total, last=last)
                tenth = 10 * done // max(total, 1)
                if not console.is_terminal and tenth > said[0]:
                    said[0] = tenth
                    typer.echo(f"{name}: {done} of {total} measured", err=True)

            return move

        yield start


def _show(results: Results) -> None:
    from covote.cli.show import console, show_table

    out = console()
    for part in results.parts:
        out.print(f"[bold]{part.experiment.title}[/bold]")
        for note in part.notes:
            out.print(note, markup=False)
        for grid in part.grids:
            out.print()
            for piece in _pieces(grid):
                _show_grid(grid, piece, out)
        out.print()
    if results.checks:
        words = {True: "reached", False: "missed", None: "not measured"}
        rows = [(c.name, c.bar, words[c.reached], c.found) for c in results.checks]
        show_table("What it must show", ("what", "bar", "", "measured"), rows, left=4)


def _pieces(grid: Grid) -> list[list[int]]:
    """Columns that fit beside each other: all where they are few, else those of one data set."""
    everything = list(range(len(grid.columns)))
    if len(everything) <= 5:
        return [everything]
    datasets = dict.fromkeys(c.dataset for c in grid.columns)
    pieces = [[i for i in everything if grid.columns[i].dataset == d] for d in datasets]
    return [piece[i : i + 5] for piece in pieces for i in range(0, len(piece), 5)]


def _show_grid(grid: Grid, piece: Sequence[int], out: Any) -> None:
    from rich.table import Table

    title = grid.title + (" (paper's in brackets)" if grid.has_paper else "")
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("")
    for i in piece:
        table.add_column(f"{grid.columns[i].dataset} {grid.columns[i].level}".strip(), justify="right")
    for method, cells in grid.lines:
        table.add_row(method, *(_cell(cells[i]) for i in piece))
    out.print(table)


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return ""
    ours = f"[bold]{cell.ours}[/bold]" if cell.best else cell.ours
    spread = f" {cell.spread}" if cell.spread.startswith("±") else ""
    return f"{ours}{spread}" + (f" ({cell.paper})" if cell.paper else "")
