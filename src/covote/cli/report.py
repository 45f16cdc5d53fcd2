"""`covote report`: a saved model and files of answers in, one HTML page that shows what the crowd said out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from covote.cli import options as o
from covote.cli import reading_options as r
from covote.cli.compare import check_names
from covote.errors import MissingExtraError

ModelFile = Annotated[str, typer.Argument(metavar="MODEL", help="The model.npz that covote aggregate wrote.")]
Page = Annotated[str, typer.Option("--output", "-o", help="Path of the page.")]
ReportFile = Annotated[str | None, typer.Option("--report", help="Also write one HTML page that shows the result.")]
Title = Annotated[str | None, typer.Option(help="Title of the page.")]
TruthFile = Annotated[str | None, typer.Option("--truth", help="File of items and true labels, to show calibration.")]
Figures = Annotated[str | None, typer.Option(help="Folder for every chart as SVG and PNG (needs covote[report]).")]
Compared = Annotated[
    str | None,
    typer.Option(metavar="METHODS", help="Other methods to run for comparison, separated by commas; or: all."),
]
JsonOut = Annotated[bool, typer.Option("--json", help="Print everything on the page as JSON.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("report")(r.with_export_options(report))


def report(
    model: ModelFile,
    files: o.Files,
    output: Page = "report.html",
    title: Title = None,
    truth: TruthFile = None,
    figures: Figures = None,
    compare: Compared = None,
    item: o.Item = None,
    annotator: o.Annotator = None,
    label: o.Label = None,
    columns: o.Columns = None,
    shape: o.Shape = "auto",
    duplicates: o.Duplicates = "error",
    delimiter: o.Delimiter = None,
    json_: JsonOut = False,
    export: r.Export = {},  # noqa: B006
) -> None:
    """Label the answers by a saved model and write one page to look at: labels, doubts, annotators, whom to trust.

    Example: covote report covote-output/model.npz votes.csv -o report.html
    """
    from covote.model_file import load_model
    from covote.report import write_report
    from covote.report.saved import relabelled

    methods = compare == "all" or [m.strip() for m in (compare or "").split(",") if m.strip()]
    check_names(None if methods is True else methods)
    o.check_writable(file=output)
    check_figures(figures)
    reading = {**o.reading(item, annotator, label, columns, shape, duplicates, delimiter), **export}
    bar = o.Bar("Writing the report")
    with bar:
        estimator = relabelled(load_model(model), o.table_argument(files), **reading)
        made = write_report(
            estimator,
            output,
            method=f"the model {Path(model).name}",
            truth=truth,
            figures=figures,
            title=title or default_title(files),
            compare=methods,
        )
    if json_:
        typer.echo(made.facts.as_json())
        return
    typer.echo("\n".join(made.facts.outcome.sentences))
    typer.echo(f"Written: {output}" + (f", figures in {figures}" if figures else ""))


def check_figures(folder: str | None) -> None:
    """Raise before any work where charts are asked for and cannot be drawn, or not be written."""
    if folder is None:
        return
    from covote.report.draw import HOW_TO_DRAW, can_draw

    o.check_writable(folder=folder)
    if not can_draw():
        raise MissingExtraError(HOW_TO_DRAW)


def default_title(files: list[str]) -> str:
    """The title of a report: what the crowd said, and in which file."""
    return f"What the crowd said: {Path(files[0]).name}" + (f" and {len(files) - 1} more" if len(files) > 1 else "")
