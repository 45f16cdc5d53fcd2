"""Paths -> what they are and hold, and what would be read of them; and the answers themselves as a plain table."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from covote.annotations.exports import make_options
from covote.annotations.files import find_files
from covote.annotations.load import Loaded, load
from covote.annotations.reading import LOG, Reading
from covote.errors import CovoteError
from covote.importers.peek import peek
from covote.importers.registry import expand, gather, recognise
from covote.importers.value import Account, Answers, Sheet

_LABELS = 50


@dataclass(frozen=True)
class Look:
    """What a file holds: facts by question, and either what would be read or what must be said first."""

    format: str
    questions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    reading: str = ""
    refusal: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def look_at(paths: Any, **options: Any) -> Look:
    r"""What files are and hold; nothing is changed, and what cannot be read comes as the sentence that says why.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "votes.csv"
    >>> _ = path.write_text("task,worker,label\nx,ann,cat\nx,bob,dog\n")
    >>> look_at(path).questions["label"]["answers"]
    2
    """
    reading = Reading.of(options)
    find_files(paths)  # a missing file is an error, and no finding
    names = expand(paths)
    first = peek(names[0]) if names else None
    format = recognise(first) if first is not None and not reading.given else None
    sheet = Sheet("table")
    try:
        if format is not None:
            sheet = gather([peek(name) for name in names], format, make_options(reading))
        loaded = _quietly(paths, options)
    except CovoteError as error:
        title = "a plain table" if format is None else format.title
        return Look(title, _facts(sheet), dict(sheet.left_out), refusal=str(error))
    if format is None:
        return Look(
            "a plain table", {loaded.names[2]: _loaded_facts(loaded)}, {}, loaded.account or "the three columns"
        )
    return Look(format.title, _facts(sheet), dict(sheet.left_out), loaded.account)


def read(path: Any, **options: Any) -> Answers:
    r"""The answers of a file of any kind as a plain table: `.items`, `.annotators`, `.labels`, `.gold`, `.account`.

    Options are those of `covote.load`. The result goes wherever a table goes; `.columns()` makes frames of any library.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "votes.csv"
    >>> _ = file.write_text("task,worker,label\nx,ann,cat\nx,bob,dog\n")
    >>> list(read(file))
    [('x', 'ann', 'cat'), ('x', 'bob', 'dog')]
    """
    from covote.annotations.exports import open_answers

    reading = Reading.of(options)
    found = None if reading.plain else open_answers(path, reading)
    if found is not None:
        LOG.info(found.account.sentence())
        return found
    loaded = load(path, **options)
    a = loaded.annotations
    account = Account("table", a.n_labels, a.n_labels, notes=(loaded.account.rstrip("."),) if loaded.account else ())
    items, people, classes = a.items.to_list(), a.annotators.to_list(), a.classes.to_list()
    return Answers(
        [items[i] for i in a.item.tolist()],
        [people[i] for i in a.annotator.tolist()],
        [classes[i] for i in a.label.tolist()],
        account,
    )


def _quietly(paths: Any, options: Mapping[str, Any]) -> Loaded:
    level = LOG.level
    LOG.setLevel(logging.WARNING)
    try:
        return load(paths, **options)
    finally:
        LOG.setLevel(level)


def _facts(sheet: Sheet) -> dict[str, dict[str, Any]]:
    out = {}
    for question, rows in sheet.rows.items():
        labels = {str(part) for _, _, label in rows for part in (label if isinstance(label, list) else [label])}
        out[question] = {
            "answers": len(rows),
            "items": len({repr(item) for item, _, _ in rows}),
            "annotators": len({repr(who) for _, who, _ in rows}),
            "labels": sorted(labels)[:_LABELS],
            "gold": len(sheet.gold.get(question, {})),
        }
    return out


def _loaded_facts(loaded: Loaded) -> dict[str, Any]:
    a = loaded.annotations
    labels = [str(label) for label in a.classes.to_list()[:_LABELS]]
    facts = {"answers": a.n_labels, "items": a.n_items, "annotators": a.n_annotators}
    return {**facts, "labels": labels, "gold": len(loaded.gold)}
