"""Is the model pinned down? Pair counts, a model and perhaps the answers in, a verdict with its numbers out."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.counts import PairCounts
from covote.diagnosis.anchors import Anchors, anchors
from covote.diagnosis.flatness import FlatSpace, flat_space
from covote.diagnosis.freedom import Curvature, Freedom, curvature_of, freedom
from covote.diagnosis.overlap import Overlap
from covote.diagnosis.rotations import rotation_space, too_many_classes
from covote.diagnosis.scatter import Scatter, scatter
from covote.engines.base import Engine
from covote.model import Model

Floats = NDArray[np.float64]

TIGHT, TIGHT_SHIFT, LOOSE = 0.05, 0.1, 0.3
"""Class shares free by at most TIGHT and answers by at most TIGHT_SHIFT are identified; by more than LOOSE, not."""

STRANDED = 0.1
"""Share of the answers outside the largest component above which the crowd as a whole is not identified."""

KNOWN = 10
"""Answers per class an annotator needs for its rows to count in the scatter: noise scatters too."""

SHOWN = 8

_ALIKE = 0.1  # columns nearer than this share of the typical squared distance are alike


class Verdict(enum.Enum):
    """The answer in words."""

    IDENTIFIED = "identified"
    WEAK = "weakly identified"
    NOT = "not identified"


@dataclass(frozen=True)
class Move:
    """A parameter that the evidence leaves free, and by how much."""

    annotator: Any  # None for the prior
    label: Any  # None for the prior
    klass: Any
    move: float


@dataclass(frozen=True)
class Evidence:
    """What one kind of evidence leaves open: ranges are 90 % ranges, to first order."""

    verdict: Verdict
    prior_low: tuple[float, ...]
    prior_high: tuple[float, ...]
    prior_width: float  # largest half-width
    shift: float  # share of an annotator's answers that is free to change, mean over annotators by their answers
    largest_moves: tuple[Move, ...]


@dataclass(frozen=True)
class Mixing:
    """Two classes that flat directions blend: up to `share` of one's column can pass to the other's unnoticed."""

    first: Any
    second: Any
    share: float


@dataclass(frozen=True)
class Identifiability:
    """Numbers behind the verdict; see docs/trust.md for how to read them."""

    parameters: int  # in the joint analysis
    core: int  # annotators in the joint analysis
    singular_values: tuple[float, ...]  # smallest ones of the scaled Jacobian of (A, d) -> {R_ml}
    flat_directions: int
    unavoidable: int  # K(K-1)/2: what pair counts leave open in any crowd, up to the signs
    broken: str  # why the crowd cannot be identified as it is, however many answers it gives; else empty
    from_pairs: Evidence
    from_answers: Evidence | None  # all answers of an item taken together; None when only counts are known
    pull_prior: float | None  # how far the answers would move the prior along the flat directions
    pull: tuple[Move, ...]  # the entries they would move most
    mixing: tuple[Mixing, ...]  # most mixed first
    scatter: Scatter  # of all rows of well-known annotators
    scatter_groups: tuple[Scatter, Scatter] | None  # of the two groups of Theorem 3
    anchors: tuple[Anchors, ...]  # Theorem 1, by annotator
    left_out: str  # what was not looked at, and why; else empty

    @property
    def verdict(self) -> Verdict:
        """By all the evidence there is."""
        return (self.from_answers or self.from_pairs).verdict


def identifiability(
    counts: PairCounts, model: Model, graph: Overlap, *, engine: Engine | None = None, seed: int = 0
) -> Identifiability:
    """Analyse the crowd's largest component; with an engine, also what the answers beyond pairs add."""
    answers = counts.label_counts.sum(axis=1)
    if model.n_classes < 2:
        return _one_class(model)
    main = _within(counts, graph)
    many = too_many_classes(model.n_classes)
    space = rotation_space(main, model, answers) if many else flat_space(main, model)
    pairs = freedom(space, model, answers, seed=seed)
    curve = None if engine is None or not len(space.core) else curvature_of(engine, space, model)
    joint = None if curve is None else freedom(space, model, answers, curvature=curve, seed=seed)
    broken = _broken(graph, space, model)
    K = model.n_classes
    return Identifiability(
        parameters=space.parameters,
        core=len(space.core),
        singular_values=tuple(space.singular_values.tolist()),
        flat_directions=K * (K - 1) // 2 if many else space.n_flat,
        unavoidable=K * (K - 1) // 2,
        broken=broken,
        from_pairs=_evidence(pairs, space, model, answers, broken=bool(broken)),
        from_answers=None if joint is None else _evidence(joint, space, model, answers, broken=bool(broken)),
        pull_prior=None if curve is None else float(np.abs(curve.pull @ space.prior).max()),
        pull=() if curve is None else _pulled(curve, space, model, answers),
        mixing=_mixing(pairs, space, model),
        scatter=scatter(_rows(model, answers, range(model.n_annotators))),
        scatter_groups=_group_scatter(model, answers, graph),
        anchors=anchors(counts, model),
        left_out=_left_out(K, len(space.core), model.n_annotators, space.n_flat) if many else "",
    )


def _one_class(model: Model) -> Identifiability:
    """With a single class there is no parameter to look at, and nothing that could pin one down."""
    share = tuple(model.prior.tolist())
    nothing = Evidence(Verdict.NOT, share, share, 0.0, 0.0, ())
    return Identifiability(
        parameters=0,
        core=0,
        singular_values=(),
        flat_directions=0,
        unavoidable=0,
        broken="every answer is the same label, so nothing tells classes or annotators apart",
        from_pairs=nothing,
        from_answers=None,
        pull_prior=None,
        pull=(),
        mixing=(),
        scatter=Scatter(1.0, 1.0, False),
        scatter_groups=None,
        anchors=(),
        left_out="with one class there is nothing to look at",
    )


def _left_out(n_classes: int, core: int, everybody: int, turns: int) -> str:
    who = "all annotators" if core == everybody else f"the {core} annotators who share most items"
    return (
        f"with {n_classes} classes only the {turns} pairs of classes that blend most easily were followed, for {who}; "
        f"other flat directions were not looked for"
    )


def _within(counts: PairCounts, graph: Overlap) -> PairCounts:
    """Only the pairs of the largest component."""
    if not graph.outside:
        return counts
    outside = set(graph.outside)
    inside = np.array([name not in outside for name in counts.annotators])
    return counts.kept(inside[counts.first])


def _broken(graph: Overlap, space: FlatSpace, model: Model) -> str:
    """Why no amount of answers in this pattern would identify the model, or that the fit lost a class; else empty."""
    apart = sum(c.answers for c in graph.components[1:]) / max(graph.answers, 1e-300)
    if graph.annotators == 1:
        return "one annotator answered, and there is nobody to compare it with"
    if graph.pairs == 0:
        return "no two annotators share an item, so nobody can be compared with anybody"
    if graph.annotators == 2:
        return "two annotators can disagree, and nobody can say who is right"
    if apart > STRANDED:
        return f"{100 * apart:.0f} % of the answers come from annotators who share no item with the rest"
    if graph.bipartite:
        return "the annotators form two camps, and no two of the same camp share an item"
    if len(space.core) < 3:
        return "fewer than three annotators share items"
    if too_few_items(graph, model):
        items = "one item is" if graph.items == 1 else f"{graph.items} items are"
        return f"{items} too few to learn {model.n_classes} classes from"
    if model.prior.min() * max(graph.items, 1) < 1:
        return "the fit leaves a class without items"
    return ""


def too_few_items(graph: Overlap, model: Model) -> bool:
    """Whether there are fewer than two items a class."""
    return graph.items < 2 * model.n_classes


def _evidence(found: Freedom, space: FlatSpace, model: Model, answers: Floats, *, broken: bool) -> Evidence:
    weight = answers[space.core]
    shift = float(np.average(found.shift, weights=weight)) if weight.sum() > 0 else 1.0
    tight = found.prior_width <= TIGHT and shift <= TIGHT_SHIFT
    verdict = Verdict.IDENTIFIED if tight else Verdict.WEAK
    if broken or max(found.prior_width, shift) > LOOSE:
        verdict = Verdict.NOT
    return Evidence(
        verdict,
        tuple(found.prior_low.tolist()),
        tuple(found.prior_high.tolist()),
        found.prior_width,
        shift,
        _largest(found.moves, (found.prior_high - found.prior_low) / 2, space, model, answers),
    )


def _pulled(curve: Curvature, space: FlatSpace, model: Model, answers: Floats) -> tuple[Move, ...]:
    confusion = np.tensordot(curve.pull, space.confusion, axes=1)
    return _largest(confusion, curve.pull @ space.prior, space, model, answers)


def _largest(confusion: Floats, prior: Floats, space: FlatSpace, model: Model, answers: Floats) -> tuple[Move, ...]:
    """The largest of the given changes, of the prior and of annotators with many answers, in one list.

    That an annotator with few answers is free to move is no news.
    """
    K = model.n_classes
    many = answers[space.core] >= KNOWN * K
    weight = many if many.any() else np.ones(len(space.core), bool)
    size = np.concatenate([np.abs(prior), (np.abs(confusion) * weight[:, None, None]).ravel()])
    moves = []
    for place in np.argsort(-size, kind="stable")[:SHOWN].tolist():
        if place < K:
            moves.append(Move(None, None, model.classes[place], float(prior[place])))
            continue
        m, rest = divmod(place - K, K * K)
        label, klass = divmod(rest, K)
        who = model.annotators[int(space.core[m])]
        moves.append(Move(who, model.classes[label], model.classes[klass], float(confusion[m, label, klass])))
    return tuple(moves)


def _mixing(found: Freedom, space: FlatSpace, model: Model) -> tuple[Mixing, ...]:
    """Fit each possible move by A_m -> A_m (I + Q), the same Q for all: Q says which classes trade places."""
    K = model.n_classes
    inner = model.confusion[space.core]
    gram = np.einsum("mik,mil->kl", inner, inner) + 1e-9 * np.eye(K)
    unit = np.linalg.solve(gram, np.einsum("mik,dmil->dkl", inner, space.confusion))  # (directions, K, K)
    blend = np.abs(np.tensordot(found.directions, unit, axes=1)).max(axis=0, initial=0.0)
    length = np.diag(gram)
    apart = length[:, None] + length[None, :] - 2 * gram  # squared distance of the columns of two classes
    typical = apart.sum() / max(K * (K - 1), 1)
    # columns that are alike can trade places without any Q showing it
    alike = np.clip(1 - np.sqrt(np.maximum(apart, 0.0) / max(_ALIKE * typical, 1e-300)), 0.0, 1.0)
    both = np.clip(np.maximum(np.maximum(blend, blend.T), alike), 0.0, 1.0)
    pairs = [Mixing(model.classes[k], model.classes[j], float(both[k, j])) for k in range(K) for j in range(k + 1, K)]
    return tuple(sorted(pairs, key=lambda pair: -pair.share)[:SHOWN])


def _rows(model: Model, answers: Floats, codes: Any) -> Floats:
    known = [m for m in codes if answers[m] >= KNOWN * model.n_classes]
    return np.asarray(model.confusion[known].reshape(-1, model.n_classes))


def _group_scatter(model: Model, answers: Floats, graph: Overlap) -> tuple[Scatter, Scatter] | None:
    place = {name: m for m, name in enumerate(model.annotators)}
    sides = [_rows(model, answers, [place[a] for a in side]) for side in (graph.groups.first, graph.groups.second)]
    if not all(len(side) for side in sides):
        return None
    return scatter(sides[0]), scatter(sides[1])
