"""Whatever annotators, items and labels are called, the page shows text."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from covote.report.charts import charts
from covote.report.html import Markup, tag
from covote.report.page import page
from covote.report.words import percent, shown
from pages import Outline, collect, fitted

TAGS = {
    "code",
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "script",
        "body",
        "nav",
        "main",
        "header",
        "footer",
        "section",
        "article",
    ),
    *("a", "button", "input", "details", "summary", "h1", "h2", "h3", "h4", "p", "b", "bdi", "span", "small", "div"),
    *("ul", "li", "dl", "dt", "dd", "figure", "table", "caption", "thead", "tbody", "tr", "th", "td"),
    *("svg", "g", "path", "line", "rect", "text", "defs", "clippath"),
}
"""Every element a page may hold."""

HOSTILE = (
    "</script><img src=x onerror=alert(1)>",
    "\"'><svg onload=alert(2)>",
    "{{7*7}} $title ${result}",
    "a" * 300,
    "שלום עולם \u202e evil",
    "مرحبا",
    "🦄👩‍👩‍👧‍👦",
    "tab\tand\nnewline\x00null",
    " ",
    "var(--ink)",
)


def _elements(names):
    triples = [
        (names[i % len(names)] + str(i), names[(i + m) % len(names)], names[(i * m) % 3])
        for i in range(12)
        for m in (1, 2, 3)
    ]
    return Outline(page(collect(fitted(triples, "majority-vote")))).elements


def test_hostile_names_are_text():
    tame = [f"name{i}" for i in range(len(HOSTILE))]
    html = page(
        collect(
            fitted(
                [(f"{n} {i}", m, HOSTILE[(i + j) % 3]) for i, n in enumerate(HOSTILE) for j, m in enumerate(HOSTILE)],
                "majority-vote",
            )
        )
    )
    assert "<img" not in html
    assert "<svg onload" not in html
    assert "\x00" not in html
    assert "\u202e" not in html
    wild, calm = _elements(HOSTILE), _elements(tame)
    assert {name for name, _ in wild} == {name for name, _ in calm}
    assert {a for _, names in wild for a in names} <= {a for _, names in calm for a in names} | {"title"}


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.text(min_size=1, max_size=12), min_size=6, max_size=6, unique=True))
def test_any_text_is_a_name(names):
    def triples(n):
        return [(f"{n[i]}{i}", n[3 + m], n[(i * m) % 3]) for i in range(3) for m in range(3)]

    usable = [t for t in triples(names) if all(part.strip() for part in t)]
    if len(usable) < 3:
        return
    facts = collect(fitted(usable, "majority-vote"))
    facts.as_json().encode()
    parsed = Outline(page(facts))
    assert {name for name, _ in parsed.elements} <= TAGS


def test_names_that_look_alike_when_cut_stay_apart():
    long = ["x" * 200 + end for end in "abc"]
    facts = collect(fitted([(i, m, long[(i + j) % 3]) for i in range(9) for j, m in enumerate(long)], "majority-vote"))
    values = charts(facts)["classes"].spec(700)["data"]["values"]
    assert len({v["name"] for v in values}) == 3


def test_text_is_escaped_and_markup_is_not():
    assert tag("p", "<b>&\"'", Markup("<i>"), title='"') == '<p title="&quot;">&lt;b&gt;&amp;&quot;&#x27;<i></p>'
    assert shown(None) == "(none)"
    assert shown("a\u2028b") == "a\ufffdb"
    assert percent(0.0004) == "< 0.1 %"
