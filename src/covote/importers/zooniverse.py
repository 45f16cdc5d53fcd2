"""Zooniverse's classification export: one row per classification, its answers as JSON -> answers."""

from __future__ import annotations

import json
from typing import Any

from covote.importers.peek import Peek, rows
from covote.importers.value import Format, Options, Sheet, unknown_version

TITLE = "Zooniverse classifications"


def recognise(peek: Peek) -> bool:
    """The columns of a classification export."""
    return peek.kind == "table" and peek.has(
        "classification_id", "user_name", "workflow_id", "annotations", "subject_ids"
    )


def read(peek: Peek, options: Options, sheet: Sheet) -> None:  # noqa: ARG001
    """The question is the task, with its workflow where there are several; drawings and texts are left out."""
    table = list(rows(peek))
    several = len({row["workflow_id"] for row in table}) > 1
    for row in table:
        sheet.records += 1
        try:
            tasks = json.loads(row["annotations"])
        except ValueError:
            tasks = None
        if not isinstance(tasks, list) or not row["subject_ids"] or not row["user_name"]:
            found = f"classification {row['classification_id']} has no user, subject or list of annotations"
            raise unknown_version(peek.path, TITLE, found, "rows with all three")
        for name, labels in _answers(tasks, sheet, peek).items():
            question = f"{row['workflow_id']}/{name}" if several else name
            if row.get("gold_standard", "").lower() == "true":
                sheet.add_gold(question, row["subject_ids"], labels)
                sheet.leave_out("gold standards (kept as gold)")
            else:
                sheet.add(question, row["subject_ids"], row["user_name"], labels)


def _answers(tasks: list[Any], sheet: Sheet, peek: Peek) -> dict[str, list[Any]]:
    """The labels given to each task of one classification."""
    out: dict[str, list[Any]] = {}
    for task in tasks:
        if not isinstance(task, dict) or "task" not in task or "value" not in task:
            raise unknown_version(peek.path, TITLE, "an annotation has no task or value", "annotations with both")
        value = task["value"]
        if isinstance(value, list) and value and isinstance(value[0], dict) and isinstance(value[0].get("task"), str):
            for name, inner in _answers(value, sheet, peek).items():  # a combination of tasks
                out.setdefault(name, []).extend(inner)
            continue
        labels = _labels(value)
        if labels is None:
            sheet.leave_out(f"answers of task {task['task']} that are no choice")
        elif labels:
            known = out.setdefault(str(task["task"]), [])
            known.extend(label for label in labels if label not in known)
        else:
            sheet.leave_out("without an answer")
    return out


def _labels(value: Any) -> list[Any] | None:
    """Choices of a question or a survey; None for drawings and the like."""
    if value is None or value == "":
        return []
    if isinstance(value, (str, int, float)):
        return [value]
    if isinstance(value, list):
        if all(isinstance(part, (str, int)) for part in value):
            return value
        if all(isinstance(part, dict) and isinstance(part.get("choice"), str) for part in value):
            return [part["choice"] for part in value]
    return None


FORMAT = Format(
    name="zooniverse",
    title="Zooniverse classifications (.csv)",
    recognise=recognise,
    read=read,
    holds="subject_ids / user_name / the value of a task in annotations",
    example="covote aggregate classifications.csv --question T0",
)
