"""Facts in, the charts of overlap and identifiability out."""

from __future__ import annotations

import math
from functools import partial

from covote.report.chart import (
    ACCENT,
    INK,
    MUTED,
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
from covote.report.facts import Facts, Row
from covote.report.words import clipped, counted, inline, number, percent, quoted, shown, whole

MOST_PURITIES = 20


def overlap_chart(facts: Facts) -> Chart | None:
    """Items that the most active annotators share, as a heat map."""
    found = facts.overlap
    if len(found.shown) < 2:
        return None
    names = distinct(found.shown, 12)
    place = dict(zip(map(repr, found.shown), names, strict=True))
    values = [
        {
            "first": place[repr(p.first)],
            "second": place[repr(p.second)],
            "shared": p.shared,
            "tip": f"{inline(p.first)} and {inline(p.second)}: {counted(p.shared, 'shared item')}, "
            f"same label on {percent(p.agreed)}",
        }
        for p in found.pairs
    ]
    most = max((p.shared for p in found.pairs), default=0)
    both = [*values, *({**v, "first": v["second"], "second": v["first"]} for v in values)]

    thick = sorted(found.pairs, key=lambda p: -p.shared)[:40]
    rows = tuple((shown(p.first), shown(p.second), whole(p.shared), percent(p.agreed)) for p in thick)
    title = "Shared items hold the whole crowd together"
    if found.components > 1:
        title = f"The crowd falls into {whole(found.components)} groups that share no item"
    caption = (
        f"Stronger: more shared items (at most {whole(most)}). Empty: none. "
        "Only shared items let annotators be compared."
    )
    head = ("annotator", "annotator", "shared items", "same label")
    return Chart("overlap", title, caption, partial(_overlap_spec, names, both, most), Table(head, rows))


def _overlap_spec(names: list[str], both: list[Spec], most: int, width: int) -> Spec:
    side = min(width, 150 + 26 * len(names), 600)
    limits = {"labelLimit": 0, "domain": False, "ticks": False, "grid": False, "labelOverlap": width < 500}
    small = {"labelFontSize": 11 if width > 500 else 9} if len(names) > 12 else {}
    scale = {"domain": names}
    x = axis("first", "annotator", "nominal", scale=scale, sort=names, axis={**limits, **small, "labelAngle": -90})
    y = axis("second", "annotator", "nominal", scale=scale, sort=names, axis={**limits, **small, **ON_TOP})
    shade: Spec = {"field": "shared", "type": "quantitative", "legend": None}
    shade["scale"] = {"type": "sqrt", "domain": [0, max(most, 1)], "range": [0.05, 1]}
    cells = layer("rect", both, {"x": x, "y": y, "opacity": shade, "description": tip()}, color=ACCENT)
    return frame(side, side, cells)


def answers_chart(facts: Facts) -> Chart | None:
    """Items by how many answers they have."""
    bins = facts.overlap.answers_histogram
    if not bins:
        return None
    names = [f"{low}" if high == low else f"{low}+" for low, high, _ in bins]
    values = [
        {"name": n, "items": c, "text": whole(c), "tip": f"{counted(c, 'item')} with {n} answers"}
        for n, (_, _, c) in zip(names, bins, strict=True)
    ]

    title = f"An item has {number(facts.outcome.answers_per_item)} answers on average"
    if facts.outcome.single_answer_items:
        verb = "has" if facts.outcome.single_answer_items == 1 else "have"
        title += f"; {counted(facts.outcome.single_answer_items, 'item')} {verb} only one"
    rows = tuple((n, whole(c)) for n, (_, _, c) in zip(names, bins, strict=True))
    return Chart("answers", title, "", partial(_answers_spec, names, values), Table(("answers", "items"), rows))


def _answers_spec(names: list[str], values: list[Spec], width: int) -> Spec:
    x = axis(
        "name", "answers an item has", "nominal", sort=names, axis={"labelAngle": 0, "grid": False, "ticks": False}
    )
    y = axis("items", "items", axis={"tickCount": 4})
    bars = layer("bar", None, {"x": x, "y": y, "description": tip()}, color=ACCENT, width={"band": 0.8})
    size = 10 if width > 500 else 8
    text = layer("text", None, {"x": x, "y": y, "text": tip("text")}, dy=-7, color=MUTED, fontSize=size)
    return frame(min(width, 200 + 60 * len(names)), 190, bars, text, data={"values": values})


def simplex_chart(facts: Facts) -> Chart | None:
    """Three classes: the rows of H in the triangle, with the circle of the sufficiently scattered condition."""
    if not facts.rows:
        return None
    names = [clipped(d.label, 24) for d in facts.directions]
    values = [_dot(row) for row in facts.rows]
    caption = (
        "A dot is one label of one annotator: the nearer a corner, the more that answer singles out one class. The "
        "model is identified from shared items when the dots reach round the dashed circle; dots in every corner are "
        "enough by far."
    )
    return Chart("simplex", _least_pure(facts), caption, partial(_simplex_spec, names, values), purity_table(facts))


_BOX = (("x", [-0.08, 1.08]), ("y", [-0.14, 0.98]))


def _simplex_spec(names: list[str], values: list[Spec], width: int) -> Spec:
    side = min(width, 460)
    corners = [_flat(p) for p in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))]
    triangle = [{"x": x, "y": y, "order": i} for i, (x, y) in enumerate([*corners, corners[0]])]
    ring = [_ring(i) for i in range(61)]
    x, y = ({"field": f, "type": "quantitative", "axis": None, "scale": {"domain": d}} for f, d in _BOX)
    path = {"x": x, "y": y, "order": {"field": "order", "type": "quantitative"}}
    size: Spec = {"field": "weight", "type": "quantitative", "legend": None}
    size["scale"] = {"type": "sqrt", "range": [14, 130]}
    where = {"x": x, "y": y, "text": tip("text")}
    texts = [
        layer("text", [{"x": c[0], "y": c[1], "text": n}], where, color=INK, dy=dy)
        for c, n, dy in zip(corners, names, (16, 16, -12), strict=True)
    ]
    dots = layer("circle", values, {"x": x, "y": y, "size": size, "description": tip()}, color=ACCENT, opacity=0.55)
    return frame(
        side,
        int(side * 0.9),
        layer("line", ring, path, color=WARM, strokeDash=[4, 3], strokeWidth=1.5),
        layer("line", triangle, path, color=MUTED, strokeWidth=1.2),
        dots,
        *texts,
    )


def _flat(p: tuple[float, ...]) -> tuple[float, float]:
    """A point of the simplex of three classes in the plane: corners at (0, 0), (1, 0) and the top."""
    return p[1] + p[2] / 2, p[2] * math.sqrt(3) / 2


def _ring(i: int) -> Spec:
    """The circle inscribed in the triangle: the cone C of the paper, cut by the simplex."""
    angle, radius = 2 * math.pi * i / 60, math.sqrt(3) / 6
    return {"x": 0.5 + radius * math.cos(angle), "y": radius + radius * math.sin(angle), "order": i}


def _dot(row: Row) -> Spec:
    x, y = _flat(row.point)
    text = f"{inline(row.annotator)} says {inline(row.label)}: " + ", ".join(percent(p, 0) for p in row.point)
    return {"x": x, "y": y, "weight": row.weight, "tip": text}


def purity_chart(facts: Facts) -> Chart | None:
    """For every class, how nearly the best annotators name it alone."""
    found = facts.directions[:MOST_PURITIES]
    if not found or facts.rows:
        return None
    names = distinct(d.label for d in found)
    values = [
        {"name": n, "purity": v, "best": i == 0, "tip": f"{inline(n)}: {percent(v)}"}
        for n, d in zip(names, found, strict=True)
        for i, v in enumerate(d.values)
    ]

    caption = (
        "A dot an annotator: of all items that make this annotator name the class, in a world of equal classes, the "
        "share that belongs to it. An answer at 100 % is an anchor of the theory; the best is orange, chance is dashed."
    )
    return Chart(
        "purity",
        _least_pure(facts),
        caption,
        partial(_purity_spec, names, values, 1 / facts.outcome.classes),
        purity_table(facts),
    )


def _purity_spec(names: list[str], values: list[Spec], chance_level: float, width: int) -> Spec:
    y = names_axis(names, "class")
    limits = {"format": ".0%", "tickCount": 5}
    x = axis("purity", "purity of an annotator’s answer", scale={"domain": [0, 1]}, axis=limits)
    where = {"x": x, "y": y, "description": tip()}
    colour = {"condition": {"test": "datum.best", "value": WARM}, "value": ACCENT}
    ticks = layer("circle", values, {**where, "color": colour}, size=60, opacity=0.5)
    chance = layer("rule", [{"purity": chance_level}], {"x": x}, color=MUTED, strokeDash=[4, 4])
    return frame(width, rows_height(len(names)), chance, ticks)


def _least_pure(facts: Facts) -> str:
    worst = min(facts.directions, key=lambda d: d.best)
    return f"{quoted(worst.label)} is the class that answers single out least: {percent(worst.best)} at best"


def purity_table(facts: Facts) -> Table:
    """The purest answer for each class."""
    rows = tuple((shown(d.label), percent(d.best), shown(d.annotator)) for d in facts.directions)
    return Table(("class", "best purity", "annotator"), rows)
