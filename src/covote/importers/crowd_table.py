"""Result tables of crowd platforms (MTurk, Toloka, Appen): one reader, three mappings -> answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from covote.errors import InputError
from covote.importers.peek import Peek, rows
from covote.importers.questions import varying
from covote.importers.value import Format, Options, Sheet, unknown_version

FORM = "Answer.taskAnswers"
_TRUE, _FALSE = {"true", "1", "yes"}, {"false", "0", "no"}


@dataclass(frozen=True)
class Platform:
    """Where a platform keeps what: columns, and how questions, gold and refused answers are told."""

    title: str
    item: tuple[str, ...]  # a column, or a prefix of several that ends in ":"
    worker: str
    prefix: str  # of the columns of answers; empty: the columns that are neither meta nor input
    gold: tuple[str, str]  # before and after the question's name
    refused: Mapping[str, tuple[str, ...]]  # column -> values that leave a row out
    refused_words: Mapping[str, str]  # column -> word for the account


MTURK = Platform(
    "an MTurk batch", ("HITId",), "WorkerId", "Answer.", ("", ""),
    {"AssignmentStatus": ("rejected",)}, {"AssignmentStatus": "rejected"},
)  # fmt: skip
TOLOKA = Platform(
    "a Toloka table", ("INPUT:",), "ASSIGNMENT:worker_id", "OUTPUT:", ("GOLDEN:", ""),
    {"ASSIGNMENT:status": ("rejected", "skipped", "expired", "active")}, {"ASSIGNMENT:status": ""},
)  # fmt: skip
APPEN = Platform(
    "an Appen (Figure Eight) report", ("_unit_id",), "_worker_id", "", ("", "_gold"),
    {"_tainted": tuple(_TRUE), "_rejected": tuple(_TRUE)}, {"_tainted": "tainted", "_rejected": "rejected"},
)  # fmt: skip


def _read(mapping: Platform, peek: Peek, options: Options, sheet: Sheet) -> None:
    table, peek = _unfolded(list(rows(peek)), peek)
    items = _item_columns(mapping, peek)
    questions = _questions(mapping, peek, table, options)
    for row in table:
        if not row[mapping.worker] and not any(row[name] for name in items):  # between the pages of a pool
            continue
        sheet.records += 1
        item = compound([row[name] for name in items])
        for question in questions:
            _gold(mapping, row, question, item, sheet)
        why = _refusal(mapping, row)
        if why is not None:
            sheet.leave_out(why)
            continue
        if not row[mapping.worker]:
            sheet.leave_out("rows without a worker (control or training tasks)")
            continue
        for question, columns in questions.items():
            label = _label(row, columns)
            if label is None:
                sheet.leave_out(f"without an answer to '{question}'")
            else:
                sheet.add(question, item, row[mapping.worker], label)


def _unfolded(table: list[dict[str, str]], peek: Peek) -> tuple[list[dict[str, str]], Peek]:
    """MTurk's forms keep all answers as JSON in one column: the same table with a column for each."""
    if FORM not in peek.names:
        return table, peek
    found: list[dict[str, str]] = []
    for row in table:
        try:
            ((answers,),) = [json.loads(row.pop(FORM))]
            found.append(dict(_flat(answers)))
        except (ValueError, TypeError, AttributeError):
            raise unknown_version(peek.path, MTURK.title, f"{FORM} is no list of one record", "such lists") from None
    names = dict.fromkeys(name for answers in found for name in answers)
    empty = dict.fromkeys(names, "")
    wide = [{**row, **empty, **answers} for row, answers in zip(table, found, strict=True)]
    return wide, replace(peek, names=(*(name for name in peek.names if name != FORM), *names))


def _flat(answers: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for question, value in answers.items():
        if isinstance(value, dict) and set(value) == {"label"}:
            yield f"Answer.{question}", str(value["label"])
        elif isinstance(value, dict):
            yield from ((f"Answer.{question}.{option}", str(chosen).lower()) for option, chosen in value.items())
        else:
            yield f"Answer.{question}", str(value)


def _item_columns(mapping: Platform, peek: Peek) -> list[str]:
    (name,) = mapping.item
    found = [n for n in peek.names if n.startswith(name)] if name.endswith(":") else [name]
    if not found:
        raise unknown_version(peek.path, mapping.title, f"it has no column {name}*", "tables with it")
    return found


def _questions(
    mapping: Platform, peek: Peek, table: Sequence[Mapping[str, str]], options: Options
) -> dict[str, tuple[str, ...]]:
    """Questions and their columns; several columns are the options of one question, each true or false."""
    if mapping.prefix:
        found = _grouped([n for n in peek.names if n.startswith(mapping.prefix)], mapping.prefix, table)
    else:
        found = {name: (name,) for name in _unprefixed(mapping, peek, table, options)}
    if not found:
        raise unknown_version(peek.path, mapping.title, "it has no column of answers", "tables with them")
    if options.question is not None:
        asked = options.question.removeprefix(mapping.prefix)
        if asked not in found:
            msg = f"File '{peek.path}' has no question '{asked}'. Pass question= one of: {', '.join(found)}."
            raise InputError(msg)
        return {options.question: found[asked]}
    return found


def _grouped(names: Iterable[str], prefix: str, table: Sequence[Mapping[str, str]]) -> dict[str, tuple[str, ...]]:
    """`Answer.mood.happy` and `Answer.mood.sad` are one question if all their cells are true or false."""
    groups: dict[str, list[str]] = {}
    for name in names:
        stem, dot, _ = name.removeprefix(prefix).rpartition(".")
        own = bool(dot) and all(row[name].lower() in _TRUE | _FALSE | {""} for row in table)
        groups.setdefault(stem if own else name.removeprefix(prefix), []).append(name)
    return {question: tuple(columns) for question, columns in groups.items()}


def _unprefixed(mapping: Platform, peek: Peek, table: Sequence[Mapping[str, str]], options: Options) -> list[str]:
    """Appen: columns with a sibling for gold, else those that differ within a unit, else the one that is named."""
    meta = {name for name in peek.names if name.startswith(("_", "orig_")) or name.endswith(("_gold", "_gold_reason"))}
    others = [name for name in peek.names if name not in meta]
    if options.question is not None:
        return others
    known = [name for name in others if name + mapping.gold[1] in peek.names]
    found = known or varying(table, mapping.item[0], others)
    if not found:
        msg = f"File '{peek.path}' is {mapping.title}. Pass question= one of: {', '.join(others)}."
        raise InputError(msg)
    return found


def _label(row: Mapping[str, str], columns: tuple[str, ...]) -> Any:
    """The text of a cell, its lines where it has several, or the options that are true."""
    if len(columns) > 1:
        chosen = [name.rpartition(".")[2] for name in columns if row[name].lower() in _TRUE]
        return chosen or None
    lines = [line for line in row[columns[0]].splitlines() if line.strip()]
    return (lines if len(lines) > 1 else row[columns[0]].strip()) or None


def _gold(mapping: Platform, row: Mapping[str, str], question: str, item: str, sheet: Sheet) -> None:
    before, after = mapping.gold
    value = row.get(f"{before}{question}{after}") if before or after else None
    if value and len(value.splitlines()) == 1:  # several accepted answers settle nothing
        sheet.add_gold(question, item, value)


def _refusal(mapping: Platform, row: Mapping[str, str]) -> str | None:
    for column, values in mapping.refused.items():
        if row.get(column, "").strip().lower() in values:
            return mapping.refused_words[column] or row[column].strip().lower()
    return "rejected" if row.get("Reject") and mapping is MTURK else None


def compound(parts: Sequence[Any]) -> Any:
    """One id from several columns.

    >>> compound(["a", "b"]), compound([7])
    ('a | b', 7)
    """
    if len(parts) == 1:
        return parts[0]
    return " | ".join(str(part).replace("\\", "\\\\").replace("|", "\\|") for part in parts)


def _format(name: str, mapping: Platform, signs: tuple[str, ...], holds: str) -> Format:
    def recognise(peek: Peek) -> bool:
        return peek.kind == "table" and peek.has(*signs)

    def read(peek: Peek, options: Options, sheet: Sheet) -> None:
        _read(mapping, peek, options, sheet)

    example = "covote aggregate results.csv --question category"
    title = mapping.title.split(" ", 1)[1]
    return Format(name, title[0].upper() + title[1:], recognise, read, holds, example)


FORMATS = (
    _format("mturk", MTURK, ("HITId", "WorkerId"), "HITId / WorkerId / Answer.QUESTION; rejected ones are left out"),
    _format(
        "toloka",
        TOLOKA,
        ("ASSIGNMENT:worker_id",),
        "all INPUT columns / ASSIGNMENT:worker_id / OUTPUT:QUESTION, gold: GOLDEN:QUESTION",
    ),
    _format(
        "appen",
        APPEN,
        ("_unit_id", "_worker_id"),
        "_unit_id / _worker_id / the column of the question, gold: QUESTION_gold; tainted ones are left out",
    ),
)
