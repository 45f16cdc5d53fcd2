"""The pieces of a chart: a value with title, caption and table, and the parts of its Vega-Lite specification."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from covote.report.words import clipped

Spec = dict[str, Any]

INK, MUTED, GRID, ACCENT, WARM, PANEL = (f"var(--{n})" for n in ("ink", "muted", "grid", "accent", "warm", "panel"))
"""Colours by the names of the page's variables; a figure gets those of the light theme."""


@dataclass(frozen=True)
class Table:
    """The numbers behind a chart: names of the columns and rows of text."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Chart:
    """A chart that can be drawn at any width."""

    name: str
    title: str  # what to see
    caption: str  # how to read it
    spec: Callable[[int], Spec]  # of a width in pixels
    table: Table


ON_TOP = {"titleAngle": 0, "titleAlign": "right", "titleBaseline": "bottom", "titleX": -6, "titleY": -5}
"""The title of a vertical axis of names stands above them, where no name can run into it."""


def frame(width: int, height: int, *layers: Spec, **more: Any) -> Spec:
    """A specification of one view that is exactly `width` wide."""
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.1.json",
        "width": width,
        "height": height,
        "autosize": {"type": "fit", "contains": "padding"},
        "padding": {"left": 6, "right": 18, "top": 18, "bottom": 2},
        "layer": list(layers),
        **more,
    }


def rows_height(n: int, step: int = 26) -> int:
    """Height of a chart with `n` rows of names."""
    return 76 + max(step * n, 64)


def layer(mark: str, values: list[Spec] | None, encoding: Spec, **style: Any) -> Spec:
    """One layer: a mark with its data (None: that of the frame), encoding and style."""
    data = {} if values is None else {"data": {"values": values}}
    return {**data, "mark": {"type": mark, "tooltip": None, **style}, "encoding": encoding}


def axis(field: str, title: str | None, kind: str = "quantitative", **more: Any) -> Spec:
    """A position channel with its axis."""
    options = {"title": title, **more.pop("axis", {})}
    return {"field": field, "type": kind, "axis": options, **more}


def tip(field: str = "tip") -> Spec:
    """What a mark says when asked: shown by the page on hover and read by screen readers."""
    return {"field": field, "type": "nominal"}


def names_axis(names: list[str], title: str) -> Spec:
    """A vertical axis of names in the order given."""
    limits = {"labelLimit": 0, "labelOverlap": False, "domain": False, "ticks": False}
    return axis("name", title, "nominal", sort=names, axis={**limits, **ON_TOP})


def distinct(names: Iterable[Any], columns: int = 20) -> list[str]:
    """Names as a chart shows them, at most `columns` wide, no two alike.

    They are cut here and not by Vega, which cuts emoji in half and then fails.

    >>> distinct(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    seen: Counter[str] = Counter()
    out = []
    for name in names:
        text = clipped(name, columns)
        seen[text] += 1
        out.append(text if seen[text] == 1 else f"{text} ({seen[text]})")
    return out
