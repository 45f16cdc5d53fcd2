"""Labels and the name of a scale in; their values, distances (for alpha) and closeness (for weighted kappas) out."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.errors import InputError

Floats = NDArray[np.float64]
Distance = Callable[[Any, Any], float]

SCALES = ("nominal", "ordinal", "interval", "ratio")
WEIGHTS = ("identity", "linear", "quadratic")


@dataclass(frozen=True, eq=False)
class Scale:
    """How labels compare: their distances and closeness do not change when items are redrawn."""

    name: str  # one of SCALES, or the name of a function
    weights: str  # one of WEIGHTS, or the name of a function
    distance: Floats  # (labels, labels): disagreement of two labels, as in Krippendorff's alpha
    closeness: Floats  # (labels, labels): 1 for equal labels, 0 for the farthest

    @property
    def plain(self) -> bool:
        """Whether two labels are the same or not, and nothing between."""
        return self.name == "nominal" and self.weights == "identity"


def make_scale(
    labels: Sequence[Hashable],
    answers: Floats,
    *,
    scale: str | Distance | None = None,
    weights: str | None = None,
    ordered: Sequence[Hashable] | None = None,
) -> Scale:
    """The scale of these labels; `answers` (labels,) says how often each was given to an item with other answers.

    Distances are Krippendorff's: interval (a - b)^2, ratio ((a - b) / (a + b))^2, ordinal the square of the answers
    that lie between two labels. Closeness is 1 - |a - b| / range (linear) or the square of that (quadratic).

    >>> make_scale([1, 2, 4], np.ones(3), scale="interval").distance.tolist()
    [[0.0, 1.0, 9.0], [1.0, 0.0, 4.0], [9.0, 4.0, 0.0]]
    """
    K = len(labels)
    name = ("nominal" if ordered is None else "ordinal") if scale is None else scale
    if callable(name):
        return _own(labels, name)
    if name not in SCALES:
        msg = f"There is no scale '{name}'. Scales are: {', '.join(SCALES)}, or a function of two labels."
        raise InputError(msg)
    kind = ("identity" if name == "nominal" else "quadratic") if weights is None else weights
    if kind not in WEIGHTS:
        msg = f"There are no weights '{kind}'. Weights are: {', '.join(WEIGHTS)}."
        raise InputError(msg)
    same = np.eye(K)
    if name == "nominal" and kind == "identity":
        return Scale(name, kind, 1 - same, same)
    values = _values(labels, ordered, name if name != "nominal" else kind)
    return Scale(name, kind, _distance(name, values, answers), _closeness(kind, values))


def _own(labels: Sequence[Hashable], function: Distance) -> Scale:
    distance = np.array([[float(function(a, b)) for b in labels] for a in labels]).reshape(len(labels), len(labels))
    fair = np.isfinite(distance).all() and (distance >= 0).all() and np.array_equal(distance, distance.T)
    if not fair or np.any(np.diag(distance) != 0):
        msg = "The distance must be 0 for equal labels, the same both ways, finite and not below 0; it is not."
        raise InputError(msg)
    largest = distance.max(initial=0.0)
    name = getattr(function, "__name__", type(function).__name__)
    return Scale(name, name, distance, 1 - distance / largest if largest > 0 else np.ones_like(distance))


def _values(labels: Sequence[Hashable], ordered: Sequence[Hashable] | None, wanted: str) -> Floats:
    """A number for every label: its own where it spells one, else its place in the order given."""
    numbers = [_number(label) for label in labels]
    if ordered is None:
        strange = next((str(x) for x, v in zip(labels, numbers, strict=True) if v is None), None)
        if strange is not None:
            msg = (
                f"'{wanted}' needs labels in an order, and '{strange}' is no number. "
                "Pass ordered= with all labels, lowest first."
            )
            raise InputError(msg)
        return np.array(numbers, dtype=np.float64)
    places = {str(label): place for place, label in enumerate(ordered, start=1)}
    unknown = [str(label) for label in labels if str(label) not in places]
    if unknown or len(places) < len(ordered):
        why = f"lacks the label '{unknown[0]}'" if unknown else "names a label twice"
        msg = f"The order given {why}. Labels are: {', '.join(map(str, labels))}."
        raise InputError(msg)
    return np.array([places[str(label)] for label in labels], dtype=np.float64)


def _number(label: Hashable) -> float | None:
    if isinstance(label, bool):
        return float(label)
    try:
        value = float(label)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


def _distance(scale: str, values: Floats, answers: Floats) -> Floats:
    if scale == "nominal":
        return 1 - np.eye(len(values))
    if scale == "ordinal":
        rank = np.argsort(np.argsort(values))
        counted = answers[np.argsort(values)]
        values = (np.cumsum(counted) - counted / 2)[rank]  # answers below a label, and half of its own
    gap = values[:, None] - values[None, :]
    if scale != "ratio":
        return np.asarray(gap**2)
    if np.any(values < 0):
        msg = "The scale 'ratio' needs labels that are not below 0. Use the scale 'interval'."
        raise InputError(msg)
    total = values[:, None] + values[None, :]
    return np.asarray((gap / np.where(total > 0, total, 1)) ** 2)


def _closeness(weights: str, values: Floats) -> Floats:
    if weights == "identity":
        return np.eye(len(values))
    gap = np.abs(values[:, None] - values[None, :])
    share = gap / gap.max() if gap.max() > 0 else gap
    return np.asarray(1 - (share if weights == "linear" else share**2))
