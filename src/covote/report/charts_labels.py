"""Facts in, the charts of classes, confidence, convergence and methods out."""

from __future__ import annotations

import math
from functools import partial

from covote.report.chart import (
    ACCENT,
    INK,
    MUTED,
    PANEL,
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
from covote.report.words import counted, inline, interval, number, percent, quoted, shown, whole

MOST_BARS = 25


def class_chart(facts: Facts) -> Chart | None:
    """Bars of the expected class shares with their intervals."""
    if not facts.classes:
        return None
    shown_classes = facts.classes[:MOST_BARS]
    names = distinct(c.label for c in shown_classes)
    values = [
        {
            "name": name,
            "share": c.share.value,
            "low": c.share.low,
            "high": c.share.high,
            "votes": c.votes,
            "tip": f"{inline(c.label)}: {percent(c.share.value)} of the items, {percent(c.votes)} of the answers",
        }
        for name, c in zip(names, shown_classes, strict=True)
    ]

    top = facts.classes[0]
    title = f"{quoted(top.label)} is the largest class, with {percent(top.share.value)} of the items"
    caption = "Bar: expected share of the items. Orange dot: share of the raw answers."
    caption += f" Line: {percent(facts.interval_level, 0)} interval ({facts.share_intervals})."
    return Chart("classes", title, caption, partial(_class_spec, names, values), class_table(facts))


def _class_spec(names: list[str], values: list[Spec], width: int) -> Spec:
    y = names_axis(names, "class")
    share = axis("share", "share of the items", axis={"format": ".0%", "tickCount": 6}, scale={"zero": True})
    bars = layer("bar", None, {"x": share, "y": y, "description": tip()}, color=ACCENT, height={"band": 0.62})
    ends = {"x": {"field": "low", "type": "quantitative"}, "x2": {"field": "high"}, "y": y, "description": tip()}
    rules = layer("rule", [v for v in values if v["low"] is not None], ends, color=INK, strokeWidth=1.5)
    vote = {"x": {"field": "votes", "type": "quantitative"}, "y": y, "description": tip()}
    dots = layer("circle", None, vote, color=WARM, size=60, opacity=1, stroke=PANEL, strokeWidth=1)
    return frame(width, rows_height(len(values)), bars, rules, dots, data={"values": values})


def class_table(facts: Facts) -> Table:
    """The classes in numbers."""
    head = ("class", "items labelled so", "expected share", "interval, %", "share of answers")
    rows = (
        (shown(c.label), whole(c.items), percent(c.share.value), interval(c.share), percent(c.votes))
        for c in facts.classes
    )
    return Table(head, tuple(rows))


def confidence_chart(facts: Facts) -> Chart | None:
    """Histogram of the confidence of labels; bins in doubt stand out."""
    if not facts.outcome.items:
        return None
    limit = facts.outcome.uncertain_below
    values = [
        {
            "low": b.low,
            "high": b.high,
            "items": b.items,
            "text": whole(b.items) if b.items else "",
            "doubt": b.high <= limit + 1e-9,
            "tip": f"{percent(b.low, 0)} to {percent(b.high, 0)} certain: {counted(b.items, 'item')}",
        }
        for b in facts.confidence
    ]

    title = f"{percent(facts.outcome.certain_share)} of the labels are at least {percent(limit, 0)} certain"
    caption = "Items by the probability of their chosen label; orange: in doubt."
    return Chart("confidence", title, caption, partial(_confidence_spec, values), confidence_table(facts))


def _confidence_spec(values: list[Spec], width: int) -> Spec:
    x = axis("low", "probability of the chosen label", axis={"format": ".0%", "grid": False, "tickCount": 8})
    x["scale"] = {"domain": [values[0]["low"], 1], "nice": False}
    x["bin"] = "binned"
    y = axis("items", "items", axis={"tickCount": 4})
    colour = {"condition": {"test": "datum.doubt", "value": WARM}, "value": ACCENT}
    where = {"x": x, "x2": {"field": "high"}, "y": y}
    bars = layer("bar", None, {**where, "color": colour, "description": tip()}, binSpacing=1)
    middle = "(datum.low + datum.high) / 2"
    text = layer(
        "text",
        None,
        {"x": {"field": "middle", "type": "quantitative"}, "y": y, "text": tip("text")},
        dy=-7,
        color=MUTED,
        fontSize=10 if width > 500 else 8,
    )
    text["transform"] = [{"calculate": middle, "as": "middle"}]
    return frame(width, 230, bars, text, data={"values": values})


def confidence_table(facts: Facts) -> Table:
    """The histogram in numbers, with accuracy where truth is known."""
    truth = facts.outcome.truth_items > 0
    head = ("confidence", "items", "expected wrong", *(("with truth", "right", "interval, %") if truth else ()))
    rows = []
    for b in facts.confidence:
        right = (percent(b.accuracy.value), interval(b.accuracy)) if b.accuracy is not None else ("–", "")
        more = (whole(b.truth_items), *right) if truth else ()
        place = f"{percent(b.low, 0)} to {percent(b.high, 0)}"
        rows.append((place, whole(b.items), f"{b.expected_wrong:.1f}", *more))
    return Table(head, tuple(rows))


def calibration_chart(facts: Facts) -> Chart | None:
    """Confidence against the share that is right, where truth is known."""
    error = facts.outcome.error
    if error is None:
        return None
    values = [
        {
            "confidence": b.confidence,
            "right": b.accuracy.value,
            "low": b.accuracy.low,
            "high": b.accuracy.high,
            "items": b.truth_items,
            "tip": f"{percent(b.confidence)} certain, {percent(b.accuracy.value)} right "
            f"({counted(b.truth_items, 'item')} with truth)",
        }
        for b in facts.confidence
        if b.accuracy is not None and b.confidence is not None
    ]

    expected, found = percent(facts.outcome.expected_error.value), percent(error.value)
    title = f"Errors: {expected} expected by the model, {found} measured"
    caption = (
        "Dots below the dashed line: labels are less often right than they claim. "
        f"Lines: 90 % intervals. Larger dots: more items. Calibration error: {number(facts.calibration_error)}."
    )
    return Chart("calibration", title, caption, partial(_calibration_spec, values), confidence_table(facts))


def _calibration_spec(values: list[Spec], width: int) -> Spec:
    x = axis("confidence", "mean confidence", scale={"domain": [0, 1]}, axis={"format": ".0%", "tickCount": 5})
    y = axis("right", "share that is right", scale={"domain": [0, 1]}, axis={"format": ".0%", "tickCount": 5})
    ends = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "description": tip()}
    size = {"field": "items", "type": "quantitative", "scale": {"range": [25, 260]}, "legend": None}
    ideal = [{"confidence": 0, "right": 0}, {"confidence": 1, "right": 1}]
    return frame(
        min(width, 440),
        300,
        layer("line", ideal, {"x": x, "y": y}, color=MUTED, strokeDash=[4, 4], strokeWidth=1),
        layer("rule", values, ends, color=ACCENT, strokeWidth=1.5, opacity=0.6),
        layer("circle", values, {"x": x, "y": y, "size": size, "description": tip()}, color=ACCENT, opacity=1),
    )


def convergence_chart(facts: Facts) -> Chart | None:
    """How far the objective was from its end, by step, on a logarithmic scale."""
    history = facts.convergence.history
    if len(history) < 3:
        return None
    end = history[-1][1]
    gaps = [(s, abs(v - end), v) for s, v in history[:-1]]
    values = [{"step": s, "gap": g, "tip": f"step {s}: objective {v:,.6f}"} for s, g, v in gaps if g > 0]

    steps = counted(facts.convergence.iterations, "step")
    ended = "settled within" if facts.convergence.status.startswith("Converged") else "took"
    title = f"The fit {ended} {steps}" if facts.convergence.converged else f"The fit did not settle within {steps}"
    table = Table(("step", "objective"), tuple((str(s), f"{v:,.6f}") for s, v in history))
    caption = f"How far the objective of each step was from its last value, {end:,.6f}."
    return Chart("convergence", title, caption, partial(_convergence_spec, values), table) if values else None


def _convergence_spec(values: list[Spec], width: int) -> Spec:
    x = axis("step", "step", axis={"tickMinStep": 1, "grid": False, "format": "d"}, scale={"nice": False})
    low, high = (round(math.log10(edge(v["gap"] for v in values))) for edge in (min, max))
    powers = [10.0**p for p in range(low - 1, high + 2, max(1, (high - low) // 5))]
    y = axis("gap", "distance to the end (log scale)", scale={"type": "log"}, axis={"values": powers, "format": ".0e"})
    line = layer("line", values, {"x": x, "y": y}, color=ACCENT, strokeWidth=2)
    dots = layer("circle", values, {"x": x, "y": y, "description": tip()}, color=ACCENT, size=28, opacity=1)
    return frame(width, 220, line, dots)


def comparison_chart(facts: Facts) -> Chart | None:
    """Methods by error with intervals, or by agreement with each other where no truth is known."""
    runs = [r for r in facts.comparison if r.ran and (r.error is not None or r.agreement is not None)]
    if not runs:
        return None
    scored = runs[0].error is not None
    values = []
    for r in runs:
        value = r.error.value if r.error is not None else r.agreement
        ends = {"low": r.error.low, "high": r.error.high} if r.error is not None else {}
        values.append({"name": r.method, "value": value, **ends, "tip": f"{r.method}: {percent(value)}"})
    names = [r.method for r in runs]

    best = (
        f"No method errs less than {runs[0].method}"
        if scored
        else f"{runs[0].method} agrees most with the other methods"
    )
    caption = "Lines: 90 % intervals; where they overlap, the data cannot tell the methods apart." if scored else ""
    return Chart("comparison", best, caption, partial(_comparison_spec, names, values, scored), comparison_table(facts))


def _comparison_spec(names: list[str], values: list[Spec], scored: bool, width: int) -> Spec:
    y = names_axis(names, "method")
    name = "error on items with truth" if scored else "agreement with the other methods"
    x = axis("value", name, scale={"zero": False}, axis={"format": ".0%" if scored else ".1%", "tickCount": 6})
    ends = {"x": {"field": "low", "type": "quantitative"}, "x2": {"field": "high"}, "y": y, "description": tip()}
    rules = layer("rule", [v for v in values if "low" in v], ends, color=ACCENT, strokeWidth=2, opacity=0.6)
    dots = layer("circle", values, {"x": x, "y": y, "description": tip()}, color=ACCENT, size=90, opacity=1)
    return frame(width, rows_height(len(values)), rules, dots)


def comparison_table(facts: Facts) -> Table:
    """The methods in numbers, with why a method did not run."""
    head = ("method", "error", "interval, %", "log-loss", "agreement", "seconds", "status")
    rows = []
    for r in facts.comparison:
        error = (percent(r.error.value), interval(r.error)) if r.error is not None else ("–", "")
        rows.append(
            (r.method, *error, number(r.log_loss), percent(r.agreement), f"{r.seconds:.2f}" if r.ran else "–", r.status)
        )
    return Table(head, tuple(rows))
