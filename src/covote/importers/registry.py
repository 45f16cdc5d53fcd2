"""The formats covote knows, and the way from paths to answers: recognise, read, choose the question."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from covote.errors import InputError
from covote.importers import (
    argilla,
    crowd_table,
    doccano,
    inspect_log,
    label_studio,
    label_studio_table,
    lm_eval,
    openai_evals,
    prodigy,
    promptfoo,
    zooniverse,
)
from covote.importers.hf_folder import data_files
from covote.importers.peek import Peek, peek
from covote.importers.questions import choose
from covote.importers.value import Answers, Format, Options, Sheet

GROUP = "covote.importers"
"""Entry points of this group, each a `Format`, are asked before covote's own."""

FORMATS: tuple[Format, ...] = (
    label_studio.FORMAT,
    label_studio_table.FORMAT,
    prodigy.FORMAT,
    inspect_log.FORMAT,
    promptfoo.FORMAT,
    lm_eval.FORMAT,
    openai_evals.FORMAT,
    argilla.FORMAT,
    doccano.FORMAT,
    *crowd_table.FORMATS,
    zooniverse.FORMAT,
)


@cache
def formats() -> tuple[Format, ...]:
    """All formats: those of other packages first, then covote's own."""
    return (*(found for point in entry_points(group=GROUP) if isinstance(found := point.load(), Format)), *FORMATS)


def recognise(look: Peek) -> Format | None:
    """The format of a file, by its content; None for a plain table."""
    return next((format for format in formats() if format.recognise(look)), None)


def expand(paths: Any) -> list[str]:
    """The files or folders meant by a path, a glob or a list of those."""
    listed = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    out: list[str] = []
    for path in [os.fspath(path) for path in listed]:
        found = [path] if os.path.exists(path) else sorted(glob.glob(path, recursive=True)) or [path]
        for name in found:
            out += (data_files(name) if os.path.isdir(name) else []) or [name]
    return out


def read_export(paths: Any, options: Options) -> Answers | None:
    """The answers of files that a known tool wrote; None where no tool is recognised."""
    names = expand(paths)
    look = peek(names[0]) if names else None
    first = recognise(look) if look is not None else None
    if look is None or first is None:
        return None
    looks = [look, *(peek(name) for name in names[1:])]
    others = {format for look in looks[1:] if (format := recognise(look)) is not first}
    if others:
        shown = sorted({"a plain table" if format is None else format.title for format in others})
        msg = f"The files are of different formats ({first.title}; {', '.join(shown)}). Pass files of one format."
        raise InputError(msg)
    _check_options(first, options)
    return choose(gather(looks, first, options), options, _shown(names))


def _check_options(format: Format, options: Options) -> None:
    """Raise for an option that has no meaning for files of this tool."""
    said = {"annotators": options.annotators and not format.annotators, "where": options.where}
    for name, value in {**said, "gold_column": options.gold_column}.items():
        if value:
            msg = (
                f"{name}= is for plain tables, and the file is of {format.title}. "
                "Leave it out, or name item=, annotator= and label= to read the file as a plain table."
            )
            raise InputError(msg)


def gather(looks: Sequence[Peek], format: Format, options: Options) -> Sheet:
    """All that the files hold, before one question is chosen."""
    sheet = Sheet(format.title)
    for look in looks:
        format.read(look, options, sheet)
    return sheet


def _shown(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
