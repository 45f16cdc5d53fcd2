"""Numbers and names in, the text a page shows out: formats of numbers, safe names, the sentences of a result."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from covote.estimators.summary import AnnotatorFacts, Summary
from covote.report.facts import Range

_ISOLATE, _POP = "\u2068", "\u2069"
_MANY = 10  # answers of an annotator worth naming in a sentence


def shown(name: Any, limit: int = 300) -> str:
    """A name as one line of visible text: no control characters, no direction marks, cut in the middle.

    >>> shown("a" + chr(0)) == "a" + chr(0xFFFD), shown("x" * 9, 5), shown("")
    (True, 'xx…xx', '(empty)')
    """
    text = "(none)" if name is None else str(name)
    text = "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") else c for c in text)
    text = "".join(c for c in text if unicodedata.bidirectional(c) not in _DIRECTIONS)
    if not text.strip():
        return "(empty)" if not text else f"({len(text)} spaces)"
    if len(text) <= limit:
        return text
    return f"{text[: (limit - 1) // 2]}…{text[-(limit // 2) :]}"


_DIRECTIONS = frozenset(("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"))


def clipped(name: Any, columns: int) -> str:
    """A name cut to some columns of text, where a wide character fills two; its end tells ids apart, so some is kept.

    >>> clipped("annotator-17", 10), clipped("日本語日本語", 7), clipped("abcd", 4)
    ('annota…-17', '日本…語', 'abcd')
    """
    text = shown(name)
    width = [2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text]
    if sum(width) <= columns:
        return text
    tail = (columns - 1) // 3
    return f"{text[: _fitting(width, columns - 1 - tail)]}…{text[len(text) - _fitting(width[::-1], tail) :]}"


def _fitting(width: list[int], room: int) -> int:
    """Characters from the start that fit into `room` columns."""
    return sum(1 for total in accumulate(width) if total <= room)


def inline(name: Any, limit: int = 40) -> str:
    """A name inside a sentence: short, and its writing direction kept to itself.

    >>> inline("cat")
    'cat'
    """
    text = shown(name, limit)
    plain = all(unicodedata.bidirectional(c) not in ("R", "AL", "AN") for c in text)
    return text if plain else f"{_ISOLATE}{text}{_POP}"


def quoted(name: Any) -> str:
    """A name in quotation marks, inside a sentence."""
    return f"“{inline(name)}”"


def whole(n: float) -> str:
    """A count, digits in groups.

    >>> whole(12345)
    '12,345'
    """
    return f"{round(n):,}"


def percent(share: float | None, digits: int = 1) -> str:
    """A share in percent; never 0 or 100 for what is not.

    >>> percent(0.1234), percent(0.99999), percent(0.00001), percent(1.0)
    ('12.3 %', '> 99.9 %', '< 0.1 %', '100 %')
    """
    if share is None:
        return "–"
    step = 10.0**-digits
    value = 100 * share
    if 0 < value < step / 2:
        return f"< {step:.{digits}f} %"
    if 100 - step / 2 < value < 100:
        return f"> {100 - step:.{digits}f} %"
    return f"{value:.0f} %" if value in (0.0, 100.0) else f"{value:.{digits}f} %"


def interval(r: Range, digits: int = 1) -> str:
    """The ends of an interval in percent.

    >>> interval(Range(0.5, 0.421, 0.58)), interval(Range(0.5))
    ('42.1 – 58.0', '')
    """
    if r.low is None or r.high is None:
        return ""
    return f"{100 * r.low:.{digits}f} – {100 * r.high:.{digits}f}"


def number(value: float | None) -> str:
    """A number of no particular kind, to three figures.

    >>> number(0.12345), number(1234.5), number(2.0), number(None)
    ('0.123', '1,234', '2', '–')
    """
    if value is None:
        return "–"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def listed(names: Sequence[str]) -> str:
    """Names joined as English does.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""


def counted(n: int, one: str, many: str | None = None) -> str:
    """A count with its noun.

    >>> counted(1, "item"), counted(2000, "item"), counted(2, "class", "classes")
    ('1 item', '2,000 items', '2 classes')
    """
    return f"{whole(n)} {one if n == 1 else many or one + 's'}"


def sentences(summary: Summary, error: Range | None, truth_items: int) -> tuple[str, ...]:
    """The result in three sentences: what the crowd said, whom to trust, what is in doubt."""
    people, items = counted(summary.n_annotators, "annotator"), counted(summary.n_items, "item")
    largest = sorted(summary.classes, key=lambda c: -c.share)[:3]
    shares = listed([f"{quoted(c.label)} ({percent(c.share)})" for c in largest])
    first = f"{counted(summary.n_labels, 'answer')} of {people} on {items}"
    first += f" put most items into {shares}." if len(summary.classes) > 3 else f" give {shares}."
    return tuple(s for s in (first, _whom(summary), _doubt(summary, error, truth_items)) if s)


def _whom(summary: Summary) -> str:
    busy = [f for f in summary.annotators if f.answers >= _MANY] or list(summary.annotators)
    if not busy:
        return ""
    best, worst = max(busy, key=lambda f: f.bits), min(busy, key=lambda f: f.bits)
    text = f"Annotator {quoted(best.annotator)} tells most ({_quality(best)})"
    if best.bits - worst.bits > 0.005:
        text += f", {quoted(worst.annotator)} least ({_quality(worst)})"
    return f"{text}."


def _quality(f: AnnotatorFacts) -> str:
    return f"right {percent(f.accuracy)} of the time, {f.bits:.2f} bits an answer"


def _doubt(summary: Summary, error: Range | None, truth_items: int) -> str:
    share = summary.uncertain_items / max(summary.n_items, 1)
    verb = "is" if summary.uncertain_items == 1 else "are"
    text = f"{counted(summary.uncertain_items, 'label')} ({percent(share)}) {verb} less than 80 % certain"
    text += f"; if the model is right, about {percent(summary.expected_error)} of all labels are wrong"
    if error is not None:
        text += f" (measured on {counted(truth_items, 'true label')}: {percent(error.value)})"
    return f"{text}."
