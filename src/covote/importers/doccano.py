"""doccano: a folder or zip with one JSONL per user, or the old style with users inside -> answers."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterator
from typing import Any

from covote.errors import InputError
from covote.importers.json_stream import CutError, documents
from covote.importers.peek import Peek, cut, opened, peek, records
from covote.importers.value import Format, Options, Sheet, unknown_version

TITLE = "doccano"
_PEOPLE = {
    "annotator",
    "annotators",
    "worker",
    "user",
    "rater",
    "judge",
    "labeler",
    "coder",
    "model",
    "author",
    "reviewer",
}


def recognise(look: Peek) -> bool:
    """Old: annotations with a user and a label. Now: a list `label` beside the text, in files named by the user."""
    if look.kind in ("folder", "zip"):
        names = [name for name in look.names if not name.startswith((".", "__MACOSX"))]
        return bool(names) and all(n.endswith(".jsonl") for n in names) and _is_record(_first(look, names[0]))
    return look.kind in ("lines", "object") and (_is_record(look.record) or _is_old(look.record))


def read(look: Peek, options: Options, sheet: Sheet) -> None:  # noqa: ARG001
    """The label of each user; several labels are an answer with several labels."""
    if look.kind not in ("folder", "zip"):
        if _is_old(look.record):
            _read_old(look, sheet)
        else:
            _read_user(_user(look.path), records(look), look, sheet)
        return
    for name in sorted(look.names):
        if name.endswith(".jsonl") and not name.startswith((".", "__MACOSX")):
            _read_user(_user(name), _member(look, name), look, sheet)


def _read_user(user: str, found: Iterator[Any], look: Peek, sheet: Sheet) -> None:
    for record in found:
        sheet.records += 1
        if not _is_record(record):
            raise unknown_version(look.path, TITLE, f"a record of '{user}' has no id or label", "records with both")
        labels = record["label"] if isinstance(record["label"], list) else [record["label"]]
        if any(isinstance(label, (list, dict)) for label in labels):
            raise _spans(look)
        if labels:
            sheet.add("label", record["id"], user, labels)
        else:
            sheet.leave_out("without a label")


def _read_old(look: Peek, sheet: Sheet) -> None:
    for record in records(look):
        sheet.records += 1
        if not _is_old(record) and record.get("annotations") != []:
            raise unknown_version(look.path, TITLE, f"record {sheet.records} has no annotations", "records with them")
        by_user: dict[Any, list[Any]] = {}
        for annotation in record["annotations"]:
            if "start_offset" in annotation or "label" not in annotation or "user" not in annotation:
                raise _spans(look)
            by_user.setdefault(annotation["user"], []).append(annotation["label"])
        for user, labels in by_user.items():
            sheet.add("label", record["id"], user, labels)
        if not by_user:
            sheet.leave_out("without a label")


def _spans(look: Peek) -> InputError:
    return InputError(f"File '{look.path}' ({TITLE}) marks spans of text. covote reads labels of whole texts only.")


def _is_record(record: Any) -> bool:
    if (
        not isinstance(record, dict)
        or not {"id", "label"} <= set(record)
        or not {"text", "filename", "data"} & set(record)
    ):
        return False
    named = {"".join(filter(str.isalpha, key.lower())).removesuffix("id").removesuffix("name") for key in record}
    return isinstance(record["label"], list) and not named & _PEOPLE  # another tool's, which names who answered


def _is_old(record: Any) -> bool:
    if not isinstance(record, dict) or not {"id", "annotations"} <= set(record) or "data" in record:
        return False
    found = record["annotations"]
    return isinstance(found, list) and bool(found) and isinstance(found[0], dict) and {"label", "user"} <= set(found[0])


def _first(look: Peek, name: str) -> Any:
    if look.kind == "folder":
        return peek(os.path.join(look.path, name)).record
    try:
        with zipfile.ZipFile(look.path) as archive, archive.open(name) as stream:
            return json.loads(stream.readline())
    except (ValueError, zipfile.BadZipFile, EOFError):
        return None


def _member(look: Peek, name: str) -> Iterator[Any]:
    try:
        if look.kind == "folder":
            with opened(os.path.join(look.path, name)) as text:
                yield from documents(text)
            return
        with zipfile.ZipFile(look.path) as archive:
            for line in archive.read(name).decode("utf-8-sig").splitlines():
                if line.strip():
                    yield json.loads(line)
    except (CutError, ValueError, zipfile.BadZipFile, EOFError) as error:
        raise cut(look.path, f"{name}: {error}") from None


def _user(name: str) -> str:
    return os.path.basename(name).removesuffix(".jsonl")


FORMAT = Format(
    name="doccano",
    title="doccano (folder, zip or JSONL)",
    recognise=recognise,
    read=read,
    holds="id / the name of the file, or annotations[].user / label",
    example="covote aggregate exported_folder/",
)
