"""Facts of a diagnosis in, the charts of dependence, freedom and held-out answers out."""

from __future__ import annotations

from functools import partial

from covote.report.chart import (
    ACCENT,
    INK,
    MUTED,
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
from covote.report.facts_trust import AlikePair, Freedom
from covote.report.words import clipped, counted, inline, number, percent, quoted, shown, whole

MOST_CLASSES = 20


def alike_chart(facts: Facts) -> Chart | None:
    """The most surprising pairs: agreement expected of independent annotators, and found."""
    d = facts.diagnosis
    if d is None or not d.alike:
        return None

    tested = f"{counted(d.pairs_tested, 'pair')} tested"
    title = f"No pair agrees suspiciously often ({tested})"
    if d.pairs_alarming:
        verb = "agrees" if d.pairs_alarming == 1 else "agree"
        title = f"{counted(d.pairs_alarming, 'pair')} {verb} more than independent annotators would ({tested})"
    caption = (
        "Grey: agreement expected of independent annotators. Blue or, where it is too much for chance, orange: found."
    )
    rows = tuple(
        (shown(p.first), shown(p.second), whole(p.shared), percent(p.agreement), percent(p.expected), number(p.p_value))
        for p in d.alike
    )
    head = ("annotator", "annotator", "shared items", "same label", "expected", "p, corrected")
    return Chart("alike", title, caption, partial(_alike_spec, d.alike), Table(head, rows))


def _alike_spec(pairs: tuple[AlikePair, ...], width: int) -> Spec:
    room = 12 if width > 500 else 7
    names = distinct((f"{clipped(p.first, room)} · {clipped(p.second, room)} ({whole(p.shared)})" for p in pairs), 40)
    values = [_pair(name, p) for name, p in zip(names, pairs, strict=True)]
    y = names_axis(names, "pair (shared items)")
    x = axis("expected", "shared items with the same label", axis={"format": ".0%", "tickCount": 5})
    x["scale"] = {"zero": False, "nice": True}
    where = {"y": y, "description": tip()}
    line = layer("rule", None, {"x": x, "x2": {"field": "agreement"}, **where}, color=MUTED, strokeWidth=2)
    want = layer("circle", None, {"x": x, **where}, color=MUTED, size=60, opacity=1)
    found = {"x": {**x, "field": "agreement"}, **where, "color": _alarm()}
    return frame(
        width,
        rows_height(len(names), 24),
        line,
        want,
        layer("circle", None, found, size=90, opacity=1),
        data={"values": values},
    )


def _pair(name: str, p: AlikePair) -> Spec:
    said = f"same label on {percent(p.agreement)} of {whole(p.shared)} shared items, {percent(p.expected)} expected"
    text = f"{inline(p.first)} and {inline(p.second)}: {said}"
    return {"name": name, "expected": p.expected, "agreement": p.agreement, "alarm": p.p_value < 0.05, "tip": text}


def _alarm() -> Spec:
    return {"condition": {"test": "datum.alarm", "value": WARM}, "value": ACCENT}


def freedom_chart(facts: Facts) -> Chart | None:
    """How far each class share could move without contradicting pair counts, and all answers."""
    d = facts.diagnosis
    if d is None or not d.freedom:
        return None
    shown_classes = sorted(d.freedom, key=lambda c: -c.share)[:MOST_CLASSES]
    names = distinct(c.label for c in shown_classes)
    values = [_range(name, c) for name, c in zip(names, shown_classes, strict=True)]

    widest = max(d.freedom, key=_width)
    ends = widest.answers or widest.pairs
    title = f"The share of {quoted(widest.label)} could lie between {percent(ends[0])} and {percent(ends[1])}"
    caption = (
        "Upright line: the estimate. Pale: what pair counts alone would allow, to first order. Strong: what all "
        "answers to an item together allow. Short bars mean that the answers settle the model."
    )
    rows = tuple(
        (shown(c.label), percent(c.share), _ends(c.pairs), "–" if c.answers is None else _ends(c.answers))
        for c in d.freedom
    )
    return Chart(
        "freedom",
        title,
        caption,
        partial(_freedom_spec, names, values),
        Table(("class", "share", "by pairs, %", "by all answers, %"), rows),
    )


def _freedom_spec(names: list[str], values: list[Spec], width: int) -> Spec:
    y = names_axis(names, "class")
    x = axis("pairs_low", "share of the class", axis={"format": ".0%", "tickCount": 5}, scale={"zero": True})
    where = {"y": y, "description": tip()}
    loose = {"x": x, "x2": {"field": "pairs_high"}, **where}
    tight = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, **where}
    known = [v for v in values if v["low"] is not None]
    layers = [
        layer("rule", values, loose, color=ACCENT, strokeWidth=9, opacity=0.22),
        *([layer("rule", known, tight, color=ACCENT, strokeWidth=9, opacity=0.75)] if known else []),
        layer("tick", values, {"x": {**x, "field": "share"}, **where}, color=INK, thickness=2, size=16),
    ]
    return frame(width, rows_height(len(names)), *layers)


def _range(name: str, c: Freedom) -> Spec:
    low, high = c.answers or (None, None)
    text = f"{inline(c.label)}: {percent(c.share)}; by pairs {_ends(c.pairs)} %"
    if c.answers is not None:
        text += f", by all answers {_ends(c.answers)} %"
    return {
        "name": name,
        "share": c.share,
        "pairs_low": c.pairs[0],
        "pairs_high": c.pairs[1],
        "low": low,
        "high": high,
        "tip": text,
    }


def _width(c: Freedom) -> float:
    low, high = c.answers or c.pairs
    return high - low


def _ends(ends: tuple[float, float]) -> str:
    return f"{100 * ends[0]:.1f} – {100 * ends[1]:.1f}"


def held_out_chart(facts: Facts) -> Chart | None:
    """How much worse simpler models predict held-out answers."""
    d = facts.diagnosis
    if d is None or len(d.held_out) < 2:
        return None
    names = [m.model for m in d.held_out]
    values = [
        {
            "name": m.model,
            "value": m.log_likelihood,
            "low": m.log_likelihood - 2 * m.behind_error,
            "high": m.log_likelihood + 2 * m.behind_error,
            "tip": f"{m.model}: {number(m.log_likelihood)} nats an answer",
        }
        for m in d.held_out
    ]

    best = d.held_out[0].model
    title = f"{quoted(best)} predicts held-out answers best ({counted(d.held_out_answers, 'answer')} held out)"
    caption = "To the right is better. Lines: twice the standard error of the distance to Dawid-Skene."
    rows = tuple((m.model, number(m.log_likelihood), number(m.behind), number(m.behind_error)) for m in d.held_out)
    table = Table(("model", "nats an answer", "behind Dawid-Skene", "error"), rows)
    return Chart("held-out", title, caption, partial(_held_out_spec, names, values), table)


def _held_out_spec(names: list[str], values: list[Spec], width: int) -> Spec:
    y = names_axis(names, "model")
    x = axis("value", "log-likelihood, nats an answer", scale={"zero": False}, axis={"tickCount": 5})
    ends = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y}
    rules = layer("rule", values, ends, color=ACCENT, strokeWidth=2, opacity=0.6)
    dots = layer("circle", values, {"x": x, "y": y, "description": tip()}, color=ACCENT, size=90, opacity=1)
    return frame(width, rows_height(len(names)), rules, dots)
