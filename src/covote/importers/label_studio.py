"""Label Studio's JSON export: tasks with annotations of people and predictions of models -> answers."""

from __future__ import annotations

from typing import Any

from covote.importers.peek import Peek, records
from covote.importers.value import Format, Options, Sheet, one_of, unknown_version

TITLE = "Label Studio (JSON)"
_REGION = {"start", "end", "x", "y", "points", "rle", "startOffset", "brushlabels", "item_index"}
_WHOLE = ("choices", "rating", "number", "taxonomy", "pairwise", "datetime")
"""Types of answers about the whole task; the others mark regions, or are free text."""
WHO = ("people", "predictions")


def recognise(peek: Peek) -> bool:
    """Tasks with `data` and a list of annotations (`completions` in old files)."""
    if peek.kind not in ("array", "lines") or not peek.has("data"):
        return False
    return any(isinstance(peek.record.get(key), list) for key in ("annotations", "completions"))


def read(peek: Peek, options: Options, sheet: Sheet) -> None:
    """Answers by `from_name` as the question; skipped, empty and draft annotations are counted and left out."""
    who = one_of(options, WHO, "people", peek.path, TITLE)
    for task in records(peek):
        sheet.records += 1
        answers = _annotations(task, peek)
        if "people" in who:
            sheet.leave_out("drafts", len(_listed(task.get("drafts"))))
            for annotation in answers:
                _annotation(task, annotation, sheet, peek)
        if "predictions" in who:
            for prediction in _listed(task.get("predictions")):
                _prediction(task, prediction, sheet, peek)


def _annotations(task: Any, peek: Peek) -> list[Any]:
    if isinstance(task, dict) and task.get("id") is not None:
        found = task.get("annotations", task.get("completions"))
        if isinstance(found, list):
            return found
    raise unknown_version(peek.path, TITLE, "a task has no 'id' or no list of 'annotations'", "tasks that have both")


def _annotation(task: dict[str, Any], annotation: Any, sheet: Sheet, peek: Peek) -> None:
    if not isinstance(annotation, dict) or not isinstance(annotation.get("result"), list):
        raise unknown_version(
            peek.path, TITLE, f"an annotation of task {task['id']} has no 'result'", "lists of results"
        )
    if annotation.get("was_cancelled") or annotation.get("skipped"):
        sheet.leave_out("skipped")
        return
    person = _person(annotation.get("completed_by"))
    gold = bool(annotation.get("ground_truth"))
    if person is None and not gold:
        found = f"an annotation of task {task['id']} does not say who made it ('completed_by')"
        raise unknown_version(peek.path, TITLE, found, "annotations with 'completed_by'")
    labels = _labels(annotation["result"], sheet)
    if not annotation["result"]:
        sheet.leave_out("empty")
    for question, label in labels.items():
        if gold:
            sheet.add_gold(question, task["id"], label)
        else:
            sheet.add(question, task["id"], person, label)
    if gold:
        sheet.leave_out("ground truths (kept as gold)")


def _prediction(task: dict[str, Any], prediction: Any, sheet: Sheet, peek: Peek) -> None:
    if not isinstance(prediction, dict) or not isinstance(prediction.get("result"), list):
        raise unknown_version(
            peek.path, TITLE, f"a prediction of task {task['id']} has no 'result'", "lists of results"
        )
    model = prediction.get("model_version") or "predictions"
    for question, label in _labels(prediction["result"], sheet).items():
        sheet.add(question, task["id"], str(model), label)


def _labels(results: list[Any], sheet: Sheet) -> dict[str, Any]:
    """The answer to each question of one annotation."""
    out: dict[str, Any] = {}
    for result in results:
        if not isinstance(result, dict) or "from_name" not in result:  # a relation between regions
            sheet.leave_out("relations")
            continue
        kind, value = str(result.get("type")), result.get("value")
        if not isinstance(value, dict) or kind not in _WHOLE or _REGION & set(value):
            sheet.leave_out(f"{kind} of question '{result['from_name']}' (not one label for the whole task)")
            continue
        label = _label(kind, value)
        if label is None:
            sheet.leave_out("empty")
        else:
            question = str(result["from_name"])
            out[question] = _several(out[question], label) if question in out else label
    return out


def _several(known: Any, label: Any) -> list[Any]:
    """Two results of one question are an answer with several labels."""
    return [*(known if isinstance(known, list) else [known]), *(label if isinstance(label, list) else [label])]


def _label(kind: str, value: dict[str, Any]) -> Any:
    found = value.get("selected" if kind == "pairwise" else kind)
    if kind == "taxonomy" and isinstance(found, list):
        return [" > ".join(map(str, path)) if isinstance(path, list) else str(path) for path in found] or None
    return found if found != [] else None


def _person(value: Any) -> Any:
    """The e-mail of a person where the file has it, else the id."""
    if isinstance(value, dict):
        return value.get("email") or value.get("id")
    return value


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


FORMAT = Format(
    name="label-studio",
    title=TITLE,
    recognise=recognise,
    read=read,
    holds="task id / completed_by (predictions: model_version) / the result of the question (from_name)",
    example="covote aggregate export.json --question sentiment",
    annotators=WHO,
)
