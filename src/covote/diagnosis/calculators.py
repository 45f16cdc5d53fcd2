"""The paper's formulas as a calculator: wishes in, the annotators and shared items that grant them out."""

from __future__ import annotations

import math
from dataclasses import dataclass

from covote.errors import InputError

WORST_ERROR = math.sqrt(2)
"""No two probability vectors are further apart than this: a bound above it says nothing."""


def annotators_for_anchors(n_classes: int, distance: float, failure: float = 0.05) -> int:
    """Annotators that make MultiSPA's condition likely (Theorem 2, with the constants of its proof).

    With probability 1 - `failure`, rows drawn uniformly from the simplex come within `distance` of every vertex when
    M >= 1 + 2^(K-2) / (K distance^(2(K-1))) log(K / failure).

    >>> annotators_for_anchors(2, 0.2), annotators_for_anchors(3, 0.2)
    (48, 1707)
    """
    K = _classes(n_classes)
    _between("distance", distance, 0, 1)
    _between("failure", failure, 0, 1)
    return math.ceil(1 + 2.0 ** (K - 2) / (K * distance ** (2 * (K - 1))) * math.log(K / failure))


def annotators_for_scatter(n_classes: int, distance: float, failure: float = 0.05) -> int:
    """Annotators that make the sufficiently scattered condition likely (Theorem 4, with the constants of its proof).

    M >= 1 + 2^(K-4) (K-1)^2 / (K alpha^(2(K-2)) distance^2) log(K(K-1) / failure), with alpha = 1, 2/3 or 1/2 for two,
    three or more classes, and `distance` below alpha / 2.

    >>> annotators_for_scatter(3, 0.2), annotators_for_scatter(5, 0.2)
    (181, 61354)
    """
    K = _classes(n_classes)
    alpha = edge_share(K)
    _between("distance", distance, 0, alpha / 2)
    _between("failure", failure, 0, 1)
    factor = 2.0 ** (K - 4) * (K - 1) ** 2 / (K * alpha ** (2 * (K - 2)) * distance**2)
    return math.ceil(1 + factor * math.log(K * (K - 1) / failure))


def edge_share(n_classes: int) -> float:
    """The alpha of Theorem 4: how far along an edge of the simplex a row may lie."""
    return {2: 1.0, 3: 2 / 3}.get(n_classes, 0.5)


def shared_items(accuracy: float, failure: float = 0.05) -> int:
    """Items two annotators must share for ||R_ml - estimate||_F <= `accuracy` with probability 1 - `failure`.

    S = ((1 + sqrt(log(1 / failure))) / accuracy)^2, the matrix concentration bound of the paper's supplement.

    >>> shared_items(0.1), shared_items(0.05)
    (746, 2983)
    """
    _between("accuracy", accuracy, 0, WORST_ERROR)
    _between("failure", failure, 0, 1)
    return math.ceil(((1 + math.sqrt(math.log(1 / failure))) / accuracy) ** 2)


def shared_items_triple(accuracy: float, n_classes: int, failure: float = 0.05) -> int:
    """The same for three annotators and third-order statistics: K ((1 + sqrt(log(K / failure))) / accuracy)^2.

    >>> shared_items_triple(0.1, 3)
    2743
    """
    K = _classes(n_classes)
    _between("accuracy", accuracy, 0, WORST_ERROR)
    _between("failure", failure, 0, 1)
    return math.ceil(K * ((1 + math.sqrt(math.log(K / failure))) / accuracy) ** 2)


def items_needed(shared: int, answering: float, together: int = 2) -> int:
    """Items in all for `shared` of them to be answered by the same `together` annotators.

    Each answers an item with probability `answering`, so a pair meets on N p^2 items and three on N p^3.

    >>> items_needed(746, 0.2), items_needed(2743, 0.2, together=3)
    (18650, 342875)
    """
    _between("answering", answering, 0, 1, closed=True)
    return math.ceil(round(shared / answering**together, 9))


@dataclass(frozen=True)
class AnchorBound:
    """Theorem 1 for one annotator, with the constants of its proof."""

    error: float  # bound on the largest column error of A_m, in the 2-norm
    from_anchors: float  # the part that more knowing partners would lower
    from_counts: float  # the part that more shared items would lower
    tolerance: float  # the largest epsilon the theorem admits; below 0 when the counts alone exceed what it admits
    holds: bool  # epsilon <= tolerance

    @property
    def says_something(self) -> bool:
        """Whether the bound is below the largest error there can be."""
        return self.holds and self.error < WORST_ERROR


def anchor_bound(
    *,
    epsilon: float,
    kappa: float,
    sigma_max: float,
    shared: float,
    eta: float,
    n_classes: int,
    failure: float = 0.05,
) -> AnchorBound:
    """What Theorem 1 promises for MultiSPA's estimate of one confusion matrix.

    error <= (sigma_max sqrt(K) epsilon + 2 sqrt(K) (1 + sqrt(ln(1/delta))) / (sqrt(S) eta)) (1 + 80 kappa^2), provided
    epsilon <= min(1/(2 sqrt(K-1)), 1/4) / (sqrt(K) kappa (1 + 80 kappa^2)) - 2 (1 + sqrt(ln(1/delta))) / (sigma_max
    sqrt(S) eta).

    >>> perfect = anchor_bound(epsilon=0, kappa=1, sigma_max=1, shared=1e10, eta=0.5, n_classes=2)
    >>> perfect.holds, round(perfect.error, 4)
    (True, 0.0125)
    """
    K = _classes(n_classes)
    noise = 2 * (1 + math.sqrt(math.log(1 / failure))) / (math.sqrt(shared) * eta) if shared > 0 < eta else math.inf
    blow_up = 1 + 80 * kappa**2
    anchors, counts = sigma_max * math.sqrt(K) * epsilon * blow_up, math.sqrt(K) * noise * blow_up
    room = min(1 / (2 * math.sqrt(K - 1)), 0.25) / (math.sqrt(K) * kappa * blow_up)
    tolerance = room - noise / sigma_max
    return AnchorBound(anchors + counts, anchors, counts, tolerance, epsilon <= tolerance)


@dataclass(frozen=True)
class Need:
    """One line of the calculator: what is wished for, by which result, and what it takes."""

    wish: str
    source: str
    needed: int
    unit: str

    def as_dict(self) -> dict[str, str | int]:
        """Plain values for JSON."""
        return {"wish": self.wish, "source": self.source, "needed": self.needed, "unit": self.unit}


def what_if(n_classes: int, *, answering: float = 0.2, failure: float = 0.05) -> tuple[Need, ...]:
    """A table of needs for usual wishes.

    >>> [n.needed for n in what_if(3)][:3]
    [27297, 1707, 338]
    """
    rows = []
    for distance in (0.1, 0.2, 0.3):
        wish = f"answers within {distance:g} of an anchor for every class"
        rows.append(Need(wish, "Theorem 2", annotators_for_anchors(n_classes, distance, failure), "annotators"))
    for distance in (0.1, 0.2):
        wish = f"rows within {distance:g} of sufficiently scattered"
        rows.append(Need(wish, "Theorem 4", annotators_for_scatter(n_classes, distance, failure), "annotators"))
    for accuracy in (0.2, 0.1, 0.05):
        pair, triple = shared_items(accuracy, failure), shared_items_triple(accuracy, n_classes, failure)
        for number, together, words in ((pair, 2, "pairs"), (triple, 3, "triples")):
            wish = f"joint answers of {words} within {accuracy:g}"
            rows.append(Need(wish, "concentration", number, "shared items"))
            whole = items_needed(number, answering, together)
            rows.append(Need(f"{wish}, each answering {100 * answering:g} %", "concentration", whole, "items"))
    return tuple(rows)


def _classes(n_classes: int) -> int:
    if n_classes < 2:
        msg = f"The formulas need at least two classes, got {n_classes}."
        raise InputError(msg)
    return n_classes


def _between(name: str, value: float, low: float, high: float, *, closed: bool = False) -> None:
    if not (low < value < high or (closed and value == high)):
        ends = f"above {low:g} and {'at most' if closed else 'below'} {high:g}"
        msg = f"{name} is {value:g}, and must be {ends}."
        raise InputError(msg)
