"""`covote rate`: files of answers, a class and a few true labels in, its share with an honest interval out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from covote.cli import options as o
from covote.cli import reading_options as r

if TYPE_CHECKING:
    from covote.rates import Rate

Positive = Annotated[str, typer.Option("--positive", help="The label whose share is asked for.")]
Gold = Annotated[str | None, typer.Option("--gold", help="File of true labels of some items, chosen at random.")]
By = Annotated[str | None, typer.Option("--by", help="Column that names the system of an item.")]
Pair = Annotated[str | None, typer.Option("--pair", help="Column of the input that systems share, to pair them.")]
Width = Annotated[float | None, typer.Option(help="How many more gold labels would make the interval this wide?")]
Sampled = Annotated[bool, typer.Option("--sampled", help="The items are a sample: the interval is for all like them.")]
Level = Annotated[float, typer.Option(help="Level of the intervals.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("rate")(r.with_export_options(rate))


def rate(
    files: o.Files,
    positive: Positive,
    gold: Gold = None,
    by: By = None,
    pair: Pair = None,
    method: o.Method = "auto",
    width: Width = None,
    sampled: Sampled = False,
    level: Level = 0.9,
    item: o.Item = None,
    annotator: o.Annotator = None,
    label: o.Label = None,
    columns: o.Columns = None,
    shape: o.Shape = "auto",
    duplicates: o.Duplicates = "error",
    delimiter: o.Delimiter = None,
    json_: o.Json = False,
    export: r.Export = {},  # noqa: B006
) -> None:
    """The share of items of a class with an honest interval, from judges corrected by a few true labels.

    Example: covote rate votes.csv --positive pass --gold human.csv --by system
    """
    from covote.verbs.rate import rate as measure

    found = measure(
        o.table_argument(files),
        positive=positive,
        gold=gold,
        by=by,
        pair=pair,
        method=method,
        width=width,
        sampled=sampled,
        level=level,
        **o.reading(item, annotator, label, columns, shape, duplicates, delimiter),
        **export,
    )
    if json_:
        typer.echo(json.dumps(found.as_dict(), indent=2, default=str))
    else:
        show(found)


def show(found: Rate) -> None:
    """The text of the summary."""
    typer.echo(found.summary())
