"""`covote look`: what a file is, what it holds and what covote would do with it; nothing is written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import typer

from covote.cli import options as o
from covote.cli import reading_options as r


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("look")(r.with_export_options(look))


def look(
    files: o.Files,
    item: o.Item = None,
    annotator: o.Annotator = None,
    label: o.Label = None,
    json_: o.Json = False,
    export: r.Export = {},  # noqa: B006
) -> None:
    """Say what a file is, which questions, annotators and answers it holds, and what covote would read; change nothing.

    Example: covote look export.json
    """
    from covote.annotations.looked import look_at

    found = look_at(o.table_argument(files), item=item, annotator=annotator, label=label, **export)
    if json_:
        typer.echo(json.dumps(found.as_dict(), indent=2, default=str))
        return
    typer.echo(f"Format: {found.format}")
    for name, facts in found.questions.items():
        typer.echo(f"Question {name}: {_facts(facts)}")
    if found.left_out:
        typer.echo("Left out: " + ", ".join(f"{count:,} {reason}" for reason, count in found.left_out.items()))
    if found.reading:
        typer.echo(f"covote reads: {found.reading}")
    if found.refusal:
        from covote.cli.app import in_options

        typer.echo(f"covote asks: {in_options(found.refusal)}")


def _facts(facts: Mapping[str, Any]) -> str:
    labels = ", ".join(map(str, facts["labels"][:10])) + (", ..." if len(facts["labels"]) > 10 else "")
    gold = f", gold for {facts['gold']:,}" if facts["gold"] else ""
    return (
        f"{facts['answers']:,} answers, {facts['items']:,} items, {facts['annotators']:,} annotators{gold}; "
        f"{len(facts['labels']):,} labels: {labels}"
    )
