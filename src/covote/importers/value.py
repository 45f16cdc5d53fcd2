"""What an importer is, what it is told and what it returns: options in, answers with an account of every record out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from covote.errors import InputError
from covote.importers.peek import Peek


@dataclass(frozen=True)
class Options:
    """What the user says about a file; None: not said."""

    question: str | None = None  # which of several questions
    annotators: tuple[str, ...] | None = None  # wide columns or globs; or who answers, as the importer lists them
    item: tuple[str, ...] | None = None  # columns or paths; several make a compound key
    annotator: str | None = None
    label: str | None = None
    where: tuple[str, ...] = ()  # NAME=VALUE or NAME!=VALUE
    gold_column: str | None = None
    multiple: bool = False  # an answer may be a list of labels

    @property
    def names_columns(self) -> bool:
        """Whether the user named columns, so that the file is read as a table whatever tool wrote it."""
        return self.item is not None or self.annotator is not None or self.label is not None


@dataclass(frozen=True)
class Account:
    """What was read and what was left out."""

    format: str
    records: int
    answers: int
    left_out: Mapping[str, int] = field(default_factory=dict)
    question: str | None = None
    questions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def sentence(self) -> str:
        """One line for people.

        >>> Account("Prodigy", 5, 3, {"ignored": 2}).sentence()
        'Prodigy: 3 answers from 5 records; left out: 2 ignored.'
        """
        parts = [f"{self.format}: {self.answers:,} answers from {self.records:,} records"]
        if len(self.questions) > 1:
            parts.append(f"question '{self.question}' of {len(self.questions)}")
        if self.left_out:
            parts.append("left out: " + ", ".join(f"{count:,} {reason}" for reason, count in self.left_out.items()))
        return "; ".join([*parts, *self.notes]) + "."


@dataclass(frozen=True, eq=False)
class Answers:
    """A long table of answers: equal positions of the three columns belong together.

    Iterating gives triples, so that it goes wherever a table goes: `covote.aggregate(covote.read("export.json"))`.
    """

    items: list[Any] = field(repr=False)
    annotators: list[Any] = field(repr=False)
    labels: list[Any] = field(repr=False)
    account: Account
    gold: Mapping[Hashable, Hashable] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[tuple[Any, Any, Any]]:
        return zip(self.items, self.annotators, self.labels, strict=True)

    def columns(self) -> dict[str, list[Any]]:
        """The columns by name, ready for any library's frame: `pandas.DataFrame(answers.columns())`."""
        return {"item": self.items, "annotator": self.annotators, "label": self.labels}


class Within(NamedTuple):
    """An item that is known by its id in one place, such as a log; the place is told where there are several."""

    place: str
    item: Any


class Sheet:
    """Answers of one or several questions while they are gathered, and a count of what is left out."""

    def __init__(self, format: str) -> None:
        self.format = format
        self.records = 0
        self.rows: dict[str, list[tuple[Any, Any, Any]]] = {}
        self.gold: dict[str, dict[Hashable, Any]] = {}
        self.left_out: Counter[str] = Counter()
        self.notes: list[str] = []
        self.chosen: str | None = None  # the question an importer takes where the user names none

    def add(self, question: str, item: Any, annotator: Any, label: Any) -> None:
        """One answer; a list stands for several labels."""
        self.rows.setdefault(question, []).append((item, annotator, label))

    def add_gold(self, question: str, item: Any, label: Any) -> None:
        """The true label of an item."""
        self.gold.setdefault(question, {})[item] = label

    def leave_out(self, reason: str, count: int = 1) -> None:
        """Count what is no answer, by its reason."""
        if count:
            self.left_out[reason] += count

    @property
    def questions(self) -> tuple[str, ...]:
        """The questions that have answers, in order of appearance."""
        return tuple(self.rows)


@dataclass(frozen=True)
class Format:
    """A kind of file: how it is recognised by its content, and how it is read.

    `read` is called once per file with the same sheet, so that several files of one tool make one table.
    """

    name: str  # what `covote formats` lists and `format=` takes
    title: str
    recognise: Callable[[Peek], bool]
    read: Callable[[Peek, Options, Sheet], None]
    holds: str  # item / annotator / label, for people
    example: str  # a command line
    annotators: tuple[str, ...] = ()  # what `annotators=` can say where several things can be the annotators


def unknown_version(path: str, title: str, found: str, known: str) -> InputError:
    """The sentence about a file of a known tool in a shape that is not known."""
    return InputError(
        f"File '{path}' looks like {title}, but {found}; covote knows {known}. "
        "Name the columns with item=, annotator= and label=, or export the file in a known version."
    )


def one_of(options: Options, choices: Sequence[str], default: str | None, path: str, title: str) -> tuple[str, ...]:
    """Who the annotators are: what the user said, checked; else the default; without one the user is asked."""
    given = options.annotators
    if given is None and default is not None:
        return (default,)
    listed = " or ".join(f'"{choice}"' for choice in choices)
    if given is None:
        msg = f"File '{path}' is {title}, where several things can be the annotators. Pass annotators={listed}."
        raise InputError(msg)
    if unknown := [name for name in given if name not in choices]:
        msg = f"annotators='{unknown[0]}' is not known for {title}. Pass annotators={listed}."
        raise InputError(msg)
    return given
