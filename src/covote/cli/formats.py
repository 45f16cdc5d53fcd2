"""`covote formats`: the files that covote reads, what it takes from each, and an example."""

from __future__ import annotations

import json

import typer

from covote.cli import options as o


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("formats")(formats)


def formats(json_: o.Json = False) -> None:
    """List the tools whose files covote recognises by their content, with an example each.

    Example: covote formats
    """
    from covote.importers import formats as known

    if json_:
        rows = [{"name": f.name, "title": f.title, "holds": f.holds, "example": f.example} for f in known()]
        typer.echo(json.dumps(rows, indent=2))
        return
    for format in known():
        typer.echo(f"{format.name}: {format.title}\n    item / annotator / label: {format.holds}")
        if format.annotators:
            typer.echo(f"    --annotators: {', '.join(format.annotators)}")
        typer.echo(f"    {format.example}")
    typer.echo(
        "table: any other CSV, TSV, JSON, JSON lines, Parquet or Arrow file\n"
        "    item / annotator / label: columns, recognised by name or named\n"
        "    covote aggregate table.csv --item id --annotators 'judge_*'"
    )
