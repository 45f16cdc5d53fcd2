"""Text in, HTML out: everything that comes from data is escaped here, and nowhere else is HTML built from data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

from covote.report.chart import Chart, Table
from covote.report.draw import NARROW, WIDE, draw
from covote.report.facts import Range
from covote.report.words import shown

Drawn = dict[str, tuple[str, str]]
"""Name of a chart -> its wide and its narrow drawing."""


_UNBROKEN = re.compile(r"(?<=\d) (?=[%–])|(?<=–) (?=\d)")
"""Spaces at which a number must not be torn apart."""


class Markup(str):
    """HTML that is ready to be put on the page; any other text is escaped first."""

    __slots__ = ()


def text(value: Any) -> Markup:
    """Escaped, unless it is HTML already.

    >>> text("<b>"), text(Markup("<b>"))
    ('&lt;b&gt;', '<b>')
    """
    return value if isinstance(value, Markup) else Markup(escape(_UNBROKEN.sub("\u00a0", str(value)), quote=True))


def tag(name: str, *inside: Any, **attributes: Any) -> Markup:
    """An element; attributes that are None are left out, `class_` and `data_x` lose and turn their underscores.

    >>> tag("td", "a < b", class_="name")
    '<td class="name">a &lt; b</td>'
    """
    shown_attributes = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{text(value)}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    return Markup(f"<{name}{shown_attributes}>{''.join(map(text, inside))}</{name}>")


def joined(parts: Iterable[Any]) -> Markup:
    """Parts one after another."""
    return Markup("".join(map(text, parts)))


def listed(parts: Iterable[Any]) -> Markup:
    """Parts with commas between.

    >>> listed(["a", "<"])
    'a, &lt;'
    """
    return Markup(", ".join(map(text, parts)))


def prose(sentence: str) -> Markup:
    """A sentence whose `commands` are set as code.

    >>> prose("run `covote plan` <now>")
    'run <code>covote plan</code> &lt;now&gt;'
    """
    parts = sentence.split("`")
    if len(parts) % 2 == 0:  # an odd backtick is a character like any other
        return text(sentence)
    return joined(tag("code", part) if i % 2 else part for i, part in enumerate(parts))


def name_of(value: Any) -> Markup:
    """A label or id: its direction kept to itself, cut by the page where it is long, whole when pointed at."""
    full = shown(value)
    return tag("bdi", full, class_="name", title=full if len(full) > 18 else None)


def label_of(value: Any, kind: str = "") -> Markup:
    """A label in a box of its own, so that labels and annotators that are both numbers cannot be mixed up."""
    return tag("span", name_of(value), class_=f"label {kind}".strip())


def bar(share: float) -> Markup:
    """A small bar of a share, drawn by the style sheet."""
    return tag("span", class_="bar", style=f"--v:{share:.4g}", aria_hidden="true")


def range_bar(r: Range) -> Markup:
    """A dot on a line from 0 to 1, with its interval where there is one."""
    low, high = (r.value, r.value) if r.low is None or r.high is None else (r.low, r.high)
    place = ";".join(f"--{k}:{min(max(v, 0.0), 1.0):.4g}" for k, v in (("v", r.value), ("l", low), ("h", high)))
    return tag("span", class_="range", style=place, aria_hidden="true")


def cell(content: Any, sort: float | None = None, **attributes: Any) -> Markup:
    """A table cell; `sort` is the number it is sorted by, where its text is none."""
    value = None if sort is None else f"{sort:.6g}"
    return tag("td", content, data_v=value, **attributes)


def grid(
    caption: str, head: Sequence[tuple[str, str]], rows: Iterable[Markup], *, name: str, first: int | None = None
) -> Markup:
    """A table that can be sorted; `head` holds names and kinds ("text", "number"); beyond `first` rows fold away."""
    columns = joined(
        tag("th", tag("button", title, type="button"), scope="col", class_=kind, data_kind=kind) for title, kind in head
    )
    table = tag(
        "table",
        tag("caption", caption, class_="unseen"),
        tag("thead", tag("tr", columns)),
        tag("tbody", joined(folded(rows, first))),
        id=name,
        data_first=first,
        class_="sortable",
    )
    return tag("div", table, class_="scroll", tabindex="0", role="region", aria_label=caption)


def folded(entries: Iterable[Markup], first: int | None) -> Iterator[Markup]:
    """Entries beyond the first, marked so that a browser with scripts need not lay them out before they are asked for.

    >>> list(folded([Markup("<tr><td>1"), Markup("<tr><td>2")], 1))
    ['<tr><td>1', '<tr class="rest"><td>2']
    """
    for i, entry in enumerate(entries):
        mark = first is not None and i >= first
        yield (
            Markup(entry.replace("<tr>", '<tr class="rest">', 1).replace('"card"', '"card rest"', 1)) if mark else entry
        )


def plain_table(table: Table) -> Markup:
    """The table behind a chart."""
    head = joined(tag("th", h, scope="col") for h in table.head)
    rows = joined(tag("tr", joined(tag("td", tag("bdi", c)) for c in row)) for row in table.rows)
    return tag("div", tag("table", tag("thead", tag("tr", head)), tag("tbody", rows)), class_="scroll", tabindex="0")


def search(target: str, label: str) -> Markup:
    """A search field for the rows of a table, or the cards of a list."""
    field = tag("input", type="search", data_search=target, placeholder=label, aria_label=label, autocomplete="off")
    status = tag("span", role="status", class_="found", data_found=target)
    return tag("div", Markup(field.removesuffix("</input>")), status, class_="search")


def figure(chart: Chart | None, drawings: Drawn | None) -> Markup:
    """A chart with title, caption and the table behind it; without drawings the table stands in its place."""
    if chart is None:
        return Markup("")
    title = tag("h3", chart.title)
    caption = tag("p", chart.caption, class_="caption") if chart.caption else Markup("")
    table = plain_table(chart.table)
    if drawings is None or chart.name not in drawings:
        return tag("figure", title, table, id=f"chart-{chart.name}")
    wide, narrow = drawings[chart.name]
    pictures = joined(
        tag("div", Markup(svg), class_=f"chart {kind}", role="group", aria_label=chart.title)
        for kind, svg in (("wide", wide), ("narrow", narrow))
    )
    behind = tag("details", tag("summary", "Show the numbers"), table)
    return tag("figure", title, caption, pictures, behind, id=f"chart-{chart.name}")


def drawn(charts: dict[str, Chart]) -> Drawn:
    """Every chart in both widths."""
    return {name: (draw(chart, WIDE), draw(chart, NARROW)) for name, chart in charts.items()}
