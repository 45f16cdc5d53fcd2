"""Reading: the options by which a table of answers is read, one value that every way of reading honours."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from covote.annotations.columns import Long, Wide, check_choice, choose
from covote.errors import InputError

POLICIES = ("error", "first", "last", "majority")


@dataclass(frozen=True, eq=False)
class Reading:
    """The options of `covote.annotations.load`, which explains them.

    >>> Reading(label="vote").choose(["task", "worker", "vote"])
    Long(item='task', annotator='worker', label='vote')
    """

    item: Hashable | None = None
    annotator: Hashable | None = None
    label: Hashable | None = None
    columns: Sequence[str] | str | None = None
    shape: str = "auto"
    duplicates: str = "error"
    delimiter: str | None = None
    classes: Iterable[Hashable] | None = None

    def __post_init__(self) -> None:
        check_choice("duplicates", self.duplicates, POLICIES)
        check_choice("shape", self.shape, ("auto", "long", "wide"))
        if self.classes is not None:
            object.__setattr__(self, "classes", list(self.classes))

    @classmethod
    def of(cls, options: dict[str, Any]) -> Reading:
        """The value of keyword arguments; an unknown one is an error."""
        known = [field.name for field in fields(cls)]
        if unknown := [name for name in options if name not in known]:
            msg = f"There is no reading option '{unknown[0]}'. Options are: {', '.join(known)}."
            raise InputError(msg)
        return cls(**options)

    @property
    def given(self) -> list[Hashable]:
        """The names of columns that were given."""
        return [name for name in (self.item, self.annotator, self.label) if name is not None]

    def choose(self, names: Sequence[Hashable]) -> Long | Wide:
        """Which of the columns hold items, annotators and labels."""
        roles = {"item": self.item, "annotator": self.annotator, "label": self.label}
        return choose(names, shape=self.shape, **roles)

    def check_frame(self, what: str) -> None:
        """Raise for options that only text files have."""
        for name in ("columns", "delimiter"):
            if getattr(self, name) is not None:
                msg = f"Option {name} is for text files, and this is {what}. Leave it out."
                raise InputError(msg)
