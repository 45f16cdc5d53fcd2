"""Charts in, SVG for the page and SVG and PNG files out, drawn by vl-convert (Vega-Lite) where it is installed."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from covote.errors import CovoteError, MissingExtraError
from covote.output import write_folder
from covote.report.chart import Chart, Spec
from covote.report.theme import CONFIG, LIGHT

WIDE, NARROW = 780, 340
"""Widths in pixels for desktops and for phones."""

HOW_TO_DRAW = "Charts need the package vl-convert-python: pip install 'covote[report]'."

_VARIABLE = re.compile(r"var\(--([a-z-]+)\)")
_UNHEARD = re.compile(r' (?:aria-roledescription|aria-hidden|pointer-events)="[^"<>]*"')
_PLACES = re.compile(r' (?:d|transform|x2|y2)="[^"<>]*"')
_LONG = re.compile(r"(\d\.\d)\d+(?!e)")
_ELEMENTS = {"svg", "g", "path", "line", "rect", "text", "tspan", "circle", "defs", "clipPath"}


def can_draw() -> bool:
    """Whether vl-convert is installed."""
    return find_spec("vl_convert") is not None


def draw(chart: Chart, width: int) -> str:
    """The chart as an SVG element whose colours are the page's CSS variables."""
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg({**chart.spec(width), "config": CONFIG})
    return checked(slimmed(svg))


def slimmed(svg: str) -> str:
    """The same drawing with coordinates to a tenth of a pixel and without descriptions that nobody hears.

    >>> slimmed('<path transform="translate(1.23456,2)" aria-roledescription="bar"/>')
    '<path transform="translate(1.2,2)"/>'
    """
    svg = _UNHEARD.sub("", svg)
    return _PLACES.sub(lambda place: _LONG.sub(r"\1", place[0]), svg)


def checked(svg: str) -> str:
    """The SVG if it holds nothing but shapes and text: whatever a label says, it must not become an element.

    >>> checked("<svg xmlns='http://www.w3.org/2000/svg'><text>a</text></svg>")[-6:]
    '</svg>'
    """
    for element in ElementTree.fromstring(svg).iter():  # noqa: S314 - our own drawing, without entities
        name = element.tag.rpartition("}")[2]
        if name not in _ELEMENTS or any(a.startswith("on") or "href" in a for a in element.attrib):
            msg = f"A chart holds the element '{name}', which is neither shape nor text. Please report this."
            raise CovoteError(msg)
    return svg


def write_figures(charts: Iterable[Chart], folder: Path) -> list[Path]:
    """An SVG and a PNG file of every chart, in the light theme, with its title."""
    if not can_draw():
        raise MissingExtraError(HOW_TO_DRAW)
    import vl_convert

    files = {}
    for chart in charts:
        spec = printable(chart)
        svg = vl_convert.vegalite_to_svg(spec)
        png = vl_convert.svg_to_png(svg, scale=2)
        files[f"{chart.name}.svg"] = _writer(svg.encode())
        files[f"{chart.name}.png"] = _writer(png)
    return write_folder(folder, files)


def _writer(content: bytes) -> Any:
    return lambda path: path.write_bytes(content)


def printable(chart: Chart) -> Spec:
    """The specification with title, light colours and white ground, fit for a figure of its own."""
    spec = chart.spec(WIDE)
    room = max(spec["width"], 360)
    title = {"text": textwrap.wrap(chart.title, room // 9), "subtitle": textwrap.wrap(chart.caption, room // 6)}
    config = {**CONFIG, "background": LIGHT["panel"]}
    config["title"] = {**CONFIG["title"], "subtitleColor": LIGHT["muted"], "subtitlePadding": 6}
    # "pad": the sizes are those of the plot, and a long title takes nothing from it
    coloured: Spec = _coloured({**spec, "autosize": "pad", "title": title, "config": config, "padding": 14})
    return coloured


def _coloured(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: v if k == "values" else _coloured(v) for k, v in value.items()}  # names in the data stay as they are
    if isinstance(value, list):
        return [_coloured(v) for v in value]
    return _VARIABLE.sub(lambda m: LIGHT[m[1]], value) if isinstance(value, str) else value
