"""`covote count`: files of answers, or earlier counts, in; one file of pair counts out."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Annotated, Any

import typer

from covote.cli import options as o
from covote.cli import reading_options as r

if TYPE_CHECKING:
    from covote.counts import PairCounts

CountsFile = Annotated[str, typer.Option("--output", "-o", help="File for the counts, ending in .npz.")]
ByFile = Annotated[
    bool, typer.Option("--by-file", help="Read one file at a time: less memory; no item may be split over files.")
]
MaxPartners = Annotated[
    int | None, typer.Option(min=1, help="Count each annotator only with this many others, those it shares most with.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("count")(r.with_export_options(count))


def count(
    files: o.Files,
    output: CountsFile = "counts.npz",
    by_file: ByFile = False,
    max_partners: MaxPartners = None,
    item: o.Item = None,
    annotator: o.Annotator = None,
    label: o.Label = None,
    columns: o.Columns = None,
    shape: o.Shape = "auto",
    duplicates: o.Duplicates = "error",
    delimiter: o.Delimiter = None,
    threads: o.Threads = None,
    export: r.Export = {},  # noqa: B006
) -> None:
    """Count how often the answers of each pair of annotators met: all that the paper's methods need to learn.

    Counts of disjoint sets of items add up, so files of counts may stand among the files of answers.

    Example: covote count monday.npz tuesday.parquet -o counts.npz
    """
    from covote.counts_file import is_counts_file, load_counts, save_counts
    from covote.errors import InputError

    if not is_counts_file(output):
        msg = f"The output '{output}' must end in .npz. Pass for example -o counts.npz."
        raise InputError(msg)
    reading = {**o.reading(item, annotator, label, columns, shape, duplicates, delimiter), **export}
    answers = [name for name in files if not is_counts_file(name)]
    tables: list[Any] = list(answers) if by_file else [o.table_argument(answers)] if answers else []
    parts = [load_counts(name) for name in files if is_counts_file(name)]
    parts += [_counted(table, reading, threads, max_partners) for table in tables]
    total = reduce(add, parts)
    save_counts(total, output)
    who = f"{total.n_annotators:,} annotators, {total.n_pairs:,} pairs that share items"
    typer.echo(f"{total.n_items:,.0f} items, {who}: {output}")


def _counted(table: Any, reading: dict[str, Any], threads: int | None, max_partners: int | None) -> PairCounts:
    from covote.annotations import load
    from covote.engines.memory import MemoryEngine

    return MemoryEngine(load(table, **reading).annotations, threads=threads).pair_counts(max_partners)
