"""Small fits, their facts, and what stands on a page of a report."""

from __future__ import annotations

from html.parser import HTMLParser

from covote.estimators.registry import make
from covote.report.collect import Extras
from covote.report.collect import collect as collect_all
from crowds import draw_triples


def fitted(triples=None, method="multispa-ds", **options):
    return make(method, **options).fit(draw_triples(3, n_items=60) if triples is None else triples)


def collect(fit, method=None, **extras):
    """The facts without diagnosis and bootstrap, which have tests of their own."""
    return collect_all(fit, method, Extras(**{"deep": False, **extras}))


class Outline(HTMLParser):
    """The elements of a page, and its text outside of drawings, style and script."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.words, self.hidden = [], [], 0
        self.feed(html)

    def handle_starttag(self, name, attributes):
        self.elements.append((name, tuple(key for key, _ in attributes)))
        self.hidden += name in ("svg", "style", "script")

    def handle_endtag(self, name):
        self.hidden -= name in ("svg", "style", "script")

    def handle_data(self, data):
        if not self.hidden:
            self.words.append(data)
