"""An Agreement in, its notebook view out: coefficients, classes, annotators and pairs as small tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

from covote.agreements import Agreement
from covote.report.html import Markup, joined, label_of, name_of, prose, tag

_MOST = 10


def agreement_view(found: Agreement) -> Markup:
    """Tables of at most ten rows and the sentences."""
    people, pairs = found.annotators, found.pairs
    order = sorted(range(len(people)), key=lambda m: -people.answers[m])[:_MOST]
    rows = [(c.name, number(c.value), between(c.low, c.high)) for c in found.coefficients]
    by_class = [(label_of(c.label), percent(c.share), percent(c.agreement), number(c.alpha)) for c in found.classes]
    by_annotator = [
        (name_of(people.annotator[m]), f"{people.answers[m]:,}", percent(people.agreement[m]), number(people.kappa[m]))
        for m in order
    ]
    tables = [
        table(("", "value", f"{100 * found.level:g} % interval"), rows),
        table(("class", "answers", "agreement", "alpha"), by_class[:_MOST], len(by_class)),
        table(("annotator", "answers", "agreement", "kappa"), by_annotator, len(people)),
    ]
    if pairs is not None:
        by_pair = [
            (name_of(pairs.first[p]), name_of(pairs.second[p]), f"{pairs.shared[p]:,}", number(pairs.kappa[p]))
            for p in range(min(len(pairs), _MOST))
        ]
        tables.append(table(("annotator", "annotator", "shared", "Cohen's kappa"), by_pair, len(pairs)))
    return view(tables, found.sentences)


def view(tables: Sequence[Markup], sentences: Sequence[str]) -> Markup:
    """Tables, then sentences as paragraphs."""
    return tag("div", *tables, *(tag("p", prose(s)) for s in sentences), class_="covote")


def table(head: Sequence[str], rows: Sequence[Sequence[object]], total: int | None = None) -> Markup:
    """A plain table; a last row says how many more there are."""
    left = 0 if total is None else total - len(rows)
    shown = [*rows, *([(f"{left:,} more",)] if left > 0 else [])]
    body = joined(tag("tr", *(tag("td", cell) for cell in row)) for row in shown)
    return tag("table", tag("thead", tag("tr", *(tag("th", h) for h in head))), tag("tbody", body))


def number(value: float) -> str:
    """Three digits, a dash where it is not defined."""
    return "-" if math.isnan(value) else f"{value:.3f}"


def percent(value: float) -> str:
    """A share, a dash where it is not defined."""
    return "-" if math.isnan(value) else f"{100 * value:.1f} %"


def between(low: float, high: float) -> str:
    """Both ends of an interval."""
    return f"{number(low)} to {number(high)}"
