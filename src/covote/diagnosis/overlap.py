"""Who shares items with whom: pair counts in, components, thin links and the groups of Theorem 3 out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from covote.annotations import Annotations
from covote.counts import PairCounts

Ints = NDArray[np.int64]

SHOWN = 10
"""Most links listed."""


@dataclass(frozen=True)
class Link:
    """Two annotators and the items they share; without it (or one as thin) the crowd falls apart there."""

    first: Any
    second: Any
    shared: float
    cuts_off: int  # annotators on the smaller side


@dataclass(frozen=True)
class Component:
    """Annotators connected by shared items."""

    annotators: tuple[Any, ...]
    answers: float
    items: int | None  # items they answered; None where only counts are known


@dataclass(frozen=True)
class Groups:
    """Two groups as in Theorem 3: every annotator of one shares items with every one of the other."""

    first: tuple[Any, ...]
    second: tuple[Any, ...]
    fewest_shared: float  # on the thinnest block between them
    unattached: tuple[Any, ...]  # annotators that share no item with either group


@dataclass(frozen=True)
class Overlap:
    """The co-labelling graph."""

    annotators: int
    items: int
    answers: float
    pairs: int  # that share an item
    pair_share: float  # of all pairs
    shared_median: float  # items a sharing pair shares
    components: tuple[Component, ...]  # largest first
    outside: tuple[Any, ...]  # annotators outside the largest
    items_outside: int | None
    items_with_one: int | None  # items with a single answer: they connect nobody
    thin_links: tuple[Link, ...]  # thinnest first
    bipartite: bool  # two camps that never meet within: pairs cannot tell one camp's errors from the other's
    groups: Groups


def overlap(counts: PairCounts, annotations: Annotations | None = None) -> Overlap:
    """Describe the co-labelling graph; with `annotations` also its items."""
    M = counts.n_annotators
    graph = csr_array((counts.shared, (counts.first, counts.second)), shape=(M, M))
    n_components, member = connected_components(graph, directed=False)
    answers = counts.label_counts.sum(axis=1)
    size = np.bincount(member, weights=answers, minlength=n_components)
    order = np.argsort(-size, kind="stable")
    items_of, single = _items(annotations, member, n_components)
    components = tuple(
        Component(
            _names(counts, np.flatnonzero(member == c)), float(size[c]), None if items_of is None else items_of[c]
        )
        for c in order
    )
    return Overlap(
        annotators=M,
        items=int(counts.n_items),
        answers=float(answers.sum()),
        pairs=counts.n_pairs,
        pair_share=counts.n_pairs / max(M * (M - 1) / 2, 1),
        shared_median=float(np.median(counts.shared)) if counts.n_pairs else 0.0,
        components=components,
        outside=_names(counts, np.flatnonzero(member != order[0])) if M else (),
        items_outside=None if items_of is None else int(sum(items_of) - items_of[order[0]]),
        items_with_one=single,
        thin_links=thin_links(counts),
        bipartite=is_bipartite(counts),
        groups=theorem_groups(counts),
    )


def thin_links(counts: PairCounts, most: int = SHOWN) -> tuple[Link, ...]:
    """The thinnest links that hold the crowd together, and how many annotators hang on each.

    They are the thinnest edges of the spanning tree of thickest links: no other path between their two sides has a
    thicker narrowest link.
    """
    M = counts.n_annotators
    if counts.n_pairs == 0:
        return ()
    # the tree of least 1 / shared is the tree of most shared
    graph = csr_array((1 / counts.shared, (counts.first, counts.second)), shape=(M, M))
    tree = minimum_spanning_tree(graph).tocoo()
    order = np.argsort(-tree.data, kind="stable")[:most]
    links = []
    for edge in order:
        keep = np.arange(len(tree.data)) != edge
        rest = csr_array((tree.data[keep], (tree.row[keep], tree.col[keep])), shape=(M, M))
        _, member = connected_components(rest, directed=False)
        sides = [int((member == member[end]).sum()) for end in (tree.row[edge], tree.col[edge])]
        a, b = counts.annotators[int(tree.row[edge])], counts.annotators[int(tree.col[edge])]
        links.append(Link(a, b, float(round(1 / tree.data[edge], 6)), min(sides)))
    return tuple(links)


def is_bipartite(counts: PairCounts) -> bool:
    """Whether the annotators fall into two camps and nobody shares items within its own camp (a pair always does)."""
    if counts.n_pairs == 0:
        return False
    M = counts.n_annotators
    # two copies of every annotator, joined crosswise: a component is bipartite when its copies stay apart
    row = np.concatenate([counts.first, counts.first + M])
    col = np.concatenate([counts.second + M, counts.second])
    _, member = connected_components(csr_array((np.ones(len(row)), (row, col)), shape=(2 * M, 2 * M)), directed=False)
    meets = np.unique(np.concatenate([counts.first, counts.second]))
    return bool(np.all(member[meets] != member[meets + M]))


def theorem_groups(counts: PairCounts) -> Groups:
    """Two groups as in Theorem 3, by greed: a clique of annotators, most shared items first, dealt out in turns.

    Links of fewer than K items are left out, since their blocks cannot have full rank. Any split of a clique meets the
    theorem's second condition; those who share items with nobody in it miss the third.
    """
    M, thick = counts.n_annotators, counts.kept(counts.shared >= counts.n_classes)
    ends = (np.concatenate([thick.first, thick.second]), np.concatenate([thick.second, thick.first]))
    linked = csr_array((np.concatenate([thick.shared] * 2), ends), shape=(M, M))
    member = np.zeros(M, bool)
    clique = _clique(linked)
    member[clique] = True
    inside = member[thick.first] & member[thick.second]
    attached = member.copy()
    attached[counts.second[member[counts.first]]] = True
    attached[counts.first[member[counts.second]]] = True
    return Groups(
        first=_names(counts, np.array(clique[0::2], dtype=np.int64)),
        second=_names(counts, np.array(clique[1::2], dtype=np.int64)),
        fewest_shared=float(thick.shared[inside].min()) if inside.any() else 0.0,
        unattached=_names(counts, np.flatnonzero(~attached)),
    )


def _clique(linked: Any) -> list[int]:
    """Annotators all linked with each other, taken greedily by the items they share with anybody."""
    weight = np.asarray(linked.sum(axis=1)).ravel()
    clique: list[int] = []
    open_to = weight > 0
    while open_to.any():
        m = int(np.argmax(np.where(open_to, weight, -1.0)))
        clique.append(m)
        near = np.zeros(len(weight), bool)
        near[linked.indices[linked.indptr[m] : linked.indptr[m + 1]]] = True
        open_to &= near
    return clique


def _items(annotations: Annotations | None, member: Ints, n_components: int) -> tuple[list[int] | None, int | None]:
    """Items by component (an item lies in one), and the number with a single answer."""
    if annotations is None:
        return None, None
    labels = np.diff(annotations.offsets)
    first = annotations.annotator[annotations.offsets[:-1][labels > 0]]
    return np.bincount(member[first], minlength=n_components).tolist(), int((labels == 1).sum())


def _names(counts: PairCounts, codes: Ints) -> tuple[Any, ...]:
    return tuple(counts.annotators[int(m)] for m in codes)
