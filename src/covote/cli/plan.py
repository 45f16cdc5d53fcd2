"""`covote plan`: files of answers and a budget in, a CSV of assignments with the reason of each out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from covote.cli import options as o
from covote.errors import InputError

if TYPE_CHECKING:
    from covote.planning import Plan

Files = Annotated[
    list[str] | None, typer.Argument(metavar="[FILE...]", help="Files of answers so far; none to start from nothing.")
]
Budget = Annotated[int, typer.Option("--budget", "-b", help="Answers to ask for.")]
Page = Annotated[str, typer.Option("--output", "-o", help="CSV file for the assignments.")]
People = Annotated[
    str | None, typer.Option("--annotators", help="Who may be asked: names with commas, or a file with one a line.")
]
Items = Annotated[str | None, typer.Option("--items", help="Further items: names with commas, or a file, one a line.")]
Capacity = Annotated[
    str | None, typer.Option(help="Most answers an annotator may give: a number, or a CSV file of annotator,capacity.")
]
Exclude = Annotated[str | None, typer.Option(help="CSV file of item,annotator never to ask; an empty field means any.")]
InProgress = Annotated[
    str | None, typer.Option("--in-progress", help="CSV file of item,annotator already asked, not answered yet.")
]
Overlap = Annotated[
    int | None, typer.Option(help="Items every pair of annotators should share; 15 a class by default.")
]
ModelFile = Annotated[str | None, typer.Option("--model", help="A saved model.npz to believe instead of a new fit.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("plan")(plan)


def plan(
    files: Files = None,
    budget: Budget = 500,
    output: Page = "plan.csv",
    annotators: People = None,
    items: Items = None,
    capacity: Capacity = None,
    exclude: Exclude = None,
    in_progress: InProgress = None,
    overlap: Overlap = None,
    model: ModelFile = None,
    item: o.Item = None,
    annotator: o.Annotator = None,
    label: o.Label = None,
    columns: o.Columns = None,
    shape: o.Shape = "auto",
    duplicates: o.Duplicates = "error",
    delimiter: o.Delimiter = None,
    seed: o.Seed = 0,
    json_: o.Json = False,
) -> None:
    """Which items to give to which annotators next: connect the crowd, compare annotators, then remove most doubt.

    Example: covote plan votes.csv --budget 500 --capacity 40 -o next.csv
    """
    from covote.annotations import load
    from covote.estimators.planned import plan as make_plan
    from covote.model_file import load_model

    reading = o.reading(item, annotator, label, columns, shape, duplicates, delimiter)
    answers = load(o.table_argument(files), **reading).annotations if files else None
    known_items = {} if answers is None else {str(i): i for i in answers.items}
    people = {} if answers is None else {str(a): a for a in answers.annotators}
    found = make_plan(
        answers,
        budget=budget,
        fit=None if model is None else load_model(model),
        annotators=_as_known(_names(annotators), people),
        items=_as_known(_names(items), known_items),
        capacity=_capacity(capacity, people),
        exclude=_pairs(exclude, known_items, people),
        in_progress=_pairs(in_progress, known_items, people),
        overlap=overlap,
        seed=seed,
    )
    _write(found, Path(output))
    typer.echo(json.dumps(found.as_dict(), indent=2, default=str) if json_ else f"{found.summary()}\nWritten: {output}")


def _write(found: Plan, path: Path) -> None:
    from covote.output import write_text

    lines = [",".join(found.columns())]
    lines += [",".join(_field(value) for value in row) for row in zip(*found.columns().values(), strict=True)]
    write_text(path, "\n".join(lines) + "\n")


def _field(value: Any) -> str:
    text = "" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\n\r') else text


def _names(text: str | None) -> list[str] | None:
    """Names from a file, one a line, or from a list with commas."""
    if text is None:
        return None
    if Path(text).is_file():
        return [line.strip() for line in Path(text).read_text(encoding="utf-8").splitlines() if line.strip()]
    if "," not in text and Path(text).suffix in (".txt", ".csv", ".tsv"):
        msg = f"File '{text}' not found. Check the path, or give names with commas."
        raise InputError(msg)
    return [name.strip() for name in text.split(",") if name.strip()]


def _as_known(names: list[str] | None, known: dict[str, Any]) -> list[Any] | None:
    """Names as the answers spell them: a file may hold numbers where the command line holds text."""
    return None if names is None else [known.get(name, name) for name in names]


def _rows(path: str) -> list[list[str]]:
    import csv

    try:
        with Path(path).open(newline="", encoding="utf-8") as lines:
            rows = [[field.strip() for field in row] for row in csv.reader(lines) if row]
    except OSError as error:
        msg = f"Cannot read {path}: {error.strerror}."
        raise InputError(msg) from error
    wrong = next((row for row in rows if len(row) != 2), None)
    if wrong is not None:
        msg = f"{path} needs two columns, found the line {','.join(wrong)!r}."
        raise InputError(msg)
    return rows


def _pairs(path: str | None, items: dict[str, Any], people: dict[str, Any]) -> list[tuple[Any, Any]]:
    """Pairs of item and annotator; a first line `item,annotator` is a header, an empty field means any."""
    rows = [] if path is None else _rows(path)
    if rows and rows[0][0].lower() in ("item", "task"):
        rows = rows[1:]
    return [(items.get(i, i) if i else None, people.get(who, who) if who else None) for i, who in rows]


def _capacity(text: str | None, people: dict[str, Any]) -> int | dict[Any, int] | None:
    if text is None:
        return None
    if text.isdecimal():
        return int(text)
    if not Path(text).is_file():
        msg = f"The capacity is {text}. Give a whole number from 0 on, or a CSV file of annotator,capacity."
        raise InputError(msg)
    rows = _rows(text)
    wrong = [row for row in rows[1:] if not row[1].isdigit()]  # the first line may be a header
    if wrong:
        msg = f"{text} needs lines of annotator,capacity with whole numbers, found the line {','.join(wrong[0])!r}."
        raise InputError(msg)
    return {people.get(who, who): int(number) for who, number in rows if number.isdigit()}
