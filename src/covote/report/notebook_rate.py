"""A Rate in, its notebook view out: the share by every way, systems and differences as small tables."""

from __future__ import annotations

from covote.rates import Estimate, Rate
from covote.rates.value import NAMES
from covote.report.html import Markup, name_of, tag
from covote.report.notebook_agreement import percent, table, view

_MOST = 10


def rate_view(found: Rate) -> Markup:
    """Tables of at most ten rows and the sentences."""
    ways = [(name, getattr(found.share, way), way == found.share.best) for way, name in NAMES.items()]
    rows = [(tag("b", name) if best else name, *_cells(e)) for name, e, best in ways if e is not None]
    tables = [table(("share by", "value", f"{100 * found.level:g} % interval"), rows)]
    if found.systems:
        systems = [(name_of(name), *_cells(share.estimate)) for name, share in list(found.systems.items())[:_MOST]]
        tables.append(table(("system", "value", "interval"), systems, len(found.systems)))
        pairs = [
            (name_of(d.first), name_of(d.second), f"{100 * d.value:+.1f}", f"{100 * d.low:+.1f} to {100 * d.high:+.1f}")
            for d in found.differences[:_MOST]
        ]
        tables.append(table(("system", "minus", "points", "interval"), pairs, len(found.differences)))
    return view(tables, found.sentences)


def _cells(e: Estimate) -> tuple[str, str]:
    return percent(e.value), f"{percent(e.low)} to {percent(e.high)}"
