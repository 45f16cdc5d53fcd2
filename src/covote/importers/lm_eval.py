"""lm-evaluation-harness samples, one JSONL per model and task -> answers of the models."""

from __future__ import annotations

import os
import re
from typing import Any

from covote.importers.peek import Peek, records
from covote.importers.value import Format, Options, Sheet, unknown_version

TITLE = "lm-evaluation-harness samples"


def recognise(peek: Peek) -> bool:
    """Records with the document, the target and the model's responses."""
    return peek.kind in ("lines", "array", "object") and peek.has("doc_id", "doc", "target", "resps", "filtered_resps")


def read(peek: Peek, options: Options, sheet: Sheet) -> None:  # noqa: ARG001
    """The annotator is the model, which is the name of the folder; the question is the task, and its filter."""
    model, task = _model(peek.path), _task(peek.path)
    for record in records(peek):
        sheet.records += 1
        if not isinstance(record, dict) or not isinstance(record.get("resps"), list) or "doc_id" not in record:
            raise unknown_version(
                peek.path, TITLE, f"record {sheet.records} has no list of 'resps'", "records with one"
            )
        filter = record.get("filter")
        question = task if filter in (None, "none") else f"{task}, {filter}"
        item = record.get("doc_hash") or record["doc_id"]
        label = _label(record, peek)
        if label is None:
            sheet.leave_out("without a single answer")
            continue
        sheet.add(question, item, model, label)
        target = record.get("target")
        if isinstance(target, (str, int)) and not isinstance(target, bool) and str(target).strip():
            sheet.add_gold(question, item, str(target).strip())


def _label(record: dict[str, Any], peek: Peek) -> str | None:
    """Multiple choice: the number of the most likely choice; generation: the filtered text."""
    found = record["filtered_resps"]
    if not isinstance(found, list) or not found:
        return None
    if isinstance(found[0], list) and len(found[0]) == 2:
        try:
            likelihoods = [float(pair[0]) for pair in found]
        except (TypeError, ValueError, IndexError):
            known = "log-likelihoods of choices"
            raise unknown_version(peek.path, TITLE, "'filtered_resps' holds pairs that are no numbers", known) from None
        return str(likelihoods.index(max(likelihoods))) if len(likelihoods) > 1 else None
    if len(found) != 1 or not isinstance(found[0], str):
        return None
    return found[0].strip() or None


def _model(path: str) -> str:
    return os.path.basename(os.path.dirname(os.path.abspath(path)))


def _task(path: str) -> str:
    """The task in the name of the file, which is `samples_<task>_<time>.jsonl`.

    >>> _task("m/samples_arc_easy_2024-05-14T10-11-12.345678.jsonl")
    'arc_easy'
    """
    name = os.path.basename(path).split(".jsonl")[0]
    return re.sub(r"_\d{4}-\d{2}-\d{2}T[\d.:-]+$", "", name.removeprefix("samples_"))


FORMAT = Format(
    name="lm-eval",
    title="lm-evaluation-harness samples (.jsonl)",
    recognise=recognise,
    read=read,
    holds="doc_hash / the folder, which is the model / most likely choice or filtered_resps, gold: target",
    example="covote aggregate 'results/*/samples_arc_easy_*.jsonl'",
)
