"""Plan: which item to give to which annotator next and why; plain values with a table for files."""

from __future__ import annotations

import enum
from dataclasses import asdict, dataclass
from typing import Any


class Aim(enum.Enum):
    """What an answer is asked for, in the order in which aims are served."""

    CONNECT = "connect"
    OVERLAP = "overlap"
    ERRORS = "errors"
    START = "start"


@dataclass(frozen=True)
class Assignment:
    """One answer to ask for."""

    item: Any
    annotator: Any
    aim: Aim
    reason: str
    gain: float | None  # bits expected about the item's class, where a model says


@dataclass(frozen=True)
class Plan:
    """The assignments in the order to hand them out, and what could not be done."""

    assignments: tuple[Assignment, ...]
    budget: int
    notes: tuple[str, ...]
    seed: int

    def __len__(self) -> int:
        return len(self.assignments)

    def pairs(self) -> list[tuple[Any, Any]]:
        """(item, annotator) of every assignment."""
        return [(a.item, a.annotator) for a in self.assignments]

    def columns(self) -> dict[str, list[Any]]:
        """The plan as a table: item, annotator, aim, gain, reason."""
        return {
            "item": [a.item for a in self.assignments],
            "annotator": [a.annotator for a in self.assignments],
            "aim": [a.aim.value for a in self.assignments],
            "gain": [a.gain for a in self.assignments],
            "reason": [a.reason for a in self.assignments],
        }

    def counted(self) -> dict[str, int]:
        """Assignments by aim.

        >>> Plan((Assignment("x", "ann", Aim.CONNECT, "", None),), 1, (), 0).counted()
        {'connect': 1}
        """
        found: dict[str, int] = {}
        for a in self.assignments:
            found[a.aim.value] = found.get(a.aim.value, 0) + 1
        return found

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        rows = [{**asdict(a), "aim": a.aim.value} for a in self.assignments]
        return {"budget": self.budget, "seed": self.seed, "notes": list(self.notes), "assignments": rows}

    def summary(self) -> str:
        """Some lines of text."""
        words = {
            "connect": "to connect annotators who share no item",
            "overlap": "so that annotators can be compared on the same items",
            "errors": "where an answer is expected to remove most doubt",
            "start": "for a first answer to every item",
        }
        lines = [f"{len(self)} {'answer' if len(self) == 1 else 'answers'} to ask for, of a budget of {self.budget}:"]
        lines += [f"  {number} {words[aim]}" for aim, number in self.counted().items()]
        return "\n".join([*lines, *(f"Note: {note}" for note in self.notes)])
