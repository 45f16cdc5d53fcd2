"""Logs of OpenAI evals, one per model: a line with the spec, then events -> answers of the models."""

from __future__ import annotations

from typing import Any

from covote.importers.peek import Peek, records
from covote.importers.value import Format, Options, Sheet, unknown_version

TITLE = "a log of OpenAI evals"


def recognise(peek: Peek) -> bool:
    """The first line is the spec of a run."""
    spec = peek.record.get("spec") if peek.kind in ("lines", "object") and peek.has("spec") else None
    return isinstance(spec, dict) and "eval_name" in spec


def read(peek: Peek, options: Options, sheet: Sheet) -> None:  # noqa: ARG001
    """Events of type `match` give what was picked and what was expected."""
    spec = peek.record["spec"]
    model, question = _model(spec, peek), str(spec.get("base_eval") or spec["eval_name"])
    for event in records(peek):
        if not isinstance(event, dict):
            raise unknown_version(peek.path, TITLE, "a line is no record", "one record per line")
        if event.get("type") != "match":
            continue
        sheet.records += 1
        data, item = event.get("data"), event.get("sample_id")
        if not isinstance(data, dict) or item is None or not {"picked", "correct"} & set(data):
            raise unknown_version(peek.path, TITLE, "a match has no sample_id or no data", "matches with both")
        picked = data.get("picked", data.get("sampled"))
        if picked in (None, "", []):
            sheet.leave_out("samples where nothing was picked")
            continue
        sheet.add(question, item, model, picked)
        expected = data.get("expected")
        expected = expected[0] if isinstance(expected, list) and len(expected) == 1 else expected
        if isinstance(expected, str):
            sheet.add_gold(question, item, expected)


def _model(spec: dict[str, Any], peek: Peek) -> str:
    found = spec.get("completion_fns") or spec.get("model_names") or spec.get("model_name")
    if isinstance(found, dict):
        found = found.get("completions") or list(found.values())
    if isinstance(found, (list, tuple)) and len(found) >= 1:
        found = found[0]
    if not isinstance(found, str):
        raise unknown_version(peek.path, TITLE, "its spec names no model", "specs with completion_fns")
    return found


FORMAT = Format(
    name="openai-evals",
    title="OpenAI evals logs (.jsonl)",
    recognise=recognise,
    read=read,
    holds="sample_id / the model of the spec / data.picked of matches, gold: data.expected",
    example="covote aggregate 'logs/*.jsonl'",
)
