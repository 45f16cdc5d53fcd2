"""Facts in, the charts of annotators and their confusions out."""

from __future__ import annotations

from covote.report.chart import (
    ACCENT,
    INK,
    ON_TOP,
    WARM,
    Chart,
    Spec,
    Table,
    axis,
    distinct,
    frame,
    layer,
    names_axis,
    rows_height,
    tip,
)
from covote.report.facts import Facts
from covote.report.words import counted, inline, interval, percent, quoted, shown, whole

NAMED = 40
"""Up to this many annotators are shown by name; more as a cloud of dots."""

MOST_INTERVALS = 150
STRONG = 0.49
"""Cells of a heat map above this rate have their text in the colour of the ground."""


def annotator_chart(facts: Facts) -> Chart | None:
    """Quality by annotator: by name for few, against volume for many."""
    if not facts.annotators:
        return None
    values = [
        {
            "name": name,
            "rank": a.rank,
            "answers": max(a.answers, 1),
            "accuracy": a.accuracy.value,
            "low": a.accuracy.low,
            "high": a.accuracy.high,
            "flag": a.useless,
            "tip": f"{inline(a.annotator)}: right {percent(a.accuracy.value)}, {counted(a.answers, 'answer')}",
        }
        for name, a in zip(distinct(a.annotator for a in facts.annotators), facts.annotators, strict=True)
    ]
    few = len(values) <= NAMED
    busiest = max(facts.annotators, key=lambda a: a.answers)
    best = facts.annotators[0]
    who, what = (best, "most informative") if few else (busiest, "busiest")
    title = f"The {what} annotator, {quoted(who.annotator)}, is right {percent(who.accuracy.value)} of the time"
    caption = "Most informative first; larger dots: more answers." if few else _cloud_caption(values)
    if len(values) <= MOST_INTERVALS:
        caption += f" Lines: {percent(facts.interval_level, 0)} intervals."
    if any(v["flag"] for v in values):
        caption += " Orange: no better than random, or worse; see the ranking."
    make = _named if few else _cloud
    return Chart("annotators", title, caption, lambda width: make(values, width), annotator_table(facts))


def _even(values: list[Spec]) -> bool:
    """Whether all gave about as many answers, so that volume says nothing."""
    counts = [v["answers"] for v in values]
    return bool(max(counts) < 2 * min(counts))


def _cloud_caption(values: list[Spec]) -> str:
    place = "To the right: less informative" if _even(values) else "To the right: more answers"
    return f"A dot an annotator. {place}; further up: more of them right."


def _colour() -> Spec:
    return {"condition": {"test": "datum.flag", "value": WARM}, "value": ACCENT}


def _named(values: list[Spec], width: int) -> Spec:
    y = names_axis([v["name"] for v in values], "annotator")
    limits = {"format": ".0%", "tickCount": 5}
    x = axis("accuracy", "share of answers that are right", scale={"domain": [0, 1]}, axis=limits)
    size = {"field": "answers", "type": "quantitative", "legend": None, "scale": {"range": [30, 130]}}
    dots = layer("circle", None, {"x": x, "y": y, "size": size, "color": _colour(), "description": tip()}, opacity=1)
    ends = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y, "color": _colour(), "description": tip()}
    lines = layer("rule", [v for v in values if v["low"] is not None], ends, strokeWidth=2, opacity=0.5)
    return frame(width, rows_height(len(values), 22), lines, dots, data={"values": values})


def _cloud(values: list[Spec], width: int) -> Spec:
    if _even(values):
        x = axis("rank", "rank, most informative first", axis={"grid": False, "format": "d"}, scale={"nice": False})
    else:
        scale = {"type": "log", "nice": False, "padding": 10}
        limits = {"format": "~s", "tickCount": 5, "grid": False}
        x = axis("answers", "answers given (log scale)", scale=scale, axis=limits)
    y = axis("accuracy", "share of answers that are right", scale={"domain": [0, 1]}, axis={"format": ".0%"})
    where = {"x": x, "y": y, "color": _colour(), "description": tip()}
    lines = [v for v in values if v["low"] is not None] if len(values) <= MOST_INTERVALS else []
    ends = {**where, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    dots = layer("circle", None, where, size=44, opacity=0.65)
    return frame(
        width, 300, *([layer("rule", lines, ends, opacity=0.25)] if lines else []), dots, data={"values": values}
    )


def annotator_table(facts: Facts) -> Table:
    """The annotators in numbers."""
    head = ("annotator", "answers", "right", "interval, %", "bits an answer")
    rows = (
        (shown(a.annotator), whole(a.answers), percent(a.accuracy.value), interval(a.accuracy), f"{a.bits:.2f}")
        for a in facts.annotators
    )
    return Table(head, tuple(rows))


def matrix_chart(facts: Facts) -> Chart | None:
    """The crowd's average confusion matrix as a heat map."""
    names = distinct(facts.matrices.names, 12)
    if not names:
        return None
    values = [
        {
            "label": label,
            "class": klass,
            "rate": rate,
            "text": f"{100 * rate:.0f}",
            "right": i == j,
            "strong": rate > STRONG,
            "tip": f"class {inline(klass)}, labelled {inline(label)}: {percent(rate)}",
        }
        for i, (label, row) in enumerate(zip(names, facts.matrices.crowd, strict=True))
        for j, (klass, rate) in enumerate(zip(names, row, strict=True))
    ]
    worst = facts.matrices.mixed_up[:1]
    title = "What the crowd mixes up"
    if worst:
        klass, label, rate = worst[0]
        title = f"The crowd’s commonest error: {quoted(klass)} taken for {quoted(label)}, {percent(rate)} of the time"
    rows = tuple((shown(k), shown(j), percent(r)) for k, j, r in facts.matrices.mixed_up)
    caption = (
        "In percent of the items of a class (columns add to 100), averaged over all answers. "
        "Blue is right, orange is wrong."
    )
    table = Table(("class", "taken for", "how often"), rows)
    return Chart("confusion", title, caption, lambda width: _matrix(names, values, width), table)


def _matrix(names: list[str], values: list[Spec], width: int) -> Spec:
    longest = max(map(len, names))
    side = min(width, max(80 + 7 * longest + 46 * len(names), 250), 620)
    limits = {"labelLimit": 0, "domain": False, "ticks": False, "grid": False, "labelOverlap": False}
    turned = {**limits, "labelAngle": -40 if longest > 4 else 0}
    x = axis("class", "class", "nominal", sort=names, axis=turned)
    y = axis("label", "label given", "nominal", sort=names, axis={**limits, **ON_TOP})
    shade: Spec = {"field": "rate", "type": "quantitative", "legend": None}
    shade["scale"] = {"type": "sqrt", "domain": [0, 1], "range": [0, 1]}
    colour = {"condition": {"test": "datum.right", "value": ACCENT}, "value": WARM}
    ink = {"condition": {"test": "datum.strong", "value": "var(--on-accent)"}, "value": INK}
    cells = layer("rect", None, {"x": x, "y": y, "color": colour, "opacity": shade, "description": tip()})
    size = 11 if side / len(names) > 24 else 8
    text = layer("text", None, {"x": x, "y": y, "text": tip("text"), "color": ink}, fontSize=size)
    return frame(side, int(side * 0.9), cells, text, data={"values": values})
