"""Inspect AI's logs, `.json` and `.eval`: scorers as judges of a model, or models across logs -> answers."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from typing import Any

from covote.errors import FileError
from covote.importers.peek import Peek, cut
from covote.importers.value import Format, Options, Sheet, Within, one_of, unknown_version

TITLE = "an Inspect AI log"
VERSIONS = (1, 2)
WHO = ("scorers", "models")


def recognise(peek: Peek) -> bool:
    """A zip with samples and a header or journal, or an object with the parts of a log."""
    if peek.kind == "zip":
        return "header.json" in peek.names or "_journal/start.json" in peek.names
    return peek.kind == "object" and peek.has("eval", "status", "version") and isinstance(peek.document["eval"], dict)


def read(peek: Peek, options: Options, sheet: Sheet) -> None:
    """`annotators` says who answers: "scorers" judge one model's samples, or "models" answer, one log each."""
    who = one_of(options, WHO, None, peek.path, TITLE)
    header = _header(peek) if peek.kind == "zip" else peek.document
    model = _model(header, peek)
    for sample in _samples(peek):
        sheet.records += 1
        scores = sample.get("scores") or ({"score": sample["score"]} if sample.get("score") else None)
        if not scores:
            sheet.leave_out("samples without a score")
            continue
        if not isinstance(scores, dict) or sample.get("id") is None:
            raise unknown_version(
                peek.path, TITLE, "a sample has no 'id' or no 'scores' by scorer", "samples with both"
            )
        _sample({**sample, "scores": scores}, model, who, options, sheet)


def _sample(sample: dict[str, Any], model: str, who: tuple[str, ...], options: Options, sheet: Sheet) -> None:
    epoch = sample.get("epoch", 1)
    item = sample["id"] if epoch in (1, None) else f"{sample['id']} (epoch {epoch})"
    for scorer, score in sample["scores"].items():
        for aspect, value in _values(score, options).items():
            name = str(scorer) if aspect == "score" else f"{scorer}.{aspect}"
            if value is None or isinstance(value, (list, dict)):
                sheet.leave_out(f"scores of '{name}' that are no single value")
            elif "models" in who:
                sheet.add(name, item, model, value)
                _gold(name, item, sample, sheet, wanted=aspect == "answer")
            else:
                sheet.add(aspect, Within(model, item), str(scorer), value)


def _values(score: Any, options: Options) -> dict[str, Any]:
    """The value of a score; a record of values gives several aspects; the answer only where it is asked for."""
    value = score.get("value") if isinstance(score, dict) else score
    out = {str(key): part for key, part in value.items()} if isinstance(value, dict) else {"score": value}
    asked = (options.question or "").rpartition(".")[2]
    if asked == "answer" and isinstance(score, dict):
        out["answer"] = score.get("answer")
    return out


def _gold(name: str, item: Any, sample: dict[str, Any], sheet: Sheet, *, wanted: bool) -> None:
    """The target is an answer, so it is the truth about answers and not about verdicts."""
    target = sample.get("target")
    if wanted and isinstance(target, str) and target.strip():
        sheet.add_gold(name, item, target.strip())


def _model(header: Any, peek: Peek) -> str:
    version = header.get("version")
    if version not in VERSIONS:
        raise unknown_version(peek.path, TITLE, f"its version is {version!r}", "versions 1 and 2")
    model = header.get("eval", {}).get("model")
    if not isinstance(model, str):
        raise unknown_version(peek.path, TITLE, "it names no model", "logs with eval.model")
    return model


def _header(peek: Peek) -> Any:
    name = "header.json" if "header.json" in peek.names else "_journal/start.json"
    return next(_members(peek, [name]))


def _samples(peek: Peek) -> Iterator[dict[str, Any]]:
    if peek.kind == "zip":
        yield from _members(peek, [n for n in peek.names if n.startswith("samples/") and n.endswith(".json")])
        return
    samples = peek.document.get("samples")
    if samples is not None and not isinstance(samples, list):
        raise unknown_version(peek.path, TITLE, "'samples' is no list", "lists of samples")
    yield from samples or []


def _members(peek: Peek, names: list[str]) -> Iterator[Any]:
    try:
        with zipfile.ZipFile(peek.path) as archive:
            for name in names:
                yield json.loads(archive.read(name))
    except (zipfile.BadZipFile, EOFError, ValueError) as error:
        raise cut(peek.path, str(error)) from None
    except NotImplementedError:
        msg = f"File '{peek.path}' is packed in a way that Python cannot unpack. Run: inspect log convert --to json."
        raise FileError(msg) from None


FORMAT = Format(
    name="inspect",
    title="Inspect AI logs (.json, .eval)",
    recognise=recognise,
    read=read,
    holds="sample id / scorers, or models across logs / the score (question NAME.answer: the answer, gold: target)",
    example="covote aggregate logs/*.eval --annotators models --question match",
    annotators=WHO,
)
