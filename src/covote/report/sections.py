"""Facts in, the sections of the page about the labels out: the result, classes, confidence, items in doubt."""

from __future__ import annotations

from covote.report.chart import Chart
from covote.report.facts import Doubt, Facts, Votes
from covote.report.html import Drawn, Markup, bar, cell, figure, grid, joined, label_of, listed, name_of, search, tag
from covote.report.words import counted, interval, number, percent, whole

Charts = dict[str, Chart]

FIRST_ROWS = 15
"""Rows of a long table that show at once; the rest unfolds."""


def section(name: str, title: str, *content: Markup) -> Markup:
    """A section with its heading."""
    return tag("section", tag("h2", title), *content, id=name, aria_labelledby=None)


def paragraph(*content: object, kind: str | None = None) -> Markup:
    """A paragraph."""
    return tag("p", *content, class_=kind)


def left_out(facts: Facts, *sections: str) -> Markup:
    """The sentences that say what the lists of a section do not hold."""
    said = [facts.left_out[s] for s in sections if s in facts.left_out]
    return paragraph(" ".join(said), kind="left-out") if said else Markup("")


def result(facts: Facts, charts: Charts, drawings: Drawn | None) -> Markup:
    """The result in three sentences and its numbers."""
    del charts, drawings
    o = facts.outcome
    tiles: list[tuple[str, str]] = [
        (whole(o.items), "items"),
        (whole(o.annotators), "annotators"),
        (whole(o.answers), "answers"),
        (whole(o.classes), "classes"),
        (percent(o.uncertain_share), "of labels in doubt"),
        (percent(o.expected_error.value), "expected error"),
    ]
    if o.error is not None:
        tiles.insert(4, (number(o.answers_per_item), "answers an item"))
        ends = tag("span", f"({interval(o.error)})", class_="short")
        tiles.append((percent(o.error.value), joined(("error measured ", ends))))
    numbers = joined(tag("div", tag("dt", name), tag("dd", value)) for value, name in tiles)
    notes = joined(tag("li", n) for n in (*o.notes, *_asides(facts)))
    return joined(
        (
            tag("div", *(paragraph(s) for s in o.sentences), class_="lead"),
            tag("dl", numbers, class_=f"tiles n{len(tiles)}"),
            tag("ul", notes, class_="notes") if notes else "",
        )
    )


def _asides(facts: Facts) -> list[str]:
    o, out = facts.outcome, []
    if not facts.convergence.converged:
        out.append(facts.convergence.status)
    if o.tied_items:
        out.append(f"{counted(o.tied_items, 'item')} ended in an exact tie.")
    if o.single_answer_items:
        verb = "rests" if o.single_answer_items == 1 else "rest"
        out.append(f"{counted(o.single_answer_items, 'item')} {verb} on a single answer, or none.")
    return out


def classes(facts: Facts, charts: Charts, drawings: Drawn | None) -> Markup:
    """Class shares."""
    return joined((figure(charts.get("classes"), drawings), left_out(facts, "classes")))


def confidence(facts: Facts, charts: Charts, drawings: Drawn | None) -> Markup:
    """Histogram of confidence, and calibration where truth is known."""
    drawn = figure(charts.get("confidence"), drawings)
    if facts.outcome.error is None:
        remark = "No truth was given, so nothing here can say whether the confidence is deserved: pass --truth to see."
        return joined((drawn, paragraph(remark, kind="caption")))
    return joined((drawn, figure(charts.get("calibration"), drawings)))


def doubts(facts: Facts, charts: Charts, drawings: Drawn | None) -> Markup:
    """The items of lowest confidence with who said what."""
    del charts, drawings
    limit = percent(facts.outcome.uncertain_below, 0)
    if not facts.doubts:
        return paragraph(f"No label is less than {limit} certain.")
    head = [("item", "text"), ("label", "text"), ("certainty", "number"), ("who said what", "text")]
    table = grid("Items in doubt", head, map(_doubt_row, facts.doubts), name="doubts-table", first=FIRST_ROWS)
    intro = (
        "Least certain first. Behind each annotator: how often its answers are right, which is why two votes can "
        "outweigh three."
    )
    return joined(
        (paragraph(intro), search("doubts-table", "Search items, labels, annotators"), table, left_out(facts, "doubts"))
    )


def _doubt_row(d: Doubt) -> Markup:
    lines = [tag("div", label_of(d.label))]
    if d.rival_probability:
        lines.append(tag("div", "or ", label_of(d.rival), f" {percent(d.rival_probability)}", class_="second"))
    if d.truth is not None:
        lines.append(
            tag("div", "truth ", label_of(d.truth, "right" if d.truth == d.label else "wrong"), class_="second")
        )
    return tag(
        "tr",
        cell(name_of(d.item), class_="id"),
        cell(joined(lines), class_="short"),
        cell(joined((bar(d.confidence), percent(d.confidence))), d.confidence, class_="number"),
        cell(joined(_vote(v) for v in d.votes), class_="votes"),
    )


def _vote(v: Votes) -> Markup:
    people = listed(
        tag("span", name_of(a), tag("small", f" ({percent(q, 0)})"), class_="short")
        for a, q in zip(v.annotators, v.accuracies, strict=True)
    )
    more = f" and {whole(v.count - len(v.annotators))} more" if v.count > len(v.annotators) else ""
    return tag("div", label_of(v.label), tag("small", f" × {whole(v.count)}: "), people, more)


def convergence(facts: Facts, charts: Charts, drawings: Drawn | None) -> Markup:
    """How the fit ended."""
    c = facts.convergence
    chosen = joined(
        (paragraph("How the method chose:"), tag("ul", *(tag("li", s) for s in c.explanation), class_="notes"))
    )
    return joined((paragraph(c.status), chosen if c.explanation else "", figure(charts.get("convergence"), drawings)))


def comparison(facts: Facts, charts: Charts, drawings: Drawn | None) -> Markup:
    """Methods side by side, where several were run."""
    if not facts.comparison:
        return Markup("")
    failed = [r for r in facts.comparison if not r.ran]
    said = [tag("li", tag("b", r.method), f": {r.status}") for r in failed]
    missing = joined((paragraph("Not run:"), tag("ul", *said))) if said else Markup("")
    return joined((figure(charts.get("comparison"), drawings), missing))


def settings(facts: Facts, charts: Charts, drawings: Drawn | None) -> Markup:
    """What one needs to get the same result again."""
    del charts, drawings
    s = facts.settings
    rows = [("method", s.method), *((name, _value(v)) for name, v in s.options), *s.versions, ("written", s.written)]
    pairs = joined(tag("div", tag("dt", name), tag("dd", tag("bdi", value))) for name, value in rows)
    return tag("dl", pairs, class_="settings")


def _value(value: object) -> str:
    return number(value) if isinstance(value, float) and not isinstance(value, bool) else str(value)
