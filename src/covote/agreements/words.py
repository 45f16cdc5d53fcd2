"""An Agreement in, sentences that say how to read it out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from covote.agreements.pairs import Pairs

if TYPE_CHECKING:
    from covote.agreements.value import Agreement, Coefficient

GOOD, FAIR = 0.8, 0.667
"""Krippendorff's own bars for alpha: good enough to rely on, and enough for tentative conclusions."""

_GAP = 0.2
"""AC1 above alpha by so much, or two annotators above the crowd by so much, is worth a sentence."""

_COMMON = 0.75
"""Share of the answers from which one class is called dominant."""

_ENOUGH = 20
"""Items that a pair must share to be named in a sentence."""


def sentences(found: Agreement) -> Iterator[str]:
    """What the numbers say, what they do not say, in plain words."""
    alpha, percent, ac1 = (found.coefficient(key) for key in ("alpha", "percent", "ac1"))
    yield f"Two answers to the same item are the same in {100 * percent.value:.1f} % of the cases."
    if np.isnan(alpha.value):
        only = max(found.classes, key=lambda c: c.share)
        yield f"All of these answers are '{only.label}', so coefficients that allow for chance are not defined."
        return
    yield f"Krippendorff's alpha is {_with_ends(alpha)}: {_verdict(alpha.value)}."
    top = max(found.classes, key=lambda c: c.share)
    if top.share >= _COMMON and ac1.value - alpha.value >= _GAP:
        yield (
            f"{100 * top.share:.0f} % of the answers are '{top.label}', so much agreement is expected by chance, and "
            f"alpha and kappa are low although AC1 is {ac1.value:.2f} (the prevalence paradox). Report both, and the "
            "agreement of the rare class."
        )
    single = found.items - found.pairable
    if single:
        yield f"{single:,} of {found.items:,} items have one answer and cannot show agreement."
    yield from _minority(found, alpha.value)
    yield "Agreement is not accuracy: annotators who share an error agree on it. `covote diagnose` tests for that."


def _verdict(alpha: float) -> str:
    if alpha >= GOOD:
        return "by Krippendorff's rule (0.8) these answers can be relied on as they are"
    if alpha >= FAIR:
        return "by Krippendorff's rule (0.667 to 0.8) enough for tentative conclusions"
    if alpha > 0:
        return "by Krippendorff's rule (below 0.667) too low to take single answers for the truth"
    return "annotators agree no more than by chance"


def _minority(found: Agreement, alpha: float) -> Iterator[str]:
    if alpha >= FAIR:
        return
    best = None if found.pairs is None else _best_pair(found.pairs)
    if best is not None and found.pairs is not None and found.pairs.low[best] >= alpha + _GAP:
        first, second = found.pairs.first[best], found.pairs.second[best]
        yield (
            f"'{first}' and '{second}' agree with each other far better (kappa {found.pairs.kappa[best]:.2f}) than the "
            "crowd does: a good minority may be hidden here."
        )
    yield (
        "A low alpha is an average over all pairs: it does not see a good minority. `covote aggregate` weighs "
        "annotators, and its labels can be good where alpha is low."
    )


def _best_pair(pairs: Pairs) -> int | None:
    worth = np.where((pairs.shared >= _ENOUGH) & np.isfinite(pairs.low), pairs.low, -np.inf)
    return int(np.argmax(worth)) if len(worth) and np.isfinite(worth.max()) else None


def _with_ends(c: Coefficient) -> str:
    return f"{c.value:.3f} ({c.low:.3f} to {c.high:.3f})"


def summary(found: Agreement) -> str:
    """Lines of text: the coefficients, then the sentences."""
    wide = max(len(c.name) for c in found.coefficients)
    head = f"{found.answers:,} answers of {len(found.annotators):,} annotators on {found.items:,} items"
    lines = [f"{c.name:<{wide}}  {_number(c.value)}  {_number(c.low)} to {_number(c.high)}" for c in found.coefficients]
    title = f"{'':<{wide}}  value  {100 * found.level:g} % interval"
    return "\n".join([f"{head}.", "", title, *lines, "", *found.sentences])


def _number(value: float) -> str:
    return "    -" if np.isnan(value) else f"{value:5.3f}"
