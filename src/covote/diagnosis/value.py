"""Diagnosis: everything the diagnosis found, as plain values; `as_dict` for machines, `summary` for people."""

from __future__ import annotations

import dataclasses
import enum
import math
from dataclasses import dataclass
from typing import Any

from covote.diagnosis.annotators import AnnotatorRow
from covote.diagnosis.identifiability import Identifiability, Verdict
from covote.diagnosis.model_fit import ModelFit
from covote.diagnosis.overlap import Overlap
from covote.methods.agreement import PairTest
from covote.methods.groups import CopyGroup


class Severity(enum.Enum):
    """How much a finding matters, worst last."""

    GOOD = "good"
    NOTE = "note"
    WARNING = "warning"
    CRITICAL = "critical"


@dataclass(frozen=True)
class Finding:
    """One thing worth knowing: what, why we think so, what to do."""

    severity: Severity
    title: str
    evidence: str
    advice: str


@dataclass(frozen=True)
class Dependence:
    """Who agrees beyond what the classes explain, and how many independent votes the crowd is worth."""

    tested: int  # pairs
    alarms: int  # pairs with significant and material excess agreement
    calibrated: bool  # the null was simulated; else the model was taken as known
    given_truth: bool  # errors were measured against true labels
    pairs: tuple[PairTest, ...]  # the most surprising ones
    groups: tuple[CopyGroup, ...]
    unexplained: int  # alarming pairs outside the groups
    annotators: int
    effective_votes: float


@dataclass(frozen=True)
class LabelQuality:
    """What the labels are worth if the model is right, with an interval where one was asked for."""

    expected_error: float
    low: float | None
    high: float | None
    true_error: float | None  # where the truth was given
    renamed_error: float | None  # the same for the best renaming of the classes
    items_with_truth: int


@dataclass(frozen=True)
class Diagnosis:
    """Can this crowd be trusted? The verdict, the findings, and the numbers behind them."""

    verdict: Verdict
    explanation: str
    findings: tuple[Finding, ...]  # worst first
    classes: tuple[Any, ...]
    overlap: Overlap
    identifiability: Identifiability
    annotators: tuple[AnnotatorRow, ...]
    dependence: Dependence
    model_fit: ModelFit | None  # None where only counts are known
    labels: LabelQuality | None
    interval_level: float | None
    seed: int

    def as_dict(self) -> dict[str, Any]:
        """Dicts, lists, numbers and text only, ready for JSON."""
        found: dict[str, Any] = _plain(self)
        return found

    def summary(self) -> str:
        """The diagnosis as text of some twenty lines."""
        from covote.diagnosis.summary import summarised

        return summarised(self)

    def __str__(self) -> str:
        return self.summary()


def _plain(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return fields | {"verdict": value.verdict.value} if isinstance(value, Identifiability) else fields
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None  # JSON knows no other numbers
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)
