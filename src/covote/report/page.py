"""Facts in, one self-contained HTML file out: no network, no library, readable offline and in print."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from importlib.resources import files
from string import Template

from covote.report import sections, sections_crowd
from covote.report.charts import charts
from covote.report.draw import HOW_TO_DRAW, can_draw
from covote.report.facts import Facts
from covote.report.html import Drawn, Markup, drawn, joined, tag, text
from covote.report.sections import Charts
from covote.report.theme import DARK, FONT, LIGHT, variables
from covote.report.words import shown

Writer = Callable[[Facts, Charts, Drawn | None], Markup]

SECTIONS: tuple[tuple[str, str, str, Writer], ...] = (
    ("findings", "Findings", "What to know", sections_crowd.findings),
    ("classes", "Classes", "How the items divide", sections.classes),
    ("confidence", "Confidence", "How sure the labels are", sections.confidence),
    ("doubts", "In doubt", "Items most in doubt", sections.doubts),
    ("annotators", "Annotators", "Whom to trust", sections_crowd.annotators),
    ("matrices", "Confusion", "Who mixes up what", sections_crowd.matrices),
    ("overlap", "Overlap", "Who shares items with whom", sections_crowd.overlap),
    ("dependence", "Dependence", "Who answers like whom", sections_crowd.dependence),
    ("identifiability", "Identifiability", "Do the answers settle the model?", sections_crowd.identifiability),
    ("convergence", "Convergence", "How the fit ended", sections.convergence),
    ("comparison", "Methods", "Other methods on the same answers", sections.comparison),
    ("plan", "Next", "What to label next", sections_crowd.plan),
    ("settings", "Settings", "Settings and versions", sections.settings),
)
"""Name, word in the contents, heading, and what writes it; one that writes nothing is left out."""


_EARLY = 'document.documentElement.classList.add("js")'
"""Run before the body is read, so that folded rows are never laid out."""


def page(facts: Facts) -> str:
    """The report as HTML."""
    made = charts(facts)
    drawings = drawn(made) if can_draw() else None
    written = [(name, word, title, write(facts, made, drawings)) for name, word, title, write in SECTIONS]
    written = [part for part in written if part[3]]
    contents = joined(tag("a", word, href=f"#{name}") for name, word, _, _ in written)
    body = joined(sections.section(name, title, content) for name, _, title, content in written)
    top = sections.result(facts, made, drawings)
    if drawings is None:
        top = joined((top, tag("p", HOW_TO_DRAW + " Until then, tables stand in their place.", class_="notes")))
    script = asset("page.js")
    parts = {
        "title": text(shown(facts.outcome.title)),
        "subtitle": text(f"Aggregated by {facts.outcome.method}, {facts.settings.written}"),
        "style": style(),
        "script": script,
        "early": _EARLY,
        "hashes": " ".join(map(_hash, (_EARLY, script))),
        "contents": contents,
        "result": top,
        "sections": body,
    }
    return Template(asset("page.html")).substitute(parts)


def _hash(script: str) -> str:
    """The source by which the page's policy lets this script run, and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def style() -> str:
    """The style sheet with the colours of both themes."""
    return Template(asset("page.css")).substitute(light=variables(LIGHT), dark=variables(DARK), font=FONT)


def asset(name: str) -> str:
    """A file of the folder `assets`."""
    return files("covote.report").joinpath("assets", name).read_text(encoding="utf-8")
