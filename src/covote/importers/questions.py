"""Which columns of a table can be questions, and which question of several is meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from covote.errors import InputError
from covote.importers.value import Account, Answers, Options, Sheet, Within

MANY_LABELS = 20
"""Up to this many distinct labels are never taken for free text or measurements."""


def varying(table: Iterable[Mapping[str, Any]], key: str, names: Sequence[str]) -> list[str]:
    """The columns that have several values for one key, where data about the item has one.

    >>> varying([{"id": 1, "text": "a", "mood": "x"}, {"id": 1, "text": "a", "mood": "y"}], "id", ["text", "mood"])
    ['mood']
    """
    first: dict[Any, dict[str, str]] = {}
    found: set[str] = set()
    for row in table:
        known = first.setdefault(row.get(key), {})
        for name in names:
            value = row.get(name)
            if value not in (None, "", []) and known.setdefault(name, repr(value)) != repr(value):
                found.add(name)
    return [name for name in names if name in found]


def choose(sheet: Sheet, options: Options, path: str) -> Answers:
    """The answers to the question meant; several questions and none named: the user is asked."""
    question = _question(sheet, options, path)
    rows = _placed(sheet.rows[question])
    gold = sheet.gold.get(question, {})
    if options.multiple:
        from covote.importers.multiple import as_yes_no

        rows, gold, notes = as_yes_no(rows, gold)
        sheet.notes += notes
    else:
        rows = _single(rows, path)
        gold = {item: value for item, label in gold.items() if (value := _unwrapped(label)) is not None}
    account = Account(
        sheet.format, sheet.records, len(rows), dict(sheet.left_out), question, sheet.questions,
        (*sheet.notes, *((f"gold for {len(gold):,} items",) if gold else ())),
    )  # fmt: skip
    items, annotators, labels = ([_plain(value) for value in column] for column in zip(*rows, strict=True))
    _check_labels(labels, path, question, named=options.question is not None)
    out = {_plain(item): _plain(label) for item, label in gold.items()}
    return Answers(_one_kind(items), _one_kind(annotators), _one_kind(labels), account, out)


def _placed(rows: list[tuple[Any, Any, Any]]) -> list[tuple[Any, Any, Any]]:
    """Items of several places by place and id; of one place by id."""
    places = {item.place for item, _, _ in rows if isinstance(item, Within)}
    if not places:
        return rows
    named = len(places) > 1
    return [(f"{item.place}: {item.item}" if named else item.item, who, label) for item, who, label in rows]


def _question(sheet: Sheet, options: Options, path: str) -> str:
    found = sheet.questions
    if not found:
        left = ", ".join(f"{count:,} {reason}" for reason, count in sheet.left_out.items())
        msg = f"File '{path}' ({sheet.format}) holds no answers" + (f"; left out: {left}." if left else ".")
        raise InputError(msg + " Export it again when it has some.")
    if options.question is not None:
        if options.question not in found:
            msg = f"File '{path}' has no question '{options.question}'. Pass question= one of: {_listed(sheet)}."
            raise InputError(msg)
        return options.question
    if sheet.chosen is not None:
        return sheet.chosen
    if len(found) > 1:
        msg = f"File '{path}' ({sheet.format}) holds {len(found)} questions. Pass question= one of: {_listed(sheet)}."
        raise InputError(msg)
    return found[0]


def _listed(sheet: Sheet) -> str:
    return ", ".join(f"{name} ({len(rows):,} answers)" for name, rows in sheet.rows.items())


def _single(rows: list[tuple[Any, Any, Any]], path: str) -> list[tuple[Any, Any, Any]]:
    """Lists of one label as that label; an answer with several is an error that names the option."""
    several = sum(isinstance(label, list) and len(label) != 1 for _, _, label in rows)
    if several:
        msg = (
            f"File '{path}': {several:,} of {len(rows):,} answers hold no label or several. "
            "Pass multiple=True to read one yes/no question per label."
        )
        raise InputError(msg)
    return [(item, who, label[0] if isinstance(label, list) else label) for item, who, label in rows]


def _unwrapped(label: Any) -> Any:
    if isinstance(label, list):
        return label[0] if len(label) == 1 else None
    return label


def _check_labels(labels: list[Any], path: str, question: str, *, named: bool) -> None:
    """Refuse free text and measurements, unless the user asked for this question."""
    distinct = len(set(labels))
    if not named and distinct > max(MANY_LABELS, len(labels) / 2):
        msg = (
            f"File '{path}', question '{question}': {distinct:,} different labels in {len(labels):,} answers "
            f'look like free text or measurements. Pass question="{question}" to read them anyway.'
        )
        raise InputError(msg)


def _plain(value: Any) -> Any:
    """A value that can be an id or a label; records become their JSON text."""
    if isinstance(value, (str, int, float, bool)):
        return value
    import json

    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _one_kind(values: list[Any]) -> list[Any]:
    """Values of one type as they are; of several types as text."""
    kinds = {type(value) for value in values}
    return values if len(kinds) <= 1 else [value if isinstance(value, str) else str(value) for value in values]
