"""Facts in, the sections of the page about the annotators out: ranking, confusion, overlap, identifiability."""

from __future__ import annotations

import math

from covote.report.charts_people import STRONG
from covote.report.facts import Annotator, Facts
from covote.report.facts_trust import Finding
from covote.report.html import (
    Drawn,
    Markup,
    cell,
    figure,
    folded,
    grid,
    joined,
    listed,
    name_of,
    prose,
    range_bar,
    search,
    tag,
)
from covote.report.sections import FIRST_ROWS, Charts, left_out, paragraph
from covote.report.words import counted, interval, number, percent, shown, whole

FIRST_CARDS = 12
_NUMBERED = 6  # classes up to which a small matrix shows numbers


def annotators(facts: Facts, charts: Charts, drawings: Drawn | None) -> Markup:
    """The ranking, with quality, volume and what stands out."""
    if not facts.annotators:
        return paragraph("There are no annotators.")
    flagged = any(a.flags for a in facts.annotators)
    head = [("", "number"), ("annotator", "text"), ("answers", "number"), ("right", "number"), ("bits", "number")]
    head += [("worst confusion", "text")]
    head += [("stands out", "text")] if flagged else []
    rows = (_row(a, flagged=flagged) for a in facts.annotators)
    table = grid("Annotators, best first", head, rows, name="annotators-table", first=FIRST_ROWS)
    intro = (
        "Best first, by bits: what one answer tells about the class. A spammer tells nothing however often it is right "
        "by luck; someone reliably wrong tells much. “Right” is the share of answers that are."
    )
    intro += f" The shaded part of a bar is the {percent(facts.interval_level, 0)} interval."
    return joined(
        (
            figure(charts.get("annotators"), drawings),
            tag("h3", "The ranking"),
            paragraph(intro),
            search("annotators-table", "Search annotators"),
            table,
            left_out(facts, "annotators"),
        )
    )


def _row(a: Annotator, *, flagged: bool) -> Markup:
    ends = interval(a.accuracy, 0)
    value = tag("span", percent(a.accuracy.value), class_="value")
    right = joined((range_bar(a.accuracy), value, tag("small", ends)))
    worst = Markup("–")
    if a.worst_rate is not None and a.worst_rate >= 0.005:
        worst = joined((name_of(a.worst_class), " taken for ", name_of(a.worst_label), f": {percent(a.worst_rate, 0)}"))
    marks = (
        (cell(joined(tag("span", f, class_="flag bad" if a.useless else "flag") for f in a.flags)),) if flagged else ()
    )
    return tag(
        "tr",
        cell(whole(a.rank), class_="number muted"),
        cell(name_of(a.annotator), class_="id"),
        cell(whole(a.answers), a.answers, class_="number"),
        cell(right, a.accuracy.value, class_="number"),
        cell(f"{a.bits:.2f}", a.bits, class_="number"),
        cell(worst, a.worst_rate or 0.0, class_="worst"),
        *marks,
    )


def matrices(facts: Facts, charts: Charts, drawings: Drawn | None) -> Markup:
    """The crowd's confusion matrix and those of single annotators as small multiples."""
    names = facts.matrices.names
    cards = joined(folded((_card(a, names) for a in facts.annotators if a.confusion is not None), FIRST_CARDS))
    listing = tag("div", cards, class_="cards", id="matrices-cards", data_first=FIRST_CARDS)
    intro = (
        "Columns are the class, rows the label given; every column adds to 100 %. Blue on the diagonal is right, "
        "orange is wrong."
    )
    return joined(
        (
            figure(charts.get("confusion"), drawings),
            tag("h3", "Annotator by annotator"),
            paragraph(intro),
            search("matrices-cards", "Search annotators"),
            listing,
            left_out(facts, "matrix_classes", "matrices"),
        )
    )


def _card(a: Annotator, names: tuple[object, ...]) -> Markup:
    assert a.confusion is not None
    numbers = len(names) <= _NUMBERED
    head = joined(tag("th", tag("bdi", shown(n, 40)), scope="col") for n in names)
    body = []
    for i, (label, row) in enumerate(zip(names, a.confusion, strict=True)):
        cells = (_heat(rate, right=i == j, number=numbers) for j, rate in enumerate(row))
        body.append(tag("tr", tag("th", tag("bdi", shown(label, 40)), scope="row"), *cells))
    grid_ = tag(
        "table", tag("thead", tag("tr", tag("td"), head)), tag("tbody", *body), class_="heat", style=f"--k:{len(names)}"
    )
    said = f"{whole(a.answers)} answers, {percent(a.accuracy.value, 0)} right"
    return tag("article", tag("h4", name_of(a.annotator)), paragraph(said, kind="caption"), grid_, class_="card")


def _heat(rate: float, *, right: bool, number: bool) -> Markup:
    kinds = ("r" if right else "") + (" s" if rate > STRONG else "")
    shade = f"--a:{math.sqrt(rate):.3g}"  # the root: small errors stay visible
    return tag("td", f"{100 * rate:.0f}" if number else "", class_=kinds.strip() or None, style=shade)


def overlap(facts: Facts, charts: Charts, drawings: Drawn | None) -> Markup:
    """Who shares items with whom."""
    o = facts.overlap
    said = []
    if o.components > 1:
        said.append(
            f"The largest group has {whole(o.largest_component)} annotators; {whole(o.annotators_alone)} annotators "
            "share no item with anybody, so nobody can tell how good they are."
        )
    return joined(
        (
            *(paragraph(s) for s in said),
            figure(charts.get("overlap"), drawings),
            left_out(facts, "overlap"),
            figure(charts.get("answers"), drawings),
        )
    )


def findings(facts: Facts, charts: Charts, drawings: Drawn | None) -> Markup:
    """What the diagnosis found, worst first."""
    del charts, drawings
    d = facts.diagnosis
    if d is None:
        return left_out(facts, "diagnosis")
    return tag("ul", *(_finding(f) for f in d.findings), class_="findings")


def _finding(f: Finding) -> Markup:
    advice = Markup("") if f.advice == "Nothing to do." else paragraph(prose(f.advice), kind="advice")
    mark = tag("span", f.severity, class_="severity")
    return tag("li", tag("h3", mark, " ", f.title), paragraph(prose(f.evidence)), advice, class_=f.severity)


def dependence(facts: Facts, charts: Charts, drawings: Drawn | None) -> Markup:
    """Groups that answer alike, and how many independent votes the crowd is worth."""
    d = facts.diagnosis
    if d is None:
        return Markup("")
    votes = f"{counted(facts.outcome.annotators, 'annotator')} are worth {number(d.effective_votes)} independent votes."
    rows = joined(
        tag(
            "tr",
            cell(listed(name_of(a) for a in g.annotators)),
            cell(number(g.correlation), g.correlation, class_="number"),
            cell(number(g.effective_votes), g.effective_votes, class_="number"),
        )
        for g in d.groups
    )
    head = [("annotators who answer alike", "text"), ("error correlation", "number"), ("worth votes", "number")]
    groups = grid("Groups", head, [rows], name="groups-table", first=FIRST_ROWS) if d.groups else Markup("")
    return joined((paragraph(votes), groups, figure(charts.get("alike"), drawings)))


def identifiability(facts: Facts, charts: Charts, drawings: Drawn | None) -> Markup:
    """Whether the answers pin the model down, in words, pictures and numbers."""
    d = facts.diagnosis
    words = []
    if d is not None:
        verdict = tag("b", f"{d.verdict.capitalize()}.")
        pairs = joined(tag("div", tag("dt", name), tag("dd", tag("bdi", value))) for name, value in d.numbers)
        words = [paragraph(verdict, " ", d.explanation)]
        numbers = tag("details", tag("summary", "The numbers of the theory"), tag("dl", pairs, class_="settings wide"))
        words.append(numbers)
    drawn = (figure(charts.get(name), drawings) for name in ("freedom", "simplex", "purity", "held-out"))
    return joined((words[0] if words else "", *drawn, words[1] if words else "", left_out(facts, "identifiability")))


_AIMS = {
    "connect": "to connect annotators who share no item",
    "overlap": "so that annotators can be compared on the same items",
    "errors": "where an answer is expected to remove most doubt",
    "start": "for a first answer to every item",
}


def plan(facts: Facts, charts: Charts, drawings: Drawn | None) -> Markup:
    """The next answers to ask for, with the reason of each."""
    del charts, drawings
    p = facts.plan
    if p is None:
        return Markup("")
    if not p.assignments:
        return paragraph("Everybody has answered everything: there is nobody left to ask.")
    aims = "; ".join(f"{whole(n)} {_AIMS.get(aim, aim)}" for aim, n in p.aims)
    rows = (
        tag(
            "tr",
            cell(whole(i), class_="number muted"),
            cell(name_of(a.item), class_="id"),
            cell(name_of(a.annotator)),
            cell(a.reason, class_="worst"),
        )
        for i, a in enumerate(p.assignments, start=1)
    )
    head = [("", "number"), ("item", "text"), ("ask", "text"), ("why", "text")]
    return joined(
        (
            paragraph(f"The next {counted(len(p.assignments), 'answer')} to ask for: {aims}."),
            *(paragraph(n, kind="caption") for n in p.notes),
            search("plan-table", "Search items, annotators, reasons"),
            grid("What to label next", head, rows, name="plan-table", first=FIRST_ROWS),
            paragraph(prose("For more, and as a file: `covote plan FILE --budget N`."), kind="left-out"),
        )
    )
