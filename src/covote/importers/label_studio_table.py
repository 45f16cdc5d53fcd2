"""Label Studio's CSV, TSV and JSON-MIN exports: one row per annotation -> answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from covote.errors import InputError
from covote.importers.peek import Peek, records, rows
from covote.importers.questions import varying
from covote.importers.value import Format, Options, Sheet, unknown_version

TITLE = "Label Studio (CSV or JSON-MIN)"
_META = {
    "id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement", "annotators",
    "completed_by", "draft_created_at", "predictions",
}  # fmt: skip


def recognise(peek: Peek) -> bool:
    """Columns `id`, `annotator` and `annotation_id` together."""
    return peek.kind in ("array", "table") and peek.has("id", "annotator", "annotation_id")


def read(peek: Peek, options: Options, sheet: Sheet) -> None:
    """The question is a column: the one named, else the only one that differs within a task."""
    table: list[Any] = list(rows(peek) if peek.kind == "table" else records(peek))
    others = [name for name in _names(table) if name not in _META]
    question = options.question or _only(peek, table, others)
    if question not in others:
        msg = f"File '{peek.path}' has no question '{question}'. Columns that can be one are: {', '.join(others)}."
        raise InputError(msg)
    for row in table:
        sheet.records += 1
        if row.get("id") in (None, "") or row.get("annotator") in (None, ""):
            raise unknown_version(peek.path, TITLE, f"row {sheet.records} has no id or no annotator", "rows with both")
        label = _label(row.get(question), question, peek)
        if label is None:
            sheet.leave_out("without an answer")
        else:
            sheet.add(question, row["id"], _person(row["annotator"]), label)


def _names(table: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in table for name in row))


def _only(peek: Peek, table: list[Any], others: list[str]) -> str:
    """The one column that differs between annotators of the same task: data never does."""
    found = varying(table, "id", others)
    if len(found) == 1:
        return found[0]
    listed = ", ".join(found or others)
    msg = f"File '{peek.path}' is {TITLE}; which column is the question? Pass question= one of: {listed}."
    raise InputError(msg)


def _label(value: Any, question: str, peek: Peek) -> Any:
    """Text, a number, or the choices of an object; None without an answer."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            value = json.loads(value)
        except ValueError:
            return value
    if isinstance(value, dict) and set(value) == {"choices"}:
        value = value["choices"]
    if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(v, (dict, list)) for v in value)):
        msg = (
            f"Column '{question}' of file '{peek.path}' marks regions, not one label for the whole task. "
            "Pass question= another column."
        )
        raise InputError(msg)
    return None if value in ("", None, []) else value


def _person(value: Any) -> Any:
    return value.get("email") or value.get("id") if isinstance(value, dict) else value


FORMAT = Format(
    name="label-studio-table",
    title=TITLE,
    recognise=recognise,
    read=read,
    holds="id / annotator / the column of the question",
    example="covote aggregate export.csv --question sentiment",
)
