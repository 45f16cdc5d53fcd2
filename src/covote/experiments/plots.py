"""Tidy rows in, Vega-Lite charts out, and their drawings as SVG and PNG where vl-convert is installed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from covote.experiments.amt import PAPER
from covote.experiments.rows import Row
from covote.experiments.settings import BAYES, COUNTED, METHODS, REFERENCES

Spec = dict[str, Any]

LIGHT = {"ink": "#22262e", "muted": "#626a76", "grid": "#e4e2dc", "accent": "#2b6a94", "warm": "#c2571f"}
DARK = {"ink": "#e7e5e0", "muted": "#9aa3af", "grid": "#343a43", "accent": "#7db8dd", "warm": "#f0a070"}
HOW_TO_DRAW = "Without plots: they need the package vl-convert-python. Install it with: pip install 'covote[report]'"

_COLOURS = {
    "multispa": "#2b6a94",
    "multispa-kl": "#c2571f",
    "multispa-ds": "#2f7d4f",
    "spectral-ds": "#8a63b5",
    "tensor-admm": "#a3862d",
    "mv-ds": "#5f98a3",
    "minmax-entropy": "#b2475f",
    "kos": "#7a5a3a",
    "majority-vote": "#8b8f96",
}
_TEXT = {"labelColor": "var(--muted)", "titleColor": "var(--muted)", "labelFontSize": 11, "titleFontSize": 11}
_CONFIG: Spec = {
    "background": "transparent",
    "font": "sans-serif",
    "view": {"stroke": None},
    "axis": {
        **_TEXT,
        "titleFontWeight": "normal",
        "gridColor": "var(--grid)",
        "domainColor": "var(--grid)",
        "tickColor": "var(--grid)",
    },
    "header": {**_TEXT, "labelColor": "var(--ink)", "labelFontSize": 12, "labelFontWeight": 600},
    "legend": {**_TEXT, "titleFontWeight": "normal"},
    "title": {"color": "var(--ink)", "fontSize": 14, "anchor": "start", "offset": 14},
}


_HOW = "Dot: covote, ring: paper; beyond the axis: at its end"


@dataclass(frozen=True)
class Plot:
    """A chart: its file name, its title, what it says for those who do not see it, and its specification."""

    name: str
    title: str
    text: str
    spec: Spec


def plots(rows: Mapping[str, Sequence[Row]]) -> dict[str, list[Plot]]:
    """The charts of every experiment that was run, by its name."""
    makers = {"amt": _amt, "uci": _uci, "mse": _mse, "synthetic": _synthetic, "annotators": _annotators}
    return {name: [makers[name](given)] for name, given in rows.items() if any(r.mean is not None for r in given)}


def can_draw() -> bool:
    """Whether vl-convert is installed."""
    return find_spec("vl_convert") is not None


def svg(plot: Plot) -> str:
    """The chart as an SVG element whose colours are CSS variables, its ids made its own."""
    import vl_convert

    room = {"left": 28, "right": 12, "top": 5, "bottom": 5}  # a browser's font may be wider than the one measured with
    drawn: str = vl_convert.vegalite_to_svg({**plot.spec, "config": _CONFIG, "padding": room})
    return re.sub(r'(id="|url\(#)(?=\w)', rf"\1{plot.name}-", drawn)


def png(plot: Plot) -> bytes:
    """The chart with its title on white."""
    import vl_convert

    spec = {**plot.spec, "title": plot.title, "config": {**_CONFIG, "background": "#ffffff"}, "padding": 16}
    return bytes(vl_convert.vegalite_to_png(_in_light(spec), scale=2))


def _in_light(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _in_light(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_in_light(v) for v in value]
    return re.sub(r"var\(--(\w+)\)", lambda m: LIGHT[m[1]], value) if isinstance(value, str) else value


def _values(rows: Sequence[Row], metric: str, panel: str = "", scale: float = 1.0) -> list[Spec]:
    out = []
    for r in rows:
        if (r.metric, r.panel) != (metric, panel):
            continue
        spread = (r.standard_error or 0.0) * scale
        base = {"set": r.dataset, "level": r.level, "method": r.method}
        if r.mean is not None:
            mean = scale * r.mean
            out.append(
                {**base, "who": "covote", "value": mean, "low": max(mean - spread, mean / 10), "high": mean + spread}
            )
        if r.paper is not None:
            out.append({**base, "who": "paper", "value": scale * r.paper})
    return out


def _who(channel: str) -> Spec:
    ranges = {
        "stroke": ["var(--accent)", "var(--warm)"],
        "fill": ["var(--accent)", "transparent"],
        "size": [30, 75],
    }
    scale = {"domain": ["covote", "paper"], "range": ranges[channel]}
    return {"field": "who", "type": "nominal", "scale": scale, "legend": None}


def _beside(values: list[Spec], title: str, order: Sequence[str], *, width: int, first: bool) -> Spec:
    """A dot and a ring a method, ours and the paper's, and a line between them.

    Methods that fail badly would squeeze the rest together, so the axis ends at twice majority vote's error.
    """
    votes = max((v["value"] for v in values if v["method"] == "majority-vote"), default=100.0)
    low, high = (f(v["value"] for v in values) for f in (min, max))
    end = max(min(high, 2 * votes), 1.1 * low, 0.01)
    margin = 0.06 * (end - low)
    scale = {"domain": [low - margin, end + margin], "clamp": True, "nice": False}
    axis = {"grid": True, "ticks": False, "labels": first}
    y = {"field": "method", "type": "nominal", "scale": {"domain": list(order)}, "title": None, "axis": axis}
    x = {"field": "value", "type": "quantitative", "title": None, "scale": scale, "axis": {"tickCount": 4}}
    line = {
        "mark": {"type": "line", "color": "var(--grid)", "strokeWidth": 2},
        "encoding": {"detail": {"field": "method"}},
    }
    dots = {
        "mark": {"type": "point", "opacity": 1, "strokeWidth": 1.5},
        "encoding": {channel: _who(channel) for channel in ("stroke", "fill", "size")},
    }
    top = {"text": title, "fontSize": 12, "offset": 6, "anchor": "middle"}
    return {
        "title": top,
        "data": {"values": values},
        "width": width,
        "height": {"step": 17},
        "encoding": {"y": y, "x": x},
        "layer": [line, dots],
    }


def _present(values: list[Spec]) -> list[str]:
    return [m for m in (*METHODS, *REFERENCES) if any(v["method"] == m for v in values)]


def _amt(rows: Sequence[Row]) -> Plot:
    values = _values(rows, "error", PAPER)
    sets, order = list(dict.fromkeys(v["set"] for v in values)), _present(values)
    charts = [_beside([v for v in values if v["set"] == s], s, order, width=115, first=s == sets[0]) for s in sets]
    text = "Error of every method on the five Mechanical Turk sets, covote's beside the paper's."
    return Plot("amt", f"Mechanical Turk: error in percent. {_HOW}", text, {"hconcat": charts, "spacing": 14})


def _uci(rows: Sequence[Row]) -> Plot:
    values = _values(rows, "error")
    sets, levels = (list(dict.fromkeys(v[key] for v in values)) for key in ("set", "level"))
    order = _present(values)
    lines = [
        {
            "hconcat": [
                _beside(chosen, f"{s}, p = {p:g}", order, width=190, first=p == levels[0])
                for p in levels
                if (chosen := [v for v in values if (v["set"], v["level"]) == (s, p)])
            ],
            "spacing": 14,
        }
        for s in sets
    ]
    text = "Error of every method on three UCI sets labelled by ten classifiers, covote's beside the paper's."
    return Plot("uci", f"UCI: error in percent, mean of the trials. {_HOW}", text, {"vconcat": lines, "spacing": 24})


def _colour(methods: Sequence[str]) -> Spec:
    shown = [m for m in (*METHODS, *REFERENCES) if m in methods]
    colours = [_COLOURS.get(m, "var(--ink)") for m in shown]
    scale = {"domain": shown, "range": colours}
    legend = {"symbolType": "stroke", "symbolOpacity": 1, "symbolStrokeWidth": 3}
    return {"field": "method", "type": "nominal", "title": None, "scale": scale, "legend": legend}


def _lines(values: list[Spec], x: Spec, y: Spec, *, width: int, paper: bool) -> Spec:
    """A line a method with a band of one standard error, the paper's dashed."""
    ours, theirs = {"filter": "datum.who == 'covote'"}, {"filter": "datum.who == 'paper'"}
    band = {
        "mark": {"type": "area", "opacity": 0.15},
        "transform": [ours],
        "encoding": {"y": {**y, "field": "low"}, "y2": {"field": "high"}},
    }
    line = {
        "mark": {"type": "line", "point": {"size": 30}, "strokeWidth": 2},
        "transform": [ours],
        "encoding": {"y": y},
    }
    dashed = {
        "mark": {"type": "line", "point": {"size": 20}, "strokeWidth": 1.2, "strokeDash": [3, 3], "opacity": 0.75},
        "transform": [theirs],
        "encoding": {"y": y},
    }
    colour = _colour(list(dict.fromkeys(v["method"] for v in values)))
    layer = [band, line, *([dashed] if paper else [])]
    return {"width": width, "height": 300, "encoding": {"x": x, "color": colour}, "layer": layer}


def _faceted(values: list[Spec], spec: Spec) -> Spec:
    order = list(dict.fromkeys(v["set"] for v in values))
    facet = {"column": {"field": "set", "type": "nominal", "sort": order, "title": None}}
    return {"data": {"values": values}, "facet": facet, "spec": spec, "spacing": 30}


def _level(title: str, ticks: Sequence[float]) -> Spec:
    scale = {"zero": False, "nice": False, "padding": 12}
    axis = {"values": list(ticks), "format": "~g"}
    return {"field": "level", "type": "quantitative", "title": title, "scale": scale, "axis": axis}


def _value(title: str, *, log: bool) -> Spec:
    scale = {"type": "log", "nice": False, "padding": 6} if log else {"zero": True}
    axis = {"values": [c * 10**e for e in range(-5, 0) for c in (1, 3)], "format": "~g"} if log else {}
    return {"field": "value", "type": "quantitative", "title": title, "scale": scale, "axis": axis}


def _mse(rows: Sequence[Row]) -> Plot:
    values = [v for v in _values(rows, "mse") if v["method"] != COUNTED or v["who"] == "covote"]
    spec = _lines(
        values, _level("probability of answering p", (0.2, 0.3, 0.5, 1)), _value("MSE", log=True), width=320, paper=True
    )
    text = "MSE of the confusion matrices falls with p; covote's lines solid, the paper's dashed."
    return Plot("mse", "MSE of the confusion matrices: covote solid, paper dashed", text, _faceted(values, spec))


def _synthetic(rows: Sequence[Row]) -> Plot:
    values = _values(rows, "error")
    spec = _lines(
        values,
        _level("probability of answering p", (0.2, 0.3, 0.5)),
        _value("error, %", log=False),
        width=320,
        paper=True,
    )
    text = f"Error falls with p towards the {BAYES}; covote's lines solid, the paper's dashed."
    return Plot("synthetic", "Error in percent: covote solid, paper dashed", text, _faceted(values, spec))


def _annotators(rows: Sequence[Row]) -> Plot:
    values = _values(rows, "mse")
    spec = _lines(
        values,
        _level("annotators M", sorted({v["level"] for v in values})),
        _value("MSE", log=True),
        width=560,
        paper=False,
    )
    text = (
        "MSE of the confusion matrices falls with the number of annotators; bands are one standard error over trials."
    )
    title = "MSE of the confusion matrices against the number of annotators, with one standard error"
    return Plot("annotators", title, text, {"data": {"values": values}, **spec})
