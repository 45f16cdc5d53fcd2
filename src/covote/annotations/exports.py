"""Paths and what the user said about them -> answers, where a tool wrote the files or they are no plain table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from covote.annotations.reading import Reading
from covote.errors import InputError
from covote.importers.columnar import named_classes
from covote.importers.value import Answers, Options


def make_options(reading: Reading) -> Options:
    """Options from what `load` was given; texts with commas stand for several names.

    >>> make_options(Reading(item="a,b", annotators="x,y")).annotators
    ('x', 'y')
    """
    return Options(
        question=reading.question,
        annotators=_several(reading.annotators),
        item=_several(reading.item),
        annotator=_text(reading.annotator),
        label=_text(reading.label),
        where=_texts(reading.where),
        gold_column=reading.gold_column,
        multiple=reading.multiple,
    )


def open_answers(paths: Any, reading: Reading) -> Answers | None:
    """The answers of exports and of tables that need the options; None for plain tables, which DuckDB reads."""
    from covote.importers.peek import peek
    from covote.importers.registry import expand, read_export

    options = make_options(reading)
    if not options.names_columns:
        answers = read_export(paths, options)
        if answers is not None:
            return answers
    names = expand(paths)
    options = _one_item(options, reading, names)
    if not _needs_shaping(options) and not (names and _is_nested(names[0], options)):
        return None
    from covote.annotations.shaped import read_shaped

    return read_shaped([peek(name) for name in names], options)


def plain_files(paths: Any, reading: Reading, engine: str) -> Any:
    """The files of plain tables; an error where they, or options, need the answers in memory and not this engine."""
    for name in reading.for_files:
        msg = f'Option {name}= needs engine="memory", and engine {engine} was asked for. Leave one of them out.'
        raise InputError(msg)
    if what := kind_in_memory(paths, reading):
        msg = f'Engine {engine} reads plain tables, and this is {what}. Pass engine="memory".'
        raise InputError(msg)
    return in_folders(paths)


def kind_in_memory(paths: Any, reading: Reading) -> str:
    """What these files are if they are read into memory whatever their size; empty for plain tables."""
    from covote.importers.peek import peek
    from covote.importers.registry import expand, recognise

    if reading.plain:
        return ""
    names = expand(paths)
    options = _one_item(make_options(reading), reading, names)
    look = peek(names[0])
    if not options.names_columns and (format := recognise(look)) is not None:
        return f"a file of {format.title}"
    if _needs_shaping(options) or _is_nested(names[0], options):
        return "a table that is not plain"
    is_folder = isinstance(paths, (str, os.PathLike)) and os.path.isdir(paths)
    return "a folder of Arrow files" if is_folder and names[0].endswith(".arrow") else ""


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


def _one_item(options: Options, reading: Reading, names: Sequence[str]) -> Options:
    """The options, where a comma in `item=` is part of the name of one column."""
    from covote.importers.peek import peek

    if options.item is None or len(options.item) < 2 or reading.item not in peek(names[0]).names:
        return options
    return replace(options, item=(str(reading.item),))


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
