"""Prodigy's JSONL: choice and binary classification -> answers; spans are no labels of an item and are refused."""

from __future__ import annotations

from typing import Any

from covote.errors import InputError
from covote.importers.peek import Peek, records
from covote.importers.value import Format, Options, Sheet, unknown_version

TITLE = "Prodigy"


def recognise(peek: Peek) -> bool:
    """Records with Prodigy's hash of the input and the annotator's `answer`."""
    return peek.kind in ("lines", "array", "object") and peek.has("_input_hash", "answer")


def read(peek: Peek, options: Options, sheet: Sheet) -> None:  # noqa: ARG001
    """Choice: the option chosen where the answer is "accept". Binary: accept or reject, one question per label."""
    for record in records(peek):
        sheet.records += 1
        answer = record.get("answer") if isinstance(record, dict) else None
        if answer not in ("accept", "reject", "ignore") or "_input_hash" not in record:
            found = f"record {sheet.records} has answer {answer!r}"
            raise unknown_version(peek.path, TITLE, found, "accept, reject and ignore")
        if answer == "ignore":
            sheet.leave_out("ignored")
        elif record.get("options") is not None or "accept" in record:
            _choice(record, sheet, peek)
        elif isinstance(record.get("label"), str):
            sheet.add(record["label"], record["_input_hash"], _annotator(record, sheet, peek), answer)
        else:
            what = "spans" if "spans" in record else "neither options nor a label"
            msg = (
                f"File '{peek.path}' ({TITLE}) holds {what} in record {sheet.records}. "
                "covote reads choices and binary labels; pass item=, annotator= and label= to read other fields."
            )
            raise InputError(msg)


def _choice(record: dict[str, Any], sheet: Sheet, peek: Peek) -> None:
    chosen = record.get("accept")
    config = record.get("config")
    several = isinstance(config, dict) and config.get("choice_style") == "multiple"
    if record["answer"] == "reject":
        sheet.leave_out("rejected")
    elif chosen is not None and not isinstance(chosen, list):
        raise unknown_version(peek.path, TITLE, f"'accept' of record {sheet.records} is no list", "lists of options")
    elif not chosen and not several:
        sheet.leave_out("without a chosen option")
    else:
        sheet.add("accept", record["_input_hash"], _annotator(record, sheet, peek), chosen or [])


def _annotator(record: dict[str, Any], sheet: Sheet, peek: Peek) -> Any:
    who = record.get("_annotator_id") or record.get("_session_id")
    if who is None:
        msg = (
            f"File '{peek.path}' ({TITLE}): record {sheet.records} does not say who answered: it has neither "
            "'_annotator_id' nor '_session_id'. Export with named sessions, or pass annotator= another field."
        )
        raise InputError(msg)
    return who


FORMAT = Format(
    name="prodigy",
    title=TITLE,
    recognise=recognise,
    read=read,
    holds="_input_hash / _annotator_id or _session_id / the option in accept, or accept and reject",
    example="covote aggregate annotations.jsonl",
)
