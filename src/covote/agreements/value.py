"""Agreement: every coefficient of a crowd with its interval, per class, annotator and pair, and how to read them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import asdict, dataclass, field
from importlib import import_module  # notebook views sit above this module and are loaded when asked for
from typing import Any

from covote.agreements.pairs import Annotators, Pairs, plain


@dataclass(frozen=True)
class Coefficient:
    """One coefficient: its value with the ends of its interval, and what it is made of."""

    key: str  # percent, alpha, fleiss, ac1, weighted_percent, weighted_fleiss, ac2
    name: str
    value: float
    low: float
    high: float
    observed: float | None = None  # agreement seen
    expected: float | None = None  # agreement by chance, as this coefficient sees it


@dataclass(frozen=True)
class ClassAgreement:
    """One class against the rest."""

    label: Hashable
    share: float  # of all answers
    agreement: float  # given one answer of this class, the chance that another answer to the item is the same
    alpha: float  # of this class against all others taken together
    low: float
    high: float


@dataclass(frozen=True, repr=False)
class Agreement:
    """How far the annotators of a table agree; `print(found.summary())` tells it, `found["alpha"]` is a number."""

    items: int
    pairable: int  # items with at least two answers; only they can show agreement
    answers: int
    scale: str
    weights: str
    level: float
    draws: int
    seed: int
    coefficients: tuple[Coefficient, ...]
    classes: tuple[ClassAgreement, ...]
    annotators: Annotators
    pairs: Pairs | None  # None where they were not asked for
    sentences: tuple[str, ...] = field(default=())

    def coefficient(self, key: str) -> Coefficient:
        """The coefficient of this key, with its interval."""
        found = {c.key: c for c in self.coefficients}
        if key not in found:
            msg = f"There is no coefficient '{key}' here. There are: {', '.join(found)}."
            raise KeyError(msg)
        return found[key]

    def __getitem__(self, key: str) -> float:
        return self.coefficient(key).value

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; what is not defined is None."""
        skipped = ("coefficients", "classes", "annotators", "pairs", "sentences")
        facts = {name: value for name, value in vars(self).items() if name not in skipped}
        return {
            **facts,
            "coefficients": [_plain_dict(c) for c in self.coefficients],
            "classes": [_plain_dict(c) for c in self.classes],
            "annotators": _rows(self.annotators.columns()),
            "pairs": None if self.pairs is None else _rows(self.pairs.columns()),
            "sentences": list(self.sentences),
        }

    def summary(self) -> str:
        """The coefficients as lines of text, and how to read them."""
        return str(import_module("covote.agreements.words").summary(self))

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={self[key]:.3f}" for key in ("percent", "alpha", "fleiss", "ac1"))
        return f"Agreement({shown}, items={self.pairable}, annotators={len(self.annotators)})"

    def _repr_html_(self) -> str:
        return str(import_module("covote.report.notebook_agreement").agreement_view(self))


def _plain_dict(value: Any) -> dict[str, Any]:
    return {key: plain(entry) for key, entry in asdict(value).items()}


def _rows(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
