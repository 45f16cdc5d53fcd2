"""promptfoo's results: providers that pass or fail tests, or graders that judge outputs -> answers."""

from __future__ import annotations

from collections import Counter
from typing import Any

from covote.importers.peek import Peek
from covote.importers.value import Format, Options, Sheet, one_of, unknown_version

TITLE = "promptfoo results"
VERSIONS = (3, 4)
WHO = ("providers", "graders")


def recognise(peek: Peek) -> bool:
    """An object whose `results` hold a list of results, with the configuration beside them."""
    inner = peek.document.get("results") if peek.kind == "object" and peek.has("results", "config") else None
    return isinstance(inner, dict) and isinstance(inner.get("results"), list) and "version" in inner


def read(peek: Peek, options: Options, sheet: Sheet) -> None:
    """`annotators` says who answers: "providers" (pass or fail of a test), or "graders" (of each output)."""
    who = one_of(options, WHO, None, peek.path, TITLE)
    inner = peek.document["results"]
    if inner["version"] not in VERSIONS:
        raise unknown_version(peek.path, TITLE, f"its version is {inner['version']!r}", "versions 3 and 4")
    prompts = {result.get("promptIdx") for result in inner["results"] if isinstance(result, dict)}
    for result in inner["results"]:
        sheet.records += 1
        if not isinstance(result, dict) or result.get("testIdx") is None or _provider(result) is None:
            raise unknown_version(peek.path, TITLE, "a result has no testIdx or no provider", "results with both")
        if result.get("failureReason") == 2:
            sheet.leave_out("errors")
            continue
        test = _test(result, prompts, providers="providers" in who)
        if "providers" in who:
            if not isinstance(result.get("success"), bool):
                raise unknown_version(
                    peek.path, TITLE, "a result does not say whether it passed", "results with success"
                )
            sheet.add("pass", test, _provider(result), _verdict(result["success"]))
        else:
            _graders(result, test, sheet)


def _test(result: dict[str, Any], prompts: set[Any], *, providers: bool) -> str:
    """The item: a test; with its prompt where there are several; for graders one output, so with its provider too.

    promptfoo numbers the prompts per provider, so a prompt is told by its own id.
    """
    name = f"test {result['testIdx']}"
    if len(prompts) > 1:
        name += f", prompt {str(result.get('promptId') or result.get('promptIdx'))[:12]}"
    return name if providers else f"{name}, {_provider(result)}"


def _graders(result: dict[str, Any], test: str, sheet: Sheet) -> None:
    grading = result.get("gradingResult")
    parts = grading.get("componentResults") if isinstance(grading, dict) else None
    if not parts:
        sheet.leave_out("outputs without graders")
        return
    seen: Counter[str] = Counter()
    for part in parts:
        name = _grader(part.get("assertion") if isinstance(part, dict) else None)
        if name is None or not isinstance(part.get("pass"), bool):
            sheet.leave_out("grades without an assertion or a verdict")
            continue
        seen[name] += 1
        sheet.add("pass", test, name if seen[name] == 1 else f"{name} ({seen[name]})", _verdict(part["pass"]))


def _grader(assertion: Any) -> str | None:
    """The name of a grader: its metric, else its type, with the model that grades."""
    if not isinstance(assertion, dict) or not assertion.get("type"):
        return None
    if assertion.get("metric"):
        return str(assertion["metric"])
    model = assertion.get("provider")
    model = model.get("id") if isinstance(model, dict) else model
    return f"{assertion['type']} by {model}" if model else str(assertion["type"])


def _provider(result: dict[str, Any]) -> str | None:
    provider = result.get("provider")
    if isinstance(provider, dict):
        return provider.get("label") or provider.get("id")
    return provider if isinstance(provider, str) else None


def _verdict(passed: bool) -> str:
    return "pass" if passed else "fail"


FORMAT = Format(
    name="promptfoo",
    title="promptfoo results (.json)",
    recognise=recognise,
    read=read,
    holds="test (and prompt) / providers, or graders of each output / pass or fail",
    example="covote aggregate results.json --annotators graders",
    annotators=WHO,
)
