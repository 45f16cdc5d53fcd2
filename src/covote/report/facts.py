"""Facts: everything a report shows, as plain values that serialise to JSON."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any

from covote.report.facts_trust import Diagnosis, Plan

FORMAT = 1
"""Version of the JSON."""


@dataclass(frozen=True)
class Range:
    """A number with the ends of its interval."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Outcome:
    """The result in a few sentences and the numbers in them."""

    title: str
    sentences: tuple[str, ...]
    notes: tuple[str, ...]  # what the fit wants to be read
    method: str
    items: int
    annotators: int
    answers: int
    classes: int
    answers_per_item: float
    uncertain_below: float  # an item less probable than this is in doubt
    uncertain_items: int
    uncertain_share: float
    certain_share: float
    tied_items: int
    single_answer_items: int
    expected_error: Range
    error: Range | None  # against the truth, where given
    truth_items: int


@dataclass(frozen=True)
class ClassShare:
    """One class: items labelled so, and its expected share of all."""

    label: Any
    items: int
    share: Range
    votes: float  # share of the answers that name it


@dataclass(frozen=True)
class ConfidenceBin:
    """Items whose confidence lies in [low, high); the last bin holds 1 as well."""

    low: float
    high: float
    items: int
    expected_wrong: float
    confidence: float | None  # mean over its items
    accuracy: Range | None  # share that is right among its items with truth
    truth_items: int


@dataclass(frozen=True)
class Votes:
    """Those who gave an item one label."""

    label: Any
    count: int
    annotators: tuple[Any, ...]  # the first few
    accuracies: tuple[float, ...]  # of these annotators, under the model


@dataclass(frozen=True)
class Doubt:
    """An item in doubt, with who said what."""

    item: Any
    label: Any
    confidence: float
    rival: Any | None  # the second most probable class
    rival_probability: float | None
    truth: Any | None
    votes: tuple[Votes, ...]


@dataclass(frozen=True)
class Annotator:
    """One annotator: volume, quality, its worst confusion and what stands out."""

    annotator: Any
    rank: int  # by bits, then answers
    answers: int
    accuracy: Range
    bits: float
    worst_class: Any | None
    worst_label: Any | None
    worst_rate: float | None
    flags: tuple[str, ...]  # what stands out
    useless: bool  # no better than random, worse, or always the same label
    confusion: tuple[tuple[float, ...], ...] | None  # [label][class] over `Matrices.names`; None where left out


@dataclass(frozen=True)
class Matrices:
    """What the confusion matrices have in common."""

    names: tuple[Any, ...]  # rows and columns of every matrix
    merged: int  # classes joined in the last row and column, 0 when every class is shown
    crowd: tuple[tuple[float, ...], ...]  # average over annotators, weighted by their answers
    shown: int  # annotators with a matrix
    mixed_up: tuple[tuple[Any, Any, float], ...]  # (class, label, rate): the crowd's worst confusions


@dataclass(frozen=True)
class SharedItems:
    """Items two annotators share, and on how many they agree."""

    first: Any
    second: Any
    shared: int
    agreed: float


@dataclass(frozen=True)
class Overlap:
    """Who shares items with whom."""

    shown: tuple[Any, ...]  # the annotators with most answers
    pairs: tuple[SharedItems, ...]  # among those shown
    annotators_alone: int  # annotators who share no item with anybody
    components: int  # groups without a shared item between them
    largest_component: int  # annotators in the largest
    answers_histogram: tuple[tuple[int, int | None, int], ...]  # (from, to, items) by answers an item has


@dataclass(frozen=True)
class Direction:
    """One class as the crowd sees it: the purest answers for it (rows of H scaled to sum 1)."""

    label: Any
    best: float  # largest purity
    annotator: Any  # who gives it
    values: tuple[float, ...]  # purity of the best annotators for this class, best first


@dataclass(frozen=True)
class Row:
    """A row of H: one annotator's label, as a point of the simplex of three classes."""

    annotator: Any
    label: Any
    weight: int  # answers
    point: tuple[float, ...]


@dataclass(frozen=True)
class Convergence:
    """How the fit ended."""

    status: str
    converged: bool
    iterations: int
    explanation: tuple[str, ...]  # why the fit is what it is, where the method chose among models
    history: tuple[tuple[int, float], ...]  # (step, objective), thinned to a few hundred points


@dataclass(frozen=True)
class MethodRun:
    """One method of a comparison."""

    method: str
    ran: bool
    status: str
    seconds: float
    error: Range | None
    log_loss: float | None
    agreement: float | None


@dataclass(frozen=True)
class Settings:
    """How to get the same result again."""

    method: str
    options: tuple[tuple[str, Any], ...]
    versions: tuple[tuple[str, str], ...]
    written: str  # day


@dataclass(frozen=True)
class Facts:
    """A whole report. `left_out` says, sentence by sentence, what the lists do not hold."""

    outcome: Outcome
    classes: tuple[ClassShare, ...]
    confidence: tuple[ConfidenceBin, ...]
    calibration_error: float | None
    doubts: tuple[Doubt, ...]
    annotators: tuple[Annotator, ...]
    matrices: Matrices
    overlap: Overlap
    diagnosis: Diagnosis | None
    directions: tuple[Direction, ...]
    rows: tuple[Row, ...]  # only for three classes
    convergence: Convergence
    comparison: tuple[MethodRun, ...]
    plan: Plan | None
    settings: Settings
    left_out: dict[str, str]  # section -> sentence
    interval_level: float  # of every interval
    share_intervals: str  # how those of class shares were made

    def as_dict(self) -> dict[str, Any]:
        """Plain values: dicts, lists, numbers, text."""
        return {"format": FORMAT, **asdict(self)}

    def as_json(self) -> str:
        """The facts as JSON text; what is not a number (an infinite bound) is null."""
        return json.dumps(finite(self.as_dict()), ensure_ascii=False, allow_nan=False)


def finite(value: Any) -> Any:
    """The same with every NaN and infinity turned into None.

    >>> finite({"a": [1.5, float("inf")]})
    {'a': [1.5, None]}
    """
    if isinstance(value, dict):
        return {k: finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def plain(value: Any) -> Any:
    """A label or id as a JSON value: text, number, boolean; anything else as text.

    >>> plain("7"), plain(7), plain((1, 2))
    ('7', 7, '(1, 2)')
    """
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        value = value.item()
    if value is None or isinstance(value, (str, bool, int)):
        return value
    return value if isinstance(value, float) and math.isfinite(value) else str(value)
