"""Columns that were recognised and not named -> one line that says so, or a refusal where the data contradict them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from covote.annotations.columns import ROLES, SYNONYMS, TIERS, Long, Role, Wide, candidates
from covote.annotations.encode import Coded
from covote.annotations.native import to_list
from covote.annotations.value import BLOCK
from covote.errors import ColumnError

ITEM, ANNOTATOR, LABEL = ROLES

FEW = 6
"""Tables of fewer rows are too small to tell an id from a label."""

SMALL = 100
"""Columns of a wide table with more values than this, and hardly one twice, hold texts."""

MANY = 20
"""More labels than this, and as many as items, are texts or ids."""

_NO_ANNOTATORS = frozenset({
    *SYNONYMS["truth"], *SYNONYMS["item"], *SYNONYMS["label"],
    "count", "n", "num", "total", "votes", "nvotes", "numvotes", "age", "year", "length", "size", "time", "date",
    "difficulty", "confidence", "agreement", "gender", "language", "lang", "split", "version", "mean", "avg",
    "average", "rank", "median", "majority", "majorityvote", "consensus", "aggregate", "aggregated", "final", "fold",
    "weight", "duration", "text", "topic", "domain", "position", "order", "batch", "group", "round", "row", "line",
    "level", "step", "page", "mode", "status", "type", "kind", "source", "week", "day", "month", "hour", "session",
    "trial", "number", "nr",
})  # fmt: skip
"""Names that say something about an item and are nobody's."""

_STATUS = frozenset({
    "accept", "reject", "ignore", "accepted", "rejected", "approved", "submitted", "skipped", "draft", "discarded",
    "pending", "completed",
})  # fmt: skip
"""What became of an answer, which is no answer."""


def account_of(chosen: Long | Wide, names: Sequence[Hashable], given: Mapping[Any, Hashable | None]) -> str:
    """One line about columns that were recognised; empty where none was guessed.

    Nothing is guessed where the user named the columns, or the table has the plainest names and no others.

    >>> account_of(Long("task", "worker", "label"), ["task", "worker", "label", "time"], {})
    "Columns recognised by name: item 'task', annotator 'worker', label 'label'; not used: time."
    """
    if isinstance(chosen, Long):
        columns = {"item": chosen.item, "annotator": chosen.annotator, "label": chosen.label}
        said = [f"{role} '{name}'" for role, name in columns.items() if given.get(role) is None]
        used = set(columns.values())
    else:
        said = (
            [f"item {'by row number' if chosen.item is None else repr(chosen.item)}"]
            if given.get("item") is None
            else []
        )
        why = "named alike" if chosen.numbered else "said to be wide" if chosen.sure else "sharing their labels"
        said.append(f"annotators {_listed(chosen.annotators)} ({why})")
        used = {chosen.item, *chosen.annotators}
    rest = [name for name in names if name not in used]
    if not said or (not rest and isinstance(chosen, Long) and is_plainest(chosen)):
        return ""
    return f"Columns recognised by name: {', '.join(said)}" + (f"; not used: {_listed(rest)}." if rest else ".")


def check_long(
    coded: tuple[Coded, Coded, Coded], chosen: Long, names: Sequence[Hashable], given: Mapping[Any, Hashable | None]
) -> None:
    """Raise where a recognised column cannot be what its name says: ids for labels, a row number for the item."""
    item, annotator, label = coded
    answered = label.codes >= 0
    rows = int(answered.sum())
    plainest = is_plainest(chosen)
    if rows < FEW:
        return
    n_items, n_labels = len(item.values), len(label.values)
    few = MANY if plainest else 1
    if given.get("label") is None and n_labels > max(few, 0.8 * (rows if plainest or n_labels <= MANY else n_items)):
        what = f"holds {n_labels:,} different values in {rows:,} rows"
        raise _unlikely(LABEL, what, names, chosen)
    values = {str(value).casefold() for value in to_list(label.values)} if n_labels <= MANY else set()
    if given.get("label") is None and not plainest and len(names) > 3 and values and values <= _STATUS:
        what = "says what became of an answer"
        raise _unlikely(LABEL, what, names, chosen)
    if given.get("annotator") is None and not plainest and len(annotator.values) == rows:
        raise _unlikely(ANNOTATOR, "is different in every row", names, chosen)
    if given.get("item") is None and not plainest and n_items == rows:
        raise _unlikely(ITEM, "is different in every row", names, chosen)
    if given.get("label") is not None or not _settled(item, label):
        return
    others = [name for tier in candidates(names, "label", {"label": chosen.label}) for name in tier]
    if others or 2 * n_labels > n_items:
        what = "has one value per item throughout, as a truth has"
        raise _unlikely(LABEL, what, names, chosen)


def check_names(wide: Wide) -> None:
    """Raise where columns that were taken for annotators are named like facts about the items."""
    odd = [name for name in wide.annotators if not wide.numbered and _plain(name) in _NO_ANNOTATORS]
    if odd:
        msg = (
            f"Column '{odd[0]}' does not look like an annotator. Columns are: {_listed(wide.annotators)}. "
            'Pass annotators= the columns that are, or shape="wide" if all of them are.'
        )
        raise ColumnError(msg)


def check_texts(cells: Sequence[Coded], wide: Wide) -> None:
    """Raise where the cells of a column that was not named are texts or ids, also in a table said to be wide."""
    for column, name in zip(cells, wide.annotators, strict=True):
        distinct = len(column.values)
        if distinct > SMALL and 2 * distinct > int((column.codes >= 0).sum()):
            listed = _listed(wide.annotators)
            msg = f"Column '{name}' holds {distinct:,} different values, which are no labels. Columns are: {listed}."
            raise ColumnError(msg + " Pass annotators= the columns that are annotators.")


def check_pairs(cells: Sequence[Coded], wide: Wide) -> None:
    """Raise where two columns together are a key, as item and annotator of a long table are."""
    rows = len(cells[0].codes) if cells else 0
    if wide.numbered or rows < FEW or len(cells) > 4:
        return
    for first, second in combinations(cells, 2):
        if _distinct_pairs(first, second, min(rows, BLOCK)) and _distinct_pairs(first, second, rows):
            msg = (
                f"No annotator and label columns recognised. Columns are: {_listed(wide.annotators)}. They may be a "
                'long table: pass item=, annotator= and label=, or shape="wide" if each column is an annotator.'
            )
            raise ColumnError(msg)


def _distinct_pairs(first: Coded, second: Coded, rows: int) -> bool:
    """Whether no pair of values comes twice in the first rows."""
    pairs = first.codes[:rows].astype(np.int64) * (len(second.values) + 1) + second.codes[:rows]
    return len(np.unique(pairs)) == rows


def _settled(item: Coded, label: Coded) -> bool:
    """Whether all of at least ten further answers to an item repeat its first label, and labels differ.

    Block by block: a table of votes is known by its first block.
    """
    seen = np.full(len(item.values), -1, np.int64)  # first label of every item
    answers = 0
    for start in range(0, len(item.codes), BLOCK):
        codes, labels = item.codes[start : start + BLOCK], label.codes[start : start + BLOCK]
        codes, labels = codes[labels >= 0], labels[labels >= 0]
        new = seen[codes] < 0
        seen[codes[new][::-1]] = labels[new][::-1]
        if np.any(seen[codes] != labels):
            return False
        answers += len(codes)
    used = seen[seen >= 0]
    return answers - len(used) >= 10 and bool(np.any(used != used[0]))


def is_plainest(chosen: Long) -> bool:
    """Whether the three columns have names that nobody gives to anything else."""
    return all(_plain(name) in TIERS[role][0] for role, name in zip(ROLES, chosen.names, strict=True))


def _unlikely(role: Role, what: str, names: Sequence[Hashable], chosen: Long) -> ColumnError:
    name = {"item": chosen.item, "annotator": chosen.annotator, "label": chosen.label}[role]
    others = [other for other in names if other not in (chosen.item, chosen.annotator, chosen.label)]
    rest = f"; other columns are: {_listed(others)}" if others else ""
    return ColumnError(
        f"Column '{name}' was recognised as the {role}, but it {what}{rest}. "
        f'Pass {role}="{name}" if it is right, else {role}= another column.'
    )


def _plain(name: Hashable) -> str:
    return "".join(c for c in str(name).casefold() if c.isalnum())


def _listed(names: Iterable[Hashable]) -> str:
    shown = [str(name) for name in names]
    return ", ".join(shown[:20]) + (f", ... ({len(shown)} in all)" if len(shown) > 20 else "")
