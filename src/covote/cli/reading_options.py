"""Options about exports and about tables that are not plain, shared by the commands that read answers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from covote.errors import InputError

if TYPE_CHECKING:
    from covote.annotations import Loaded

Question = Annotated[str | None, typer.Option(help="Which question of an export, or which label column of a table.")]
Annotators = Annotated[
    str | None,
    typer.Option(
        help="Columns of a wide table (a,b,c or a glob); or who answers in an export, e.g. models or scorers."
    ),
]
Where = Annotated[
    list[str] | None, typer.Option(metavar="NAME=VALUE", help="Keep these rows only, e.g. status=APPROVED; != too.")
]
GoldColumn = Annotated[str | None, typer.Option(help="Column of true labels, which the fit takes as certain.")]
Multiple = Annotated[bool, typer.Option("--multiple", help="Answers are lists: one yes/no question per label.")]

Export = dict[str, Any]
"""What these options say, as keyword arguments of `covote.load`."""

_OPTIONS: dict[str, tuple[Any, Any]] = {
    "question": (Question, None),
    "annotators": (Annotators, None),
    "where": (Where, None),
    "gold_column": (GoldColumn, None),
    "multiple": (Multiple, False),
}


def with_export_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with these options in place of its parameter `export`, which gets what they say."""
    signature = inspect.signature(command, eval_str=True)
    own = [p for name, p in signature.parameters.items() if name != "export"]
    added = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=kind)
        for name, (kind, default) in _OPTIONS.items()
    ]

    @wraps(command)
    def run(**given: Any) -> None:
        said = {name: value for name in _OPTIONS if (value := given.pop(name)) not in (None, False, [])}
        command(**given, export=said)

    run.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in [*own, *added]}
    del run.__wrapped__
    return run


def own_gold(loaded: Loaded, export: Export, *, wanted: bool) -> Mapping[Any, Any] | None:
    """The true labels that the file itself holds, where the user asked for them."""
    if wanted and not loaded.gold:
        msg = "--use-gold: the file holds no true labels. Leave it out, or pass --gold FILE."
        raise InputError(msg)
    return loaded.gold if loaded.gold and (wanted or "gold_column" in export) else None


def in_memory(place: str, engine: str, files: list[str], reading: dict[str, Any]) -> str:
    """The engine for these files: exports, and tables that are not plain, are read into memory."""
    if place == "memory" or not _is_export(files, reading):
        return place
    if engine != "auto":
        msg = f"Engine {engine} reads plain tables only, and this file is read into memory. Use --engine memory."
        raise InputError(msg)
    return "memory"


def _is_export(files: list[str], reading: dict[str, Any]) -> bool:
    if any(reading.get(name) for name in _OPTIONS):
        return True
    if any(reading.get(role) is not None for role in ("item", "annotator", "label", "columns", "delimiter")):
        return False
    from covote.importers.peek import peek
    from covote.importers.registry import expand, recognise

    names = expand(files)
    return bool(names) and recognise(peek(names[0])) is not None
