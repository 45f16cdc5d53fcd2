"""Reading: the options by which a table of answers is read, one value that every way of reading honours."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from covote.annotations.columns import Long, Wide, check_choice, choose
from covote.annotations.guesses import account_of, check_names
from covote.errors import InputError

POLICIES = ("error", "first", "last", "majority")
FOR_FILES = ("question", "annotators", "where", "gold_column", "multiple")
"""Options about exports and about tables that are not plain, which are read from files into memory."""

LOG = logging.getLogger("covote.reading")
"""Tells which columns were recognised, or what was read of an export; the command line shows it."""


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
    question: str | None = None
    annotators: Sequence[str] | str | None = None
    where: Sequence[str] | str | None = None
    gold_column: str | None = None
    multiple: bool = False

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
    def roles(self) -> dict[str, Hashable | None]:
        """The columns of items, annotators and labels, None where they are not given."""
        return {"item": self.item, "annotator": self.annotator, "label": self.label}

    @property
    def given(self) -> list[Hashable]:
        """The names of columns that were given."""
        return [name for name in self.roles.values() if name is not None]

    @property
    def for_files(self) -> list[str]:
        """The options given that only files read into memory have."""
        return [name for name in FOR_FILES if getattr(self, name)]

    @property
    def plain(self) -> bool:
        """Whether the options say that a file is a plain table, so that no tool's export is looked for."""
        said = self.columns is not None or self.delimiter is not None or self.shape != "auto"
        return said and not self.for_files

    def choose(self, names: Sequence[Hashable]) -> Long | Wide:
        """Which of the columns hold items, annotators and labels."""
        return choose(names, shape=self.shape, **self.roles)

    def tell(self, chosen: Long | Wide, names: Sequence[Hashable]) -> str:
        """Log one line about columns that were recognised and not named, and return it."""
        line = account_of(chosen, names, self.roles)
        if line:
            LOG.info(line)
        return line

    def choose_and_tell(self, names: Sequence[Hashable]) -> Long | Wide:
        """`choose` for tables whose rows are elsewhere: names alone are checked, and what was recognised is told."""
        chosen = self.choose(names)
        if isinstance(chosen, Wide) and not chosen.sure:
            check_names(chosen)
        self.tell(chosen, names)
        return chosen

    def check_no_file(self) -> None:
        """Raise for options that are for files."""
        for name in self.for_files:
            msg = f"{name}= is for files. Pass a path, or choose the rows and columns of the table yourself."
            raise InputError(msg)

    def check_frame(self, what: str) -> None:
        """Raise for options that are for files, or for text files."""
        self.check_no_file()
        for name in ("columns", "delimiter"):
            if getattr(self, name) is not None:
                msg = f"Option {name} is for text files, and this is {what}. Leave it out."
                raise InputError(msg)
