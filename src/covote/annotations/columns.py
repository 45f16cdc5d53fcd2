"""Column names of a table -> which column holds the item, the annotator and the label."""

from __future__ import annotations

import difflib
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from covote.errors import ColumnError, InputError

Role = Literal["item", "annotator", "label"]
ROLES: tuple[Role, Role, Role] = ("item", "annotator", "label")

TIERS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "item": (
        ("item", "task"),
        ("example", "sample", "instance", "object", "unit", "doc", "document", "datapoint", "record", "subject", "hit",
         "image", "img", "picture", "photo", "video", "clip", "sentence", "tweet", "query", "pair", "prompt",
         "question", "page"),
        ("id", "idx", "index", "uid", "key"),
        ("url", "file", "filename", "path"),
    ),
    "annotator": (
        ("annotator", "worker"),
        ("rater", "judge", "labeler", "labeller", "coder", "turker", "assessor", "evaluator", "reviewer", "grader",
         "voter", "participant", "respondent", "performer", "contributor", "player"),
        ("expert", "user", "model", "classifier", "llm", "lf", "labelingfunction", "labellingfunction", "source",
         "person", "author"),
    ),
    "label": (
        ("label",),
        ("answer", "response", "vote", "annotation", "judgment", "judgement", "choice", "category", "class", "verdict",
         "decision", "rating", "grade", "prediction", "pred", "output", "result", "value", "score"),
    ),
    "truth": (
        ("truth", "groundtruth", "truelabel", "trueclass", "trueanswer", "gold", "goldlabel", "gt", "correct",
         "correctlabel", "correctanswer", "target", "y", "ytrue"),
    ),
}  # fmt: skip
"""Names of each column without case, spaces and punctuation, from the plainest to the vaguest.

A name of an earlier tier goes before those of later ones; two names of one tier are a question to the user. Items and
annotators are also recognised with `id` or `name` behind the word (`task_id`, `Worker ID`, `rater-name`), and all in
the plural. A label is never an id: `annotation_id` is none.
"""

SYNONYMS: Mapping[str, tuple[str, ...]] = {
    role: tuple(w for tier in tiers for w in tier) for role, tiers in TIERS.items()
}

_ENDINGS = {"item": ("id", "", "name", "s"), "annotator": ("id", "", "name", "s"), "label": ("", "name", "s")}
"""Forms of one word, the first that a table has counts: `worker_id` goes before `worker_name`."""

_NUMBERED = re.compile(r"(.*?)(?:[ _.#-]*\d+|[ _.#-]+[A-Za-z])")


@dataclass(frozen=True)
class Long:
    """One row an answer: the names of the three columns."""

    item: Hashable
    annotator: Hashable
    label: Hashable

    @property
    def names(self) -> tuple[str, str, str]:
        return str(self.item), str(self.annotator), str(self.label)


@dataclass(frozen=True)
class Wide:
    """One row an item: the column of the item (None: rows are items 0, 1, ...) and one column an annotator."""

    item: Hashable | None
    annotators: tuple[Hashable, ...]
    sure: bool  # the caller said that the table is wide
    numbered: bool = False  # the columns are named alike, such as annotator1, annotator2


def choose(
    names: Sequence[Hashable],
    *,
    item: Hashable | None = None,
    annotator: Hashable | None = None,
    label: Hashable | None = None,
    shape: str = "auto",
) -> Long | Wide:
    """Find the columns by the names given, else by synonym, and tell a long table from a wide one.

    "auto" takes a table as long when it has the three columns, as wide when its columns are numbered annotators, and
    as a candidate for wide when neither an annotator nor a label column is found or given.

    >>> choose(["Worker ID", "task", "answer"])
    Long(item='task', annotator='Worker ID', label='answer')
    >>> choose(["doc", "ann", "bob"])
    Wide(item='doc', annotators=('ann', 'bob'), sure=False, numbered=False)
    """
    check_choice("shape", shape, ("auto", "long", "wide"))
    given: dict[Role, Hashable | None] = {"item": item, "annotator": annotator, "label": label}
    if shape == "wide":
        if annotator is not None or label is not None:
            msg = 'A wide table has a column for each annotator: pass item= alone, or shape="long".'
            raise InputError(msg)
        given = {"item": item}
    check_given(names, given)
    if shape == "auto" and annotator is None and label is None and len(alike := numbered(names)) > 1:
        return Wide(
            pick([name for name in names if name not in alike], "item", given), alike, sure=False, numbered=True
        )
    found = {role: column for role in given if (column := pick(names, role, given)) is not None}
    if shape == "wide" or (shape == "auto" and not {"annotator", "label"} & set(found)):
        rest = tuple(name for name in names if "item" not in found or name != found["item"])
        if not rest:
            msg = f"No annotator and no label column found. Columns are: {_listed(names)}. Pass a table that has them."
            raise ColumnError(msg)
        return Wide(found.get("item"), rest, sure=shape == "wide")
    for role in ROLES:
        if role not in found:
            raise ColumnError(not_recognised(names, role, tuple(found.values()), shape))
    return Long(found["item"], found["annotator"], found["label"])


def pick(names: Sequence[Hashable], role: str, given: Mapping[Role, Hashable | None]) -> Hashable | None:
    """The column of this role: the one given, else the only one of the plainest tier; two of a tier are an error.

    >>> pick(["task", "url", "label"], "item", {})
    'task'
    """
    own = given.get(role)  # type: ignore[call-overload]
    if own is not None:
        return own  # type: ignore[no-any-return]
    found = next((tier for tier in candidates(names, role, given) if tier), [])
    if len(found) > 1:
        listed = " or ".join(_quoted(name) for name in found)
        msg = f"Several columns can be the {role}. Columns are: {_listed(names)}. Pass {role}={listed}."
        raise ColumnError(msg)
    return found[0] if found else None


def candidates(names: Sequence[Hashable], role: str, given: Mapping[Role, Hashable | None]) -> list[list[Hashable]]:
    """The columns of each tier of names, one for each word."""
    taken = {name for name in given.values() if name is not None}
    plain: dict[str, Hashable] = {
        _plain(name): name for name in reversed(names) if isinstance(name, str) and name not in taken
    }
    tiers = []
    for tier in TIERS[role]:
        forms = ([plain[word + e] for e in _ENDINGS.get(role, ("",)) if word + e in plain] for word in tier)
        tiers.append(list(dict.fromkeys(found[0] for found in forms if found)))
    return tiers


def find(names: Sequence[Hashable], role: str, given: Mapping[Role, Hashable | None]) -> Hashable | None:
    """The likeliest column of this role, for looking at a header and for advice: the one given, else the plainest."""
    own = given.get(role)  # type: ignore[call-overload]
    if own is not None:
        return own  # type: ignore[no-any-return]
    return next((name for tier in candidates(names, role, given) for name in tier), None)


def numbered(names: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """Columns named by one word for an annotator and a number or letter: annotator1, annotator2; judge_a, judge_b.

    >>> numbered(["id", "text", "Rater 1", "Rater 2"])
    ('Rater 1', 'Rater 2')
    """
    groups: dict[str, list[Hashable]] = {}
    for name in names:
        parts = _NUMBERED.fullmatch(name.strip()) if isinstance(name, str) else None
        if parts and _plain(parts[1]) in SYNONYMS["annotator"]:
            groups.setdefault(_plain(parts[1]), []).append(name)
    several = [group for group in groups.values() if len(group) > 1]
    return tuple(several[0]) if len(several) == 1 else ()


def check_given(names: Sequence[Hashable], given: Mapping[Role, Hashable | None]) -> None:
    """Raise the error that names the likely column when one that was asked for does not exist."""
    for role, column in given.items():
        if column is not None and column not in names:
            others = {r: c for r, c in given.items() if r != role and c in names}
            likely = find(names, role, others) or _nearest(names, (str(column),), tuple(others.values()))
            msg = f"Column '{column}' not found. Columns are: {_listed(names)}."
            raise ColumnError(msg + (f" Pass {role}={_quoted(likely)}." if likely is not None else ""))
    chosen = [column for column in given.values() if column is not None]
    if len(set(chosen)) < len(chosen):
        twice = max(chosen, key=chosen.count)
        msg = f"Column '{twice}' is given for two roles. Item, annotator and label are three columns."
        raise InputError(msg)


def is_recognised(names: Sequence[Hashable]) -> bool:
    """Whether at least one of the names is a synonym of a role."""
    return any(find(names, role, {}) is not None for role in SYNONYMS)


def check_choice(option: str, value: object, choices: Sequence[str]) -> None:
    """Raise unless the option has one of its values."""
    if value not in choices:
        listed = ", ".join(f'"{choice}"' for choice in choices)
        msg = f"{option}={value!r} is not known. Pass one of {listed}."
        raise InputError(msg)


def _plain(name: str) -> str:
    return "".join(c for c in name.casefold() if c.isalnum())


def not_recognised(names: Sequence[Hashable], role: Role, taken: tuple[Hashable, ...], shape: str) -> str:
    """The sentence about a column that no synonym found, with the likely one."""
    likely = _nearest(names, SYNONYMS[role], taken)
    msg = f"No {role} column recognised. Columns are: {_listed(names)}."
    if likely is not None and len(names) - len(taken) > 2 and _likeness(likely, SYNONYMS[role]) < 0.7:
        return (
            msg + f" Pass {role}= one of them" + (", or annotators= the columns that are annotators." if shape else ".")
        )
    if likely is not None:
        msg += f" Pass {role}={_quoted(likely)}" + (
            ', or shape="wide" if each column is an annotator.' if shape == "auto" else "."
        )
    return msg


def _nearest(names: Sequence[Hashable], words: Sequence[str], taken: Sequence[Hashable]) -> Hashable | None:
    return max((name for name in names if name not in taken), key=lambda name: _likeness(name, words), default=None)


def _likeness(name: Hashable, words: Sequence[str]) -> float:
    return max(difflib.SequenceMatcher(None, _plain(str(name)), _plain(word)).ratio() for word in words)


def _listed(names: Sequence[Hashable]) -> str:
    shown = ", ".join(str(name) for name in names[:20])
    return shown + (f", ... ({len(names)} in all)" if len(names) > 20 else "")


def _quoted(name: Hashable) -> str:
    return f'"{name}"' if isinstance(name, str) else repr(name)
