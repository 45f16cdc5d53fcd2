"""Annotators who count as one: groups that the user names, or copies beyond doubt -> weights of answers."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping

import numpy as np
from numpy.typing import NDArray

from covote.counts import PairCounts
from covote.default.settings import Settings
from covote.errors import CrowdWarning, InputError

Floats = NDArray[np.float64]
Groups = tuple[tuple[int, ...], ...]


def given_groups(groups: Mapping[Hashable, Hashable] | None, annotators: tuple[Hashable, ...]) -> Groups:
    """Groups of annotator codes from a mapping annotator -> group; groups of one are left out.

    >>> given_groups({"a": "x", "b": "x", "c": "y"}, ("a", "b", "c"))
    ((0, 1),)
    """
    if not groups:
        return ()
    place = {name: code for code, name in enumerate(annotators)}
    unknown = [name for name in groups if name not in place]
    if len(unknown) == len(groups):
        shown = ", ".join(map(str, unknown[:5]))
        msg = f"None of the {len(groups)} annotators of the groups answers here ({shown}). Pass groups of this crowd."
        raise InputError(msg)
    if unknown:
        shown = ", ".join(map(str, unknown[:5]))
        msg = f"The groups name {len(unknown)} annotators who do not answer here ({shown}); they are ignored."
        warnings.warn(msg, CrowdWarning, stacklevel=6)
    members: dict[Hashable, list[int]] = {}
    for name, group in groups.items():
        if name in place and group is not None:
            members.setdefault(group, []).append(place[name])
    return tuple(tuple(sorted(codes)) for codes in members.values() if len(codes) > 1)


def found_copies(counts: PairCounts, settings: Settings) -> Groups:
    """Groups of annotators who almost never disagree with one another, though they do with the rest, again and again.

    Agreement alone is no sign: two good annotators agree with each other, and with the other good ones. Copies share
    their errors too, so that they disagree far less often with each other than with everybody on average.
    """
    shared = counts.blocks.sum(axis=(1, 2))
    apart = shared - np.einsum("pkk->p", counts.blocks)
    met, differed = np.zeros(counts.n_annotators), np.zeros(counts.n_annotators)
    for side in (counts.first, counts.second):
        np.add.at(met, side, shared)
        np.add.at(differed, side, apart)
    usual = differed / np.maximum(met, 1e-300)
    expected = shared * np.minimum(usual[counts.first], usual[counts.second])
    same = (expected >= settings.copy_evidence) & (apart * settings.copy_evidence <= expected)
    return _joined(counts.first[same], counts.second[same])


def _joined(first: NDArray[np.int64], second: NDArray[np.int64]) -> Groups:
    """Connected groups of pairs."""
    home: dict[int, set[int]] = {}
    for one, other in zip(first.tolist(), second.tolist(), strict=True):
        group = home.get(one, {one}) | home.get(other, {other})
        home.update(dict.fromkeys(group, group))
    return tuple(sorted({tuple(sorted(group)) for group in home.values()}))


def answer_weights(groups: Groups, counts: PairCounts) -> Floats | None:
    """Weight of an answer of each annotator, (annotators,): a group shares one vote on the items its members share.

    An answer counts 1 / n where n members answer an item on average; None without groups.
    """
    if not groups:
        return None
    answers = np.asarray(counts.label_counts).sum(axis=1)
    together = answers.copy()  # sum over the group of items shared with it
    member = np.full(len(answers), -1)
    for number, group in enumerate(groups):
        member[list(group)] = number
    inside = (member[counts.first] >= 0) & (member[counts.first] == member[counts.second])
    shared = counts.blocks[inside].sum(axis=(1, 2))
    np.add.at(together, counts.first[inside], shared)
    np.add.at(together, counts.second[inside], shared)
    return np.where(answers > 0, answers / np.maximum(together, 1e-300), 1.0)
