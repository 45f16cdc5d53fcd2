"""Rate: the share of items of a class, from the judges, from gold labels and from both, for each system."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import asdict, dataclass
from importlib import import_module  # notebook views sit above this module and are loaded when asked for
from typing import Any

import numpy as np

from covote.rates.difference import Difference
from covote.rates.estimate import Estimate
from covote.rates.needed import Needed

NAMES = {
    "model": "model alone",
    "gold": "gold alone",
    "corrected": "corrected by gold",
    "stratified": "corrected by gold, by confidence",
}


@dataclass(frozen=True)
class Share:
    """The share of one set of items by every way; `best` names the one to publish."""

    items: int
    gold_labels: int
    model: Estimate
    gold: Estimate | None
    corrected: Estimate | None
    stratified: Estimate | None
    best: str  # model, gold, corrected or stratified
    needed: Needed | None = None

    @property
    def estimate(self) -> Estimate:
        """The one to publish."""
        found: Estimate = getattr(self, self.best)
        return found


@dataclass(frozen=True, repr=False)
class Rate:
    """The share of items of a class with an honest interval: `value`, `low`, `high`; the rest says how."""

    positive: Hashable
    level: float
    sampled: bool
    method: str
    share: Share
    systems: dict[Hashable, Share]
    differences: tuple[Difference, ...]
    sentences: tuple[str, ...]

    @property
    def value(self) -> float:
        return self.share.estimate.value

    @property
    def low(self) -> float:
        return self.share.estimate.low

    @property
    def high(self) -> float:
        return self.share.estimate.high

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        differences = [{**asdict(d), "clear": d.clear} for d in self.differences]
        return {
            "positive": _plain(self.positive),
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "level": self.level,
            "sampled": self.sampled,
            "method": self.method,
            **_facts(self.share),
            "systems": [{"system": _plain(name), **_facts(share)} for name, share in self.systems.items()],
            "differences": [{key: _plain(value) for key, value in row.items()} for row in differences],
            "sentences": list(self.sentences),
        }

    def summary(self) -> str:
        """The shares as lines of text, and how to read them."""
        return str(import_module("covote.rates.words").summary(self))

    def __repr__(self) -> str:
        systems = f", systems={len(self.systems)}" if self.systems else ""
        gold = f"items={self.share.items}, gold={self.share.gold_labels}"
        return f"Rate({self.positive!r}: {self.value:.3f}, {self.low:.3f} to {self.high:.3f}, {gold}{systems})"

    def _repr_html_(self) -> str:
        return str(import_module("covote.report.notebook_rate").rate_view(self))


def _facts(share: Share) -> dict[str, Any]:
    ways = {way: getattr(share, way) for way in NAMES}
    told = {way: None if e is None else {k: _plain(v) for k, v in asdict(e).items()} for way, e in ways.items()}
    wish = None if share.needed is None else {**asdict(share.needed), "more": share.needed.more}
    return {"items": share.items, "gold_labels": share.gold_labels, "best": share.best, "ways": told, "needed": wish}


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not np.isfinite(value) else value
