"""Paths and what the user said about them -> answers, where a tool wrote the files or they are no plain table."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from covote.errors import InputError
from covote.importers.columnar import named_classes
from covote.importers.value import Answers, Options


def make_options(roles: Mapping[str, Hashable | None], said: Mapping[str, Any]) -> Options:
    """Options from what `load` was given; texts with commas stand for several names.

    >>> make_options({"item": "a,b"}, {"annotators": "x,y"}).annotators
    ('x', 'y')
    """
    item = roles.get("item")
    return Options(
        question=said.get("question"),
        annotators=_several(said.get("annotators")),
        item=None if item is None else _several(item),
        annotator=_text(roles.get("annotator")),
        label=_text(roles.get("label")),
        where=_texts(said.get("where")),
        gold_column=said.get("gold_column"),
        multiple=bool(said.get("multiple")),
    )


def open_answers(paths: Any, roles: Mapping[str, Hashable | None], said: Mapping[str, Any]) -> Answers | None:
    """The answers of exports and of tables that need the options; None for plain tables, which DuckDB reads."""
    from covote.importers.peek import peek
    from covote.importers.registry import expand, read_export

    options = make_options(roles, said)
    if not options.names_columns:
        answers = read_export(paths, options)
        if answers is not None:
            return answers
    names = expand(paths)
    if options.item is not None and len(options.item) > 1 and roles["item"] in peek(names[0]).names:
        options = replace(options, item=(str(roles["item"]),))  # a comma in the name of one column
    if not _needs_shaping(options) and not (names and _is_nested(names[0], options)):
        return None
    from covote.annotations.shaped import read_shaped

    return read_shaped([peek(name) for name in names], options)


def in_folders(paths: Any) -> Any:
    """The data files of a folder that Hugging Face wrote, as a table if they are Arrow; other paths as they are."""
    if not isinstance(paths, (str, os.PathLike)) or not os.path.isdir(paths):
        return paths
    from covote.importers.hf_folder import arrow_frame, data_files

    files = data_files(os.fspath(paths))
    return arrow_frame(files) if files and files[0].endswith(".arrow") else files or paths


def as_arrow(table: Any) -> Any:
    """A Hugging Face dataset as a PyArrow table, class numbers as their names; anything else as it is."""
    if not type(table).__module__.startswith("datasets."):
        return table
    if hasattr(table, "keys"):  # a DatasetDict
        splits = list(table.keys())
        if len(splits) != 1:
            msg = f"The dataset has the splits {', '.join(map(str, splits))}. Pass one of them: dataset['{splits[0]}']."
            raise InputError(msg)
        table = table[splits[0]]
    return named_classes(table.with_format("arrow")[:])


def _needs_shaping(options: Options) -> bool:
    several = options.item is not None and len(options.item) > 1
    return several or bool(
        options.annotators or options.where or options.gold_column or options.multiple or options.question
    )


def _is_nested(name: str, options: Options) -> bool:
    """Whether the file is an object keyed by id, or a named column is a path, a list or a record."""
    from covote.annotations.shaped import is_keyed, table_records, value_at
    from covote.importers.peek import peek

    look = peek(name)
    if look.kind == "object":
        return is_keyed(look.document)
    if look.kind not in ("array", "lines", "table") or not options.names_columns:
        return False
    first = next(table_records(look), {})
    named = [*(options.item or ()), options.annotator, options.label]
    values = [
        value_at(first, path) for path in named if path is not None and (path in first or "." in path or "[" in path)
    ]
    if any(isinstance(value, (list, dict)) for value in values):
        return True
    if any(path is not None and path not in first and value_at(first, path) is not None for path in named):
        return True
    who, label = (first.get(path) if path is not None else None for path in (options.annotator, options.label))
    return isinstance(who, str) and isinstance(label, str) and 0 < who.count(",") == label.count(",")


def _several(value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return tuple(map(str, value)) if isinstance(value, Sequence) else (str(value),)


def _texts(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
