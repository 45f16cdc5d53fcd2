"""An estimate and a wished width in, how many gold labels that takes out."""

from __future__ import annotations

from dataclasses import dataclass

from covote.rates.estimate import Estimate, Settings, estimate, noise


@dataclass(frozen=True)
class Needed:
    """Gold labels, all taken together, for an interval of this width; None where all items are too few for it."""

    width: float
    with_judges: int | None
    gold_alone: int | None
    have: int

    @property
    def more(self) -> int | None:
        """Gold labels still to be made."""
        return None if self.with_judges is None else max(self.with_judges - self.have, 0)


def needed(found: Estimate, N: int, width: float, settings: Settings) -> Needed:
    """By the judges' quality seen so far; labels are taken to be asked at random.

    >>> needed(Estimate(0.5, 0.4, 0.6, 60.0, 50, left=0.25), 10_000, 0.05, Settings())
    Needed(width=0.05, with_judges=263, gold_alone=975, have=50)
    """
    return Needed(
        width,
        _fewest(found.value, found.left, N, width, settings),
        _fewest(found.value, 1.0, N, width, settings),
        found.gold,
    )


def _fewest(p: float, left: float, N: int, width: float, settings: Settings) -> int | None:
    def reached(n: int) -> bool:
        return estimate(p, noise(left, n, N, settings), n, settings).width <= width

    if not reached(N):
        return None
    low, high = 0, N
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high
