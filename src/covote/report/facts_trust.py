"""The facts of a report about trust: the diagnosis of the crowd and the plan for the next answers, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Finding:
    """One finding of the diagnosis."""

    severity: str
    title: str
    evidence: str
    advice: str


@dataclass(frozen=True)
class CopyGroup:
    """Annotators who answer alike beyond what the class explains."""

    annotators: tuple[Any, ...]
    correlation: float
    effective_votes: float


@dataclass(frozen=True)
class AlikePair:
    """Two annotators: how often they agreed, and how often independent ones would have."""

    first: Any
    second: Any
    shared: int
    agreement: float
    expected: float
    correlation: float  # of their errors
    p_value: float  # adjusted for all pairs tested


@dataclass(frozen=True)
class Freedom:
    """A class share, and how far it could move without contradicting the evidence."""

    label: Any
    share: float
    pairs: tuple[float, float]  # by pair counts alone
    answers: tuple[float, float] | None  # by all answers


@dataclass(frozen=True)
class HeldOut:
    """A model on held-out answers."""

    model: str
    log_likelihood: float  # nats an answer
    behind: float  # of a confusion matrix each
    behind_error: float


@dataclass(frozen=True)
class Diagnosis:
    """What `covote diagnose` found."""

    verdict: str
    explanation: str
    findings: tuple[Finding, ...]  # worst first
    pairs_tested: int
    pairs_alarming: int
    alike: tuple[AlikePair, ...]  # most surprising first
    groups: tuple[CopyGroup, ...]
    effective_votes: float
    freedom: tuple[Freedom, ...]
    numbers: tuple[tuple[str, str], ...]  # what the verdict rests on, in words and numbers
    held_out_answers: int
    held_out: tuple[HeldOut, ...]


@dataclass(frozen=True)
class Assignment:
    """One answer to ask for next."""

    item: Any
    annotator: Any
    aim: str
    reason: str
    gain: float | None  # bits expected about the item's class


@dataclass(frozen=True)
class Plan:
    """The next answers to ask for, in the order to hand them out."""

    budget: int
    aims: tuple[tuple[str, int], ...]  # what for, and how many answers
    notes: tuple[str, ...]
    assignments: tuple[Assignment, ...]
