"""Labels with confidence -> files that labelling tools take back: predictions, suggestions, a joined table."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from covote.annotations.native import to_list
from covote.annotations.shaped import table_records
from covote.annotations.tables import decode, make_table
from covote.errors import InputError
from covote.importers.multiple import joined
from covote.importers.peek import Peek, peek, records

AGENT = "covote"
Writer = Callable[[Path], None]


@dataclass(frozen=True)
class Labels:
    """The chosen label of every item, which is a list for answers with several labels, and its probability."""

    items: list[Any]
    labels: list[Any]
    confidence: list[float]
    method: str

    @classmethod
    def of(cls, estimator: Any) -> Labels:
        """From a fitted estimator."""
        loaded = estimator.loaded_
        chosen = to_list(decode(loaded.label_column(estimator.codes_)))
        return cls(loaded.annotations.items.to_list(), chosen, estimator.confidence_.tolist(), estimator.method_name)

    @property
    def version(self) -> str:
        """Who made the labels, as tools show it."""
        return f"{AGENT} {self.method}"

    def columns(self) -> dict[str, list[Any]]:
        """A table; lists of labels are joined by semicolons."""
        texts = ["; ".join(label) if isinstance(label, list) else label for label in self.labels]
        return {"item": self.items, "label": texts, "confidence": self.confidence}

    def by_item(self) -> dict[str, tuple[Any, float]]:
        """Labels and confidence by the text of the item, since files know no types."""
        return {str(i): (x, c) for i, x, c in zip(self.items, self.labels, self.confidence, strict=True)}


def joined_lists(labels: Labels) -> Labels:
    """Yes/no labels of an item's options -> the options with yes; the confidence is that of the least sure option."""
    found = joined(zip(labels.items, labels.labels, strict=True))
    least: dict[str, float] = {}
    for key, sure in zip(labels.items, labels.confidence, strict=True):
        item = key.rpartition(" = ")[0]
        least[item] = min(sure, least.get(item, 1.0))
    return Labels(list(found), list(found.values()), [least[item] for item in found], labels.method)


def label_studio_writer(files: Any, labels: Labels, question: str | None) -> Writer:
    """Tasks of the export with the labels as predictions, ready to be imported: score and model version with each."""
    look = peek(files) if isinstance(files, str) else None
    if look is None or look.kind not in ("array", "lines") or not look.has("data", "id"):
        msg = "--write label-studio needs one JSON export of Label Studio to take the tasks from. Pass such a file."
        raise InputError(msg)

    def write(path: Path) -> None:
        known, control = labels.by_item(), _control(look, question)
        with path.open("w", encoding="utf-8") as out:
            out.write("[")
            mark = "\n"
            for task in records(look):
                if str(task["id"]) in known:
                    out.write(
                        mark + json.dumps(_predicted(task, known[str(task["id"])], control, labels), ensure_ascii=False)
                    )
                    mark = ",\n"
            out.write("\n]\n")

    return write


def _predicted(
    task: Mapping[str, Any], found: tuple[Any, float], control: Mapping[str, str], labels: Labels
) -> dict[str, Any]:
    label, score = found
    value = label if control["type"] not in ("choices", "taxonomy") or isinstance(label, list) else [label]
    if control["type"] == "taxonomy":
        value = [part.split(" > ") for part in value]
    result = {**control, "value": {"selected" if control["type"] == "pairwise" else control["type"]: value}}
    prediction = {"model_version": labels.version, "score": score, "result": [result]}
    return {"id": task["id"], "data": task["data"], "predictions": [prediction]}


def _control(look: Peek, question: str | None) -> dict[str, str]:
    """Names and type of the question, from the first result that answers it."""
    for task in records(look):
        for annotation in task.get("annotations", task.get("completions", [])):
            for result in annotation.get("result", []):
                if question in (None, result.get("from_name")) and result.get("type") and "from_name" in result:
                    return {name: result[name] for name in ("from_name", "to_name", "type")}
    msg = f"File '{look.path}' has no result of question '{question}'."
    raise InputError(msg)


def argilla_writer(labels: Labels, question: str) -> Writer:
    """Records with suggestions, for `dataset.records.log(json.load(open(path)))` with ids that Argilla knows."""

    def write(path: Path) -> None:
        rows = [
            {"id": item, f"{question}.suggestion": label, f"{question}.suggestion.score": score,
             f"{question}.suggestion.agent": labels.version}
            for item, label, score in zip(labels.items, labels.labels, labels.confidence, strict=True)
        ]  # fmt: skip
        path.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

    return write


def join_writer(table: str, labels: Labels, format: str) -> Writer:
    """The user's table with the columns `covote_label` and `covote_confidence` beside its own."""
    look = peek(table)
    rows = [dict(record) for record in table_records(look)]
    known = labels.by_item()
    key = _key(rows, known, table)

    def write(path: Path) -> None:
        names = list(dict.fromkeys(name for row in rows for name in row))
        columns: dict[str, list[Any]] = {name: [_text(row.get(name)) for row in rows] for name in names}
        found = [known.get(str(row.get(key)), (None, None)) for row in rows]
        columns["covote_label"] = [_text(label) for label, _ in found]
        columns["covote_confidence"] = [sure for _, sure in found]
        first, *others = columns
        relation = make_table("duckdb", first, columns[first], {name: columns[name] for name in others})
        relation.write_parquet(str(path)) if format == "parquet" else relation.write_csv(str(path), header=True)

    return write


def _key(rows: list[dict[str, Any]], known: Mapping[str, Any], table: str) -> str:
    """The one column whose values are the items."""
    names = list(rows[0]) if rows else []
    shared = {name: sum(str(row.get(name)) in known for row in rows) for name in names}
    best = [name for name in names if shared[name] == max(shared.values()) and shared[name]]
    if len(best) != 1:
        what = "No column" if not best else f"More than one column ({', '.join(best)})"
        msg = f"{what} of '{table}' holds the items that were labelled. Pass a table with one column of item ids."
        raise InputError(msg)
    return best[0]


def _text(value: Any) -> Any:
    return "; ".join(map(str, value)) if isinstance(value, list) else value if value is None else str(value)
