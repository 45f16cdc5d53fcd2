"""`covote compare`: several methods on one file, ranked by error where truth is given, else by agreement."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from covote.cli import options as o
from covote.cli import reading_options as r

if TYPE_CHECKING:
    from covote.estimators.compare import Trial

TruthFile = Annotated[str | None, typer.Option("--truth", help="File of items and true labels, to score against.")]
Methods = Annotated[str | None, typer.Option(help="Methods to run, separated by commas; all when not given.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("compare")(r.with_export_options(compare))


def compare(
    files: o.Files,
    truth: TruthFile = None,
    methods: Methods = None,
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
    """Run several methods on one file and rank them: by error with --truth, else by agreement with each other.

    Example: covote compare votes.csv --truth truth.csv
    """
    from covote.annotations import load, load_truth
    from covote.estimators.compare import compare as run

    loaded = load(
        o.table_argument(files), **o.reading(item, annotator, label, columns, shape, duplicates, delimiter), **export
    )
    o.check_crowd(loaded.annotations.annotators, loaded.annotations.classes)
    codes = None if truth is None else load_truth(truth).codes(loaded.annotations)
    names = None if methods is None else [m.strip() for m in methods.split(",") if m.strip()]
    check_names(names)
    bar = o.Bar("Comparing")
    with bar:
        trials = run(loaded, truth=codes, methods=names, on_start=bar.rename)
    if json_:
        typer.echo(json.dumps([facts(t) for t in trials], indent=2))
    else:
        show(trials, scored=codes is not None, n_truth=0 if codes is None else int((codes != -1).sum()))


def check_names(names: list[str] | None) -> None:
    """Raise for a name that is no method, before any work is done."""
    from covote.estimators.registry import make

    for name in names or []:
        make(name)


def facts(trial: Trial) -> dict[str, Any]:
    """Plain values for JSON."""
    error = None if trial.error is None else vars(trial.error)
    shown = ("method", "ran", "status", "seconds", "log_loss", "agreement")
    return {**{name: getattr(trial, name) for name in shown}, "error": error}


def show(trials: list[Trial], *, scored: bool, n_truth: int) -> None:
    """The ranking as a table."""
    from covote.cli.show import console, show_table

    rows = []
    for t in trials:
        error = "-" if t.error is None else f"{100 * t.error.value:.2f} %"
        interval = "-" if t.error is None else f"{100 * t.error.low:.1f} - {100 * t.error.high:.1f}"
        loss = "-" if t.log_loss is None else f"{t.log_loss:.3f}"
        agreement = "-" if t.agreement is None else f"{100 * t.agreement:.1f} %"
        score = (error, interval, loss) if scored else ()
        status = t.status.split(":")[0].split(",")[0] if t.ran else "did not run"
        rows.append((t.method, *score, agreement, f"{t.seconds:.2f}" if t.ran else "-", status))
    head = ("error", "90 % interval", "log-loss") if scored else ()
    title = f"Methods by error on {n_truth:,} items with truth" if scored else "Methods by agreement with the others"
    table_columns = ("method", *head, "agreement", "seconds", "status")
    show_table(title, table_columns, rows)
    for t in trials:
        if not t.ran:
            console().print(f"{t.method} did not run: {t.status}", markup=False, soft_wrap=True)
    if scored:
        console().print("Intervals that overlap mean that the data cannot tell the methods apart.")
