"""Options about exports and about tables that are not plain, shared by the commands that read answers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

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
