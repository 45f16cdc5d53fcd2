"""Shares in, sentences that say how to read them out."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING

from covote.rates.difference import Difference
from covote.rates.estimate import Estimate, Settings

if TYPE_CHECKING:
    from covote.rates.value import Rate, Share


def sentences(
    positive: Hashable,
    settings: Settings,
    whole: Share,
    systems: Mapping[Hashable, Share],
    differences: tuple[Difference, ...],
) -> Iterator[str]:
    """What was found and on what it rests."""
    e = whole.estimate
    of = "items like these" if settings.sampled else f"the {whole.items:,} items"
    yield (
        f"{percent(e.value)} of {of} are '{positive}'; the {100 * settings.level:g} % interval is "
        f"{percent(e.low)} to {percent(e.high)}."
    )
    yield _ground(whole, settings)
    if whole.needed is not None:
        yield _labels(whole)
    thin = [str(name) for name, share in systems.items() if 0 < share.gold_labels < settings.fewest]
    if thin:
        yield f"Too few gold labels to correct judges: {', '.join(thin[:5])}. Label {settings.fewest} items of each."
    for d in differences[:10]:
        word = "differ" if d.clear else "cannot be told apart"
        how = f", paired on {d.paired:,} inputs" if d.paired else ""
        ends = f"{100 * d.low:+.1f} to {100 * d.high:+.1f}"
        yield f"'{d.first}' and '{d.second}' {word}: {100 * d.value:+.1f} points ({ends}{how})."


def _ground(whole: Share, settings: Settings) -> str:
    if whole.best == "model" and whole.model.worth == 0:
        return (
            "Without gold labels nothing tells how often these judges err, so every share is possible: a model takes "
            f"three judges, two labels and 30 items. Label {settings.fewest} items or more at random."
        )
    if whole.best == "model":
        return (
            "No gold labels were given: the interval holds only if the judges' errors are as the model sees them. "
            f"Label {settings.fewest} items or more at random to check."
        )
    if whole.best == "gold" or whole.gold is None or whole.corrected is None:
        return f"It rests on {whole.gold_labels} gold labels alone: {settings.fewest} are needed to correct the judges."
    gain = 1 - whole.estimate.width / whole.gold.width if whole.gold.width > 0 else 0.0
    text = (
        f"It rests on {whole.gold_labels:,} gold labels and the judges; gold alone gives {percent(whole.gold.low)} to "
        f"{percent(whole.gold.high)}"
    )
    text += (
        f", and the judges make that {100 * gain:.0f} % narrower." if gain > 0 else "; the judges add nothing to it."
    )
    if whole.best == "stratified":
        text += " Gold items are not a random part of all items, so they are weighed by confidence."
    return text


def _labels(whole: Share) -> str:
    wish = whole.needed
    assert wish is not None
    if wish.more is None:
        return f"These {whole.items:,} items are too few for an interval {percent(wish.width)} wide, even all labelled."
    if wish.more == 0:
        return f"The interval is already at most {percent(wish.width)} wide."
    alone = f"{wish.gold_alone:,}" if wish.gold_alone is not None else f"more than {whole.items:,}"
    return (
        f"For an interval {percent(wish.width)} wide, label {wish.more:,} more items at random "
        f"({wish.with_judges:,} in all; without judges {alone})."
    )


def percent(share: float) -> str:
    """A share as text."""
    return f"{100 * share:.1f} %"


def summary(rate: Rate) -> str:
    """Lines of text: every way, the systems, then the sentences."""
    from covote.rates.value import NAMES

    rows = [(NAMES[way], getattr(rate.share, way)) for way in NAMES]
    rows += [(f"system {name}", share.estimate) for name, share in rate.systems.items()]
    shown = [(name, e) for name, e in rows if e is not None]
    wide = max(len(name) for name, _ in shown)
    lines = [f"{name:<{wide}}  {_line(e)}" for name, e in shown]
    return "\n".join(
        [f"Share of '{rate.positive}', with {100 * rate.level:g} % intervals", *lines, "", *rate.sentences]
    )


def _line(e: Estimate) -> str:
    return f"{percent(e.value):>7}  {percent(e.low):>7} to {percent(e.high):>7}"
