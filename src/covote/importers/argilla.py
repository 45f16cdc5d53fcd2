"""Argilla 2 records, nested (JSON) or flat (JSON, CSV, Parquet) -> submitted answers; suggestions on request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from covote.importers.columnar import records_of
from covote.importers.peek import Peek
from covote.importers.value import Format, Options, Sheet, one_of, unknown_version

TITLE = "Argilla records"
_FLAT = ".responses.users"
WHO = ("people", "suggestions")


def recognise(peek: Peek) -> bool:
    """Nested: responses by question; flat: a list of users beside the list of responses."""
    if any(name.endswith(_FLAT) for name in peek.names):
        return True
    if peek.kind not in ("array", "lines", "object") or not peek.has("fields", "responses", "suggestions"):
        return False
    return isinstance(peek.record["fields"], dict) and isinstance(peek.record["responses"], (dict, type(None)))


def read(peek: Peek, options: Options, sheet: Sheet) -> None:
    """Only submitted responses count; the agents of suggestions are annotators only where they are asked for."""
    who = one_of(options, WHO, "people", peek.path, TITLE)
    for number, record in enumerate(records_of(peek), start=1):
        sheet.records += 1
        item = record.get("id") or record.get("_server_id")
        if item is None:
            raise unknown_version(peek.path, TITLE, f"record {number} has no id", "records with one")
        flat = "responses" not in record
        if "people" in who:
            for answer in _flat(record, peek) if flat else _nested(record, peek):
                _response(item, answer, sheet)
        if "suggestions" in who:
            for question, value, agent in _suggestions(record, flat=flat):
                sheet.add(question, item, agent or "suggestions", value)


def _response(item: Any, answer: tuple[str, Any, Any, Any], sheet: Sheet) -> None:
    question, value, user, status = answer
    if status not in (None, "submitted"):
        sheet.leave_out(f"{status}")
    elif value in (None, "", []):
        sheet.leave_out("empty")
    elif isinstance(value, list) and any(isinstance(part, (dict, list)) for part in value):
        sheet.leave_out(f"spans or rankings of question '{question}'")
    else:
        sheet.add(question, item, user, value)


def _flat(record: dict[str, Any], peek: Peek) -> Iterator[tuple[str, Any, Any, Any]]:
    for name, users in record.items():
        if not name.endswith(_FLAT) or users is None:
            continue
        question = name.removesuffix(_FLAT)
        values, status = record.get(f"{question}.responses"), record.get(f"{question}.responses.status")
        status = [None] * len(users) if status is None else status
        if not isinstance(values, list) or not len(values) == len(users) == len(status):
            raise unknown_version(
                peek.path, TITLE, f"the lists of '{question}' differ in length", "lists of one length"
            )
        for value, user, state in zip(values, users, status, strict=True):
            yield question, value, user, state


def _nested(record: dict[str, Any], peek: Peek) -> Iterator[tuple[str, Any, Any, Any]]:
    for question, answers in (record["responses"] or {}).items():
        for answer in answers or []:
            if not isinstance(answer, dict) or "value" not in answer or answer.get("user_id") is None:
                raise unknown_version(peek.path, TITLE, "a response has no value or user_id", "responses with both")
            yield question, answer["value"], answer["user_id"], answer.get("status")


def _suggestions(record: dict[str, Any], *, flat: bool) -> Iterator[tuple[str, Any, Any]]:
    if flat:
        for name, value in record.items():
            if name.endswith(".suggestion") and value is not None:
                yield name.removesuffix(".suggestion"), value, record.get(f"{name}.agent")
        return
    for question, suggestion in (record["suggestions"] or {}).items():
        if isinstance(suggestion, dict) and suggestion.get("value") is not None:
            yield question, suggestion["value"], suggestion.get("agent")


FORMAT = Format(
    name="argilla",
    title="Argilla 2 records (JSON, Parquet)",
    recognise=recognise,
    read=read,
    holds="record id / user of a submitted response (suggestions: agent) / value of the question",
    example="covote aggregate records.json --question relevance",
    annotators=WHO,
)
