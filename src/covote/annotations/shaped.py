"""Tables that are not plain: wide columns by name, compound items, lists, nested JSON, conditions -> answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from covote.annotations.arrays import encode_triples
from covote.annotations.columns import Long, pick
from covote.annotations.encode import is_missing
from covote.annotations.guesses import check_long
from covote.errors import ColumnError, InputError
from covote.importers.columnar import records_of
from covote.importers.crowd_table import compound
from covote.importers.peek import Peek
from covote.importers.questions import choose
from covote.importers.value import Answers, Options, Sheet

KEY = "key"
"""The column that holds the key of each record of a JSON object keyed by id."""

_STEP = re.compile(r"[^.\[\]]+")


def read_shaped(looks: Sequence[Peek], options: Options) -> Answers:
    """The answers of plain tables, as the options say."""
    sheet = Sheet("table")
    gold = _Gold(options.gold_column)
    conditions = [_Condition.parse(text) for text in options.where]
    shown = looks[0].path if len(looks) == 1 else f"{looks[0].path} and {len(looks) - 1} more"
    keys: dict[str, None] = {}
    plan = _plan(options, [name for look in looks for name in _first(look)], keyed=looks[0].kind == "object")
    for record in (record for look in looks for record in table_records(look)):
        sheet.records += 1
        keys.update(dict.fromkeys(record))
        if not all(condition.holds(record, keys) for condition in conditions):
            sheet.leave_out("by where=")
            continue
        item = compound([_scalar(record, name, keys) for name in plan.item]) if plan.item else sheet.records - 1
        gold.add(item, record, sheet, keys)
        for annotator, label in plan.answers(record, keys):
            if is_missing(label):
                sheet.leave_out("without an answer")
            else:
                sheet.add("label", item, annotator, label)
    plan.check(keys)
    _note(plan, keys, sheet)
    answers = choose(sheet, Options(question="label", multiple=options.multiple), shown)
    if isinstance(plan, _Long) and not options.multiple:
        said = {"item": options.item, "annotator": options.annotator, "label": options.label or options.question}
        check_long(encode_triples(answers), Long(" | ".join(plan.item), plan.annotator, plan.label), list(keys), said)
    return answers


def table_records(look: Peek) -> Iterator[dict[str, Any]]:
    """The records of a file; an object keyed by id gives one record per key, or per record in its lists."""
    if look.kind != "object":
        yield from records_of(look)
        return
    values = list(look.document.values())
    if not is_keyed(look.document):
        yield from records_of(look)
    elif len(values) == 1 and isinstance(values[0], list):
        yield from values[0]  # {"data": [records]}
    else:
        for key, value in look.document.items():
            yield from ({KEY: key, **record} for record in (value if isinstance(value, list) else [value]))


def is_keyed(document: dict[str, Any]) -> bool:
    """Whether a JSON object holds records by id, lists of records by id, or one list of records.

    >>> is_keyed({"x": {"ann": 1}, "y": {"ann": 2}}), is_keyed({"item": "x", "votes": {"ann": 1}})
    (True, False)
    """
    lists = [value if isinstance(value, list) else [value] for value in document.values()]
    return bool(lists) and all(found and all(isinstance(r, dict) for r in found) for found in lists)


def value_at(record: Any, path: str) -> Any:
    """The value of a column, or of a path through nested records; through a list it is a list of values.

    >>> value_at({"meta": {"id": 7}, "votes": [{"by": "ann"}, {"by": "bob"}]}, "votes[].by")
    ['ann', 'bob']
    >>> value_at({"a.b": 1, "a": {"b": 2}}, "a.b")
    1
    """
    if isinstance(record, Mapping) and path in record:
        return record[path]
    return _walk(record, _STEP.findall(path))


def _walk(value: Any, steps: Sequence[str]) -> Any:
    for position, step in enumerate(steps):
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, (list, tuple)):
            if step.isdigit():
                value = value[int(step)] if int(step) < len(value) else None
            else:
                return [_walk(part, steps[position:]) for part in value]
        else:
            return None
    return value


@dataclass(frozen=True)
class _Condition:
    name: str
    value: str
    equal: bool

    @classmethod
    def parse(cls, text: str) -> _Condition:
        name, sign, value = text.partition("=")
        if not sign or not name.strip("! "):
            msg = f"where= needs NAME=VALUE or NAME!=VALUE, got '{text}'."
            raise InputError(msg)
        return cls(name.rstrip("!").strip(), value.strip(), not name.endswith("!"))

    def holds(self, record: Mapping[str, Any], keys: Mapping[str, None]) -> bool:
        value = value_at(record, self.name)
        if value is None and self.name.split(".")[0].split("[")[0] not in keys and self.name not in keys:
            raise _no_column(self.name, keys, "where")
        return (_text(value) == self.value) == self.equal


@dataclass(frozen=True)
class _Gold:
    """The true labels of a column, one per item."""

    column: str | None

    def add(self, item: Any, record: Mapping[str, Any], sheet: Sheet, keys: Mapping[str, None]) -> None:
        if self.column is None:
            return
        label = _scalar(record, self.column, keys, role="gold_column")
        known = sheet.gold.get("label", {}).get(item)
        if not is_missing(label):
            if known is not None and known != label:
                msg = f"Column '{self.column}' gives item {item!r} both {known!r} and {label!r}. Keep one true label."
                raise InputError(msg)
            sheet.add_gold("label", item, label)


@dataclass(frozen=True)
class _Wide:
    """One column per annotator, by name or glob."""

    item: tuple[str, ...]
    patterns: tuple[str, ...]
    others: frozenset[str]  # columns with another role, which a glob does not take

    def answers(self, record: Mapping[str, Any], keys: Mapping[str, None]) -> Iterator[tuple[Any, Any]]:
        del keys
        for pattern in self.patterns:
            if pattern in record:
                yield pattern, record[pattern]
            else:
                yield from ((n, record[n]) for n in record if n not in self.others and fnmatchcase(n, pattern))

    def taken(self, keys: Iterable[str]) -> list[str]:
        return [k for k in keys if any(k == p or (k not in self.others and fnmatchcase(k, p)) for p in self.patterns)]

    def check(self, keys: Mapping[str, None]) -> None:
        for pattern in self.patterns:
            if not any(k == pattern or fnmatchcase(k, pattern) for k in keys):
                raise _no_column(pattern, keys, "annotators")
        if len(self.taken(keys)) < 2:
            msg = f"annotators= names one column, '{self.taken(keys)[0]}'. Name the columns of at least two annotators."
            raise InputError(msg)


@dataclass(frozen=True)
class _Long:
    """One row per answer, or lists of answers; columns by name or path."""

    item: tuple[str, ...]
    annotator: str
    label: str

    def answers(self, record: Mapping[str, Any], keys: Mapping[str, None]) -> Iterator[tuple[Any, Any]]:
        who, label = _value(record, self.annotator, keys, "annotator"), _value(record, self.label, keys, "label")
        if isinstance(who, str) and isinstance(label, str) and who.count(",") and who.count(",") == label.count(","):
            who, label = [part.strip() for part in who.split(",")], [part.strip() for part in label.split(",")]
        if isinstance(who, (list, tuple)):
            if not isinstance(label, (list, tuple)) or len(label) != len(who):
                size = len(label) if isinstance(label, (list, tuple)) else 1
                msg = (
                    f"'{self.annotator}' and '{self.label}' hold lists of {len(who)} and {size}. The lists must match."
                )
                raise InputError(msg)
            yield from zip(who, label, strict=True)
        elif is_missing(who) and not is_missing(label):
            msg = f"A row has a label in '{self.label}' but nothing in '{self.annotator}'. Give labels their annotator."
            raise InputError(msg)
        else:
            yield who, list(label) if isinstance(label, tuple) else label

    def check(self, keys: Mapping[str, None]) -> None:
        del keys


def _plan(options: Options, names: Sequence[str], *, keyed: bool) -> _Wide | _Long:
    """Which columns are used, from the options and, where these are silent, from the names."""
    given = {"item": options.item[0] if options.item else None, "annotator": options.annotator, "label": options.label}
    item = options.item or _item(names, keyed=keyed, taken=options.annotators or ())
    label = options.label or options.question
    if options.annotators is not None:
        if options.annotator is not None or label is not None:
            msg = "annotators= names columns of a wide table, which has no annotator= and label=. Pass one of the two."
            raise InputError(msg)
        others = {*item, options.gold_column, *(text.partition("=")[0].rstrip("!") for text in options.where)} - {None}
        return _Wide(item, options.annotators, frozenset(map(str, others)))
    found: dict[str, str] = {}
    for role, value in (("annotator", options.annotator), ("label", label)):
        column = value or pick(names, role, {**given, "label": label})  # type: ignore[dict-item]
        if column is None:
            listed = ", ".join(names[:20])
            msg = f"No {role} column recognised. Columns are: {listed}. Pass {role}=, or annotators= for a wide table."
            raise ColumnError(msg)
        found[role] = str(column)
    if not item:
        msg = f"No item column recognised. Columns are: {', '.join(names[:20])}. Pass item=."
        raise ColumnError(msg)
    return _Long(item, found["annotator"], found["label"])


def _item(names: Sequence[str], *, keyed: bool, taken: Sequence[str]) -> tuple[str, ...]:
    if keyed and KEY in names:
        return (KEY,)
    free = [name for name in names if not any(name == p or fnmatchcase(name, p) for p in taken)]
    column = pick(free, "item", {})
    return () if column is None else (str(column),)


def _first(look: Peek) -> Iterable[str]:
    return next(table_records(look), {})


def _note(plan: _Wide | _Long, keys: Mapping[str, None], sheet: Sheet) -> None:
    used = ", ".join(plan.item) or "row numbers"
    if isinstance(plan, _Wide):
        sheet.notes.append(f"items from {used}; annotators are the columns {', '.join(plan.taken(keys))}")
    else:
        sheet.notes.append(f"items from {used}, annotators from {plan.annotator}, labels from {plan.label}")


def _value(record: Mapping[str, Any], path: str, keys: Mapping[str, None], role: str) -> Any:
    value = value_at(record, path)
    if value is None and path not in keys and _STEP.findall(path)[0] not in keys:
        raise _no_column(path, keys, role)
    return value


def _scalar(record: Mapping[str, Any], path: str, keys: Mapping[str, None], role: str = "item") -> Any:
    value = _value(record, path, keys, role)
    if isinstance(value, (list, dict)):
        msg = (
            f"Column '{path}' holds lists or records, and cannot be {role}=. Name a path inside it, such as {path}.id."
        )
        raise InputError(msg)
    if role == "item" and is_missing(value):
        msg = f"A row has nothing in '{path}'. Give every row its item, or leave such rows out with where=."
        raise InputError(msg)
    return value


def _no_column(name: str, keys: Iterable[str], role: str) -> ColumnError:
    listed = list(keys)
    shown = ", ".join(listed[:20]) + (f", ... ({len(listed)} in all)" if len(listed) > 20 else "")
    return ColumnError(f"Column '{name}' of {role}= not found. Columns are: {shown}.")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)
