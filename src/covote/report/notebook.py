"""A fitted estimator in, the compact report of a notebook out: HTML without a script, in the notebook's colours."""

from __future__ import annotations

from covote.errors import NotFittedError
from covote.estimators.base import Aggregator
from covote.report.collect import Extras, collect
from covote.report.facts import Annotator, Facts
from covote.report.html import Markup, joined, label_of, name_of, tag
from covote.report.theme import LIGHT
from covote.report.words import counted, percent, whole

_FEW = 5

_STYLE = (
    ".covote{max-width:46rem;line-height:1.5}.covote table{margin:.5rem 2rem .5rem 0;display:inline-table;"
    "vertical-align:top;font-size:.9em}.covote th,.covote td{text-align:left!important;padding:.15rem .9rem .15rem 0}"
    ".covote bdi{display:inline-block;max-width:12rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;"
    "vertical-align:bottom}.covote i{display:inline-block;height:.6em;background:" + LIGHT["accent"] + ";opacity:.75}"
    ".covote .label{font-weight:600}"
)


def compact(estimator: Aggregator) -> str:
    """The result in three sentences, the largest classes, best and weakest annotators, items most in doubt.

    An estimator that is not fitted, or whose answers stayed in their frame, shows its options.
    """
    try:
        facts = collect(estimator, extras=Extras(deep=False))
    except NotFittedError:
        return tag("code", repr(estimator))
    return tag(
        "div",
        tag("style", Markup(_STYLE)),
        tag("p", tag("b", type(estimator).__name__), ": ", " ".join(facts.outcome.sentences)),
        _classes(facts),
        _annotators(facts),
        _doubts(facts),
        tag("p", "The whole report: ", tag("code", 'fit.report("report.html")')),
        class_="covote",
    )


def _table(head: tuple[str, ...], rows: list[tuple[object, ...]]) -> Markup:
    top = joined(tag("th", h) for h in head)
    body = joined(tag("tr", *(tag("td", c) for c in row)) for row in rows)
    return tag("table", tag("thead", tag("tr", top)), tag("tbody", body))


def _bar(share: float) -> Markup:
    return tag("i", style=f"width:{4 * share:.2f}rem")


def _classes(facts: Facts) -> Markup:
    shown = facts.classes[: 2 * _FEW]
    rows: list[tuple[object, ...]] = [
        (label_of(c.label), joined((_bar(c.share.value), " ", percent(c.share.value)))) for c in shown
    ]
    if len(facts.classes) > len(shown):
        rows.append((f"{whole(facts.outcome.classes - len(shown))} more", ""))
    return _table(("class", "expected share"), rows)


def _annotators(facts: Facts) -> Markup:
    ranked = facts.annotators
    few = len(ranked) <= 2 * _FEW
    shown = [*ranked] if few else [*ranked[:_FEW], None, *ranked[-_FEW:]]
    rows = [("…", "", "") if a is None else _annotator(a) for a in shown]
    return _table(("annotator", "right", "answers"), list(rows))


def _annotator(a: Annotator) -> tuple[object, ...]:
    return name_of(a.annotator), joined((_bar(a.accuracy.value), " ", percent(a.accuracy.value))), whole(a.answers)


def _doubts(facts: Facts) -> Markup:
    if not facts.doubts:
        return Markup("")
    rows: list[tuple[object, ...]] = [
        (name_of(d.item), label_of(d.label), percent(d.confidence)) for d in facts.doubts[:_FEW]
    ]
    left = facts.outcome.uncertain_items - len(rows)
    if left > 0:
        rows.append((f"{counted(left, 'item')} more", "", ""))
    return _table(("item in doubt", "label", "certainty"), rows)
