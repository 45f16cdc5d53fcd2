"""A fitted estimator in, what the report says of annotators out: ranking, confusion matrices, rows of H, overlap."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from covote.annotations import Annotations
from covote.engines.memory import MemoryEngine
from covote.estimators.summary import AnnotatorFacts
from covote.model import Model
from covote.report.facts import Annotator, Direction, Matrices, Overlap, Range, Row, SharedItems, plain

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_ANNOTATORS = 1000
MOST_CELLS = 20_000  # of all confusion matrices on the page
MOST_MATRIX_CLASSES = 12
MOST_OVERLAP = 30
MOST_ROWS = 600
_MOST_MIXED = 8


def ranked(facts: Sequence[AnnotatorFacts]) -> Ints:
    """Codes of the annotators to list: those with most answers, best first by bits, then by answers."""
    answers = np.array([f.answers for f in facts])
    bits = np.array([f.bits for f in facts])
    listed = np.argsort(-answers, kind="stable")[:MOST_ANNOTATORS]
    listed = listed[answers[listed] > 0]  # a saved model may know annotators who are silent here
    return np.asarray(listed[np.lexsort((listed, -answers[listed], -bits[listed]))], dtype=np.int64)


def annotator_rows(
    facts: Sequence[AnnotatorFacts],
    codes: Ints,
    confusion: Mapping[int, Floats],
    flags: Mapping[Any, tuple[str, ...]],
    useless: Set[Any],
) -> tuple[Annotator, ...]:
    """The annotators `codes`, in that order.

    Accuracy has the Wilson interval of its answers. In simulated crowds that covered the truth better than the
    bootstrap of the fitted matrix, which is shrunken: 56 against 7 percent with ten classes, 85 against 83 with three.
    """
    out = []
    for rank, m in enumerate(codes.tolist(), start=1):
        f = facts[m]
        has_worst = f.worst_class is not None
        out.append(
            Annotator(
                annotator=plain(f.annotator),
                rank=rank,
                answers=f.answers,
                accuracy=accuracy_range(f.accuracy, f.answers),
                bits=f.bits,
                worst_class=plain(f.worst_class) if has_worst else None,
                worst_label=plain(f.worst_label) if has_worst else None,
                worst_rate=f.worst_rate if has_worst else None,
                flags=flags.get(f.annotator, ()),
                useless=f.annotator in useless,
                confusion=as_rows(confusion[m]) if m in confusion else None,
            )
        )
    return tuple(out)


def accuracy_range(share: float, answers: int, z: float = 1.6448536269514722) -> Range:
    """A share of `answers` with its 90 % Wilson interval.

    >>> round(accuracy_range(0.5, 0).low, 6), round(accuracy_range(0.9, 100).high, 3)
    (0.0, 0.939)
    """
    n = max(answers, 0) + 1e-9
    centre, spread = share + z * z / (2 * n), z * math.sqrt(max(share * (1 - share), 0.0) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low, high = max((centre - spread) / scale, 0.0), min((centre + spread) / scale, 1.0)
    return Range(share, round(min(low, share), 12), round(max(high, share), 12))


def as_rows(matrix: Floats) -> tuple[tuple[float, ...], ...]:
    """A matrix as nested tuples, rounded to what a page can show."""
    return tuple(tuple(row) for row in np.round(matrix, 4).tolist())


def matrices(model: Model, answers: Floats, codes: Ints) -> tuple[Matrices, dict[int, Floats]]:
    """The crowd's average confusion matrix, and those of the first annotators in `codes` that fit on a page.

    With many classes the smaller ones are merged into one row and column: labels add up, classes are averaged by prior.
    """
    kept, merge = _merging(model.prior)
    weight = answers / max(float(answers.sum()), 1e-300)
    crowd = np.einsum("m,mij->ij", weight, model.confusion)
    shown = codes[: max(1, MOST_CELLS // max(len(merge) ** 2, 1))]
    names = tuple(plain(model.classes[int(k)]) for k in kept)
    merged = model.n_classes - len(kept)
    values = Matrices(
        names=(*names, "others") if merged else names,
        merged=merged,
        crowd=as_rows(_merged(crowd, merge, model.prior)),
        shown=len(shown),
        mixed_up=_mixed_up(crowd, model),
    )
    return values, {int(m): _merged(model.confusion[m], merge, model.prior) for m in shown}


def _merging(prior: Floats) -> tuple[Ints, Floats]:
    """Classes shown by themselves, in class order, and (shown, classes) of 0 and 1; the last row joins the others."""
    K = len(prior)
    if K <= MOST_MATRIX_CLASSES + 1:
        return np.arange(K), np.eye(K)
    kept = np.sort(np.argsort(-prior, kind="stable")[:MOST_MATRIX_CLASSES])
    others = np.ones(K)
    others[kept] = 0
    return kept, np.vstack([np.eye(K)[kept], others])


def _merged(confusion: Floats, merge: Floats, prior: Floats) -> Floats:
    if len(merge) == len(prior):
        return confusion
    weight = merge * np.maximum(prior, 1e-300)
    return np.asarray(merge @ confusion @ (weight / weight.sum(axis=1, keepdims=True)).T)


def _mixed_up(crowd: Floats, model: Model) -> tuple[tuple[Any, Any, float], ...]:
    """The crowd's most frequent errors: how often a class is taken for another label, when the class comes up."""
    mass = crowd * model.prior * (1 - np.eye(model.n_classes))
    worst = np.argsort(-mass, axis=None, kind="stable")[:_MOST_MIXED]
    pairs = [divmod(int(w), max(model.n_classes, 1)) for w in worst]
    return tuple((plain(model.classes[k]), plain(model.classes[j]), float(crowd[j, k])) for j, k in pairs if j != k)


def directions(model: Model, answers: Floats) -> tuple[Direction, ...]:
    """For every class the answers that come nearest to naming it alone, over annotators with 10 answers a class.

    The purity of annotator m's label k is A_m(k, k) over the sum of row k: 1 is an anchor.
    """
    seen = np.flatnonzero(answers >= min(10 * model.n_classes, answers.max(initial=0)))
    rows = model.confusion[seen].sum(axis=2)
    purity = np.einsum("mkk->mk", model.confusion[seen]) / np.maximum(rows, 1e-300)  # (annotators, classes)
    out = []
    for k in range(min(model.n_classes, 60)):
        order = np.argsort(-purity[:, k], kind="stable")[:20]
        if len(order):
            best = int(order[0])
            name = plain(model.annotators[int(seen[best])])
            values = tuple(purity[order, k].tolist())
            out.append(Direction(plain(model.classes[k]), float(purity[best, k]), name, values))
    return tuple(out)


def simplex_rows(model: Model, answers: Floats) -> tuple[Row, ...]:
    """The rows of H scaled to sum 1, three classes only: where an answer points; most active annotators first."""
    if model.n_classes != 3:
        return ()
    out = []
    for m in np.argsort(-answers, kind="stable")[: MOST_ROWS // 3].tolist():
        rows = model.confusion[m] / np.maximum(model.confusion[m].sum(axis=1, keepdims=True), 1e-300)
        for label, row in zip(model.classes, rows.tolist(), strict=True):
            out.append(Row(plain(model.annotators[m]), plain(label), int(answers[m]), tuple(row)))
    return tuple(out)


def overlap(annotations: Annotations, answers: Floats) -> Overlap:
    """The graph of shared items; pairs only among the `MOST_OVERLAP` annotators with most answers."""
    top = np.argsort(-answers, kind="stable")[:MOST_OVERLAP].astype(np.int64)
    counts = MemoryEngine(annotations.select(top)).pair_counts()
    agreed = np.einsum("pkk->p", counts.blocks) / np.maximum(counts.shared, 1)
    names = [plain(annotations.annotators[int(m)]) for m in top]
    size, alone = _components(annotations)
    return Overlap(
        shown=tuple(names),
        pairs=tuple(
            SharedItems(names[i], names[j], int(n), float(a))
            for i, j, n, a in zip(counts.first, counts.second, counts.shared, agreed, strict=True)
        ),
        annotators_alone=alone,
        components=len(size),
        largest_component=int(size.max(initial=0)),
        answers_histogram=_answers_histogram(np.diff(annotations.offsets)),
    )


def _components(annotations: Annotations) -> tuple[Ints, int]:
    """Annotators in each component of the graph of items and annotators; annotators who share no item."""
    M, N = annotations.n_annotators, annotations.n_items
    who, item = annotations.annotator, annotations.item
    graph = csr_array((np.ones(len(who), np.int8), (who, item + M)), shape=(M + N, M + N))
    member = connected_components(graph, directed=False)[1][:M]
    size = np.unique(member, return_counts=True)[1]
    return size, int((size == 1).sum())


def _answers_histogram(per_item: Ints) -> tuple[tuple[int, int | None, int], ...]:
    """Items by number of answers: single numbers up to 12, then one open bin."""
    counts = np.bincount(np.minimum(per_item, 13), minlength=14)
    bins: list[tuple[int, int | None, int]] = [(n, n, int(counts[n])) for n in range(13) if counts[n]]
    return tuple(bins + ([(13, None, int(counts[13]))] if counts[13] else []))
