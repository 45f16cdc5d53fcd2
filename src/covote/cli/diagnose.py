"""`covote diagnose`: files of answers in, a verdict with findings and advice out; with --what-if the calculator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from covote.cli import options as o
from covote.cli import reading_options as r
from covote.errors import InputError

Files = Annotated[
    list[str] | None,
    typer.Argument(metavar="[FILE...]", help="Files of answers, as for aggregate; none with --what-if."),
]
TruthFile = Annotated[str | None, typer.Option("--truth", help="File of items and true labels.")]
WithIntervals = Annotated[bool, typer.Option("--intervals", help="Add 90 % bootstrap intervals.")]
Replicates = Annotated[int, typer.Option(help="Refits behind the intervals.")]
WhatIf = Annotated[bool, typer.Option("--what-if", help="How many annotators and shared items the theory asks for.")]
Classes = Annotated[int | None, typer.Option(help="Classes, for --what-if without a file.")]
Answering = Annotated[float | None, typer.Option(help="Chance that an annotator answers an item, for --what-if.")]
Failure = Annotated[float, typer.Option(help="Chance of failure the calculator allows.")]
Page = Annotated[
    str | None,
    typer.Option("--output", "-o", help="Write to this file instead: JSON if its name ends in .json, else text."),
]
CountsFile = Annotated[str | None, typer.Option("--counts", help="Diagnose this file of `covote count` alone.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("diagnose")(r.with_export_options(diagnose))


def diagnose(
    files: Files = None,
    method: o.Method = "auto",
    truth: TruthFile = None,
    intervals: WithIntervals = False,
    replicates: Replicates = 200,
    counts: CountsFile = None,
    what_if: WhatIf = False,
    classes: Classes = None,
    answering: Answering = None,
    failure: Failure = 0.05,
    item: o.Item = None,
    annotator: o.Annotator = None,
    label: o.Label = None,
    columns: o.Columns = None,
    shape: o.Shape = "auto",
    duplicates: o.Duplicates = "error",
    delimiter: o.Delimiter = None,
    seed: o.Seed = 0,
    output: Page = None,
    json_: o.Json = False,
    export: r.Export = {},  # noqa: B006
) -> None:
    """Can this crowd be trusted? Who overlaps, whether the model is pinned down, who is a spammer, who copies whom.

    Example: covote diagnose votes.csv --truth gold.csv --intervals
    """
    reading = {**o.reading(item, annotator, label, columns, shape, duplicates, delimiter), **export}
    if what_if:
        _what_if(files, reading, classes, answering, failure, as_json=json_)
        return
    from covote.estimators.diagnosed import diagnose as look

    if counts is not None and files:
        msg = f"Both --counts {counts} and {files[0]} were given. Pass one of them."
        raise InputError(msg)
    if counts is None and not files:
        msg = "No file given. Pass a file of answers, --counts FILE, or --what-if with --classes."
        raise InputError(msg)
    if counts is not None:
        from covote.counts_file import load_counts

        found = look(load_counts(counts), seed=seed)
    else:
        options: dict[str, Any] = {
            "truth": truth,
            "intervals": intervals,
            "replicates": replicates,
            "method": method,
            "seed": seed,
        }
        found = look(o.table_argument(files or []), **options, **reading)
    as_json = json_ or (output is not None and output.endswith(".json"))
    text = json.dumps(found.as_dict(), indent=2) if as_json else found.summary()
    if output is None:
        typer.echo(text)
        return
    from covote.output import write_text

    write_text(Path(output), text + "\n")
    typer.echo(f"Verdict: {found.verdict.value}. {found.explanation}\nWritten: {output}")


def _what_if(
    files: list[str] | None,
    reading: dict[str, Any],
    classes: int | None,
    answering: float | None,
    failure: float,
    *,
    as_json: bool,
) -> None:
    """The calculator, with the classes and the share of answers of the file where there is one."""
    from covote.diagnosis.calculators import what_if

    if files:
        from covote.annotations import load

        a = load(o.table_argument(files), **reading).annotations
        classes = a.n_classes if classes is None else classes
        answering = a.n_labels / (a.n_items * a.n_annotators) if answering is None else answering
        typer.echo(
            f"{Path(files[0]).name}: {a.n_classes} classes, {a.n_annotators} annotators, each answers "
            f"{100 * a.n_labels / (a.n_items * a.n_annotators):.2f} % of {a.n_items} items.",
            err=as_json,
        )
    if classes is None:
        msg = "--what-if needs --classes K or a file of answers."
        raise InputError(msg)
    rows = what_if(classes, answering=0.2 if answering is None else answering, failure=failure)
    if as_json:
        typer.echo(json.dumps([row.as_dict() for row in rows], indent=2))
        return
    from covote.cli.show import show_table

    table = [(row.wish, row.source, row.unit, f"{row.needed:,}") for row in rows]
    show_table(
        f"Needed with {classes} classes, failing at most {100 * failure:g} % of the time",
        ("for", "by", "of", "needed"),
        table,
        left=3,
    )
