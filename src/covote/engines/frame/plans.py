"""Answers in codes -> plans of joins, group-bys, sums and maxima: pair counts, posteriors, soft counts, moments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from covote.engines.frame.backends import row_by_row
from covote.labels import TIE
from covote.model import Scores

Lazy = nw.LazyFrame[Any]

IMPOSSIBLE = -1e30
"""Stands for log 0: every library adds and compares it in the same way, which is not so for infinities."""

NEVER = IMPOSSIBLE / 1e10
"""A sum below this holds at least one `IMPOSSIBLE`; no sum of real log-probabilities comes near it."""


def overlap_plan(answers: Lazy) -> Lazy:
    """Per pair of annotators who < other: the items they share."""
    return _pairs(answers).group_by("who", "other").agg(nw.len().alias("n"))


def pair_plan(answers: Lazy, kept: Lazy | None = None) -> Lazy:
    """Per pair of answers (row, other_row) of annotators who < other: the items they met on; `kept` limits them."""
    pairs = _pairs(answers)
    if kept is not None:
        pairs = pairs.join(kept, on=["who", "other"])
    return pairs.group_by("row", "other_row").agg(nw.len().alias("n"))


def _pairs(answers: Lazy) -> Lazy:
    others = answers.select("item", nw.col("who").alias("other"), nw.col("row").alias("other_row"))
    return answers.join(others, on="item").filter(nw.col("who") < nw.col("other"))


def posterior_plan(scored: Lazy, scores: Scores, gold: Lazy | None) -> Lazy:
    """Answers with their scores s0, s1, ... -> per item: answers `n`, log-likelihood `ll`, probabilities p0, p1, ..."""
    classes = range(len(scores.bias))
    sums = scored.group_by("item").agg(nw.len().alias("n"), *(nw.col(f"s{k}").sum() for k in classes))
    sums = sums if gold is None else sums.join(gold, on="item", how="left")
    steps = (_log_steps if scores.link == "log" else _vote_steps)(scores, gold is not None)
    return row_by_row(sums, lambda frame: _after(frame, steps).select("item", "n", "ll", *(f"p{k}" for k in classes)))


def _after(frame: Lazy, steps: Iterable[list[nw.Expr]]) -> Lazy:
    for step in steps:
        frame = frame.with_columns(*step)
    return frame


def _log_steps(scores: Scores, has_gold: bool) -> Sequence[list[nw.Expr]]:
    """Softmax through the maximum: sums, then their maximum, then exponentials, their total, their shares."""
    classes = range(len(scores.bias))
    bias, prior = finite(scores.bias), np.exp(scores.bias)
    sums = [nw.col(f"s{k}") + float(bias[k]) for k in classes]
    if has_gold:
        sums = [nw.when(_open(k)).then(s).otherwise(nw.lit(2 * IMPOSSIBLE)) for k, s in enumerate(sums)]
    top, total = nw.col("top"), nw.col("total")
    possible = top > NEVER
    otherwise = [_known(k, float(prior[k])) if has_gold else nw.lit(float(prior[k])) for k in classes]
    return [
        [s.alias(f"s{k}") for k, s in enumerate(sums)],
        [nw.max_horizontal(*(f"s{k}" for k in classes)).alias("top")],
        [(nw.col(f"s{k}") - top).exp().alias(f"e{k}") for k in classes],
        [nw.sum_horizontal(*(f"e{k}" for k in classes)).alias("total")],
        [
            nw.when(possible).then(top + total.log()).otherwise(nw.lit(IMPOSSIBLE)).alias("ll"),
            *(nw.when(possible).then(nw.col(f"e{k}") / total).otherwise(otherwise[k]).alias(f"p{k}") for k in classes),
        ],
    ]


def _vote_steps(scores: Scores, has_gold: bool) -> Sequence[list[nw.Expr]]:
    """Shares of the positive part of the sums; uniform where nothing is positive."""
    classes = range(len(scores.bias))
    sums = [nw.col(f"s{k}") + float(scores.bias[k]) for k in classes]
    total = nw.col("total")
    shares = [nw.when(total > 0).then(nw.col(f"e{k}") / total).otherwise(nw.lit(1 / len(classes))) for k in classes]
    if has_gold:
        shares = [nw.when(nw.col("gold").is_null()).then(p).otherwise(_known(k, 0.0)) for k, p in enumerate(shares)]
    return [
        [nw.when(s > 0).then(s).otherwise(nw.lit(0.0)).alias(f"e{k}") for k, s in enumerate(sums)],
        [nw.sum_horizontal(*(f"e{k}" for k in classes)).alias("total"), nw.lit(0.0).alias("ll")],
        [p.alias(f"p{k}") for k, p in enumerate(shares)],
    ]


def _open(k: int) -> nw.Expr:
    """Whether class k is open for the item: no true class is given, or it is k."""
    return nw.col("gold").is_null() | (nw.col("gold") == k)


def _known(k: int, unknown: float) -> nw.Expr:
    """1 where the true class is k, 0 where it is another, `unknown` where none is given."""
    certain = nw.when(nw.col("gold") == k).then(nw.lit(1.0)).otherwise(nw.lit(0.0))
    return nw.when(nw.col("gold").is_null()).then(nw.lit(unknown)).otherwise(certain)


def soft_count_plan(answers: Lazy, posterior: Lazy, n_classes: int) -> Lazy:
    """Per answer code: sums p0, p1, ... of the posterior; its shares q0, q1, ... and `ll` add up over items.

    Each answer of an item carries 1/n of the item's posterior and log-likelihood, so one group-by yields everything.
    """
    classes = range(n_classes)
    shares = [nw.col("ll") / nw.col("n"), *((nw.col(f"p{k}") / nw.col("n")).alias(f"q{k}") for k in classes)]
    joined = answers.select("item", "row").join(row_by_row(posterior, lambda f: f.with_columns(*shares)), on="item")
    summed = ["ll", *(f"{name}{k}" for name in "pq" for k in classes)]
    return joined.group_by("row").agg(*(nw.col(name).sum() for name in summed))


def label_plan(posterior: Lazy, favour: NDArray[np.int64]) -> Lazy:
    """The chosen class as `rank` in `favour` (classes, favoured first) and its probability `confidence`."""
    classes = range(len(favour))
    rank_of = np.argsort(favour).tolist()
    tied = nw.col("best") - TIE
    ranks = [nw.when(nw.col(f"p{k}") >= tied).then(nw.lit(rank_of[k])).otherwise(nw.lit(len(favour))) for k in classes]
    shown = [nw.when(nw.col("rank") == rank_of[k]).then(nw.col(f"p{k}")).otherwise(nw.lit(0.0)) for k in classes]
    steps = [
        [nw.max_horizontal(*(f"p{k}" for k in classes)).alias("best")],
        [nw.min_horizontal(*ranks).cast(nw.Int32).alias("rank")],
        [nw.sum_horizontal(*shown).alias("confidence")],
    ]
    return row_by_row(posterior, lambda frame: _after(frame, steps))


def fact_plan(labelled: Lazy, n_classes: int, uncertain: float) -> Lazy:
    """Per chosen class: items, how many are uncertain or tied, sums of confidence and of probabilities."""
    classes = [f"p{k}" for k in range(n_classes)]
    one, none = nw.lit(1), nw.lit(0)
    near = [nw.when(nw.col(p) >= nw.col("best") - TIE).then(one).otherwise(none) for p in classes]
    steps = [
        [nw.sum_horizontal(*near).alias("near")],
        [
            nw.when(nw.col("near") > 1).then(one).otherwise(none).alias("tied"),
            nw.when(nw.col("confidence") < uncertain).then(one).otherwise(none).alias("uncertain"),
            nw.lit(1).alias("n"),
        ],
    ]
    rows = row_by_row(labelled, lambda frame: _after(frame, steps))
    return rows.group_by("rank").agg(nw.col(name).sum() for name in ("n", "tied", "uncertain", "confidence", *classes))


def single_plan(answers: Lazy) -> Lazy:
    """How many items have one answer."""
    sizes = answers.group_by("item").agg(nw.len().alias("size"))
    return sizes.filter(nw.col("size") == 1).select(nw.len().alias("n"))


def cell_plan(answers: Lazy, groups: Lazy) -> Lazy:
    """Per item, group of annotators and label: the `share` of the group's answers; `groups` maps row to both."""
    cells = answers.join(groups, on="row").group_by("item", "group", "what").agg(nw.len().alias("n"))
    sizes = cells.group_by("item", "group").agg(nw.col("n").sum().alias("size"))
    share = nw.col("n").cast(nw.Float64) / nw.col("size")
    return cells.join(sizes, on=["item", "group"]).select("item", "group", "what", share.alias("share"))


def moment_plan(cells: Lazy, groups: Sequence[int]) -> Lazy:
    """Sum over items of the products of the shares of two or three groups, by their labels l0, l1, (l2)."""
    product, joined = nw.col("w0"), _cells_of(cells, groups[0], 0)
    for position, group in enumerate(groups[1:], start=1):
        joined = joined.join(_cells_of(cells, group, position), on="item")
        product = product * nw.col(f"w{position}")
    labels = [f"l{position}" for position in range(len(groups))]
    return joined.with_columns(product.alias("share")).group_by(*labels).agg(nw.col("share").sum())


def _cells_of(cells: Lazy, group: int, position: int) -> Lazy:
    mine = cells.filter(nw.col("group") == group)
    return mine.select("item", nw.col("what").alias(f"l{position}"), nw.col("share").alias(f"w{position}"))


def triple_plan(answers: Lazy, triples: Lazy) -> Lazy:
    """Per triple of annotators (triple, a0, a1, a2) and its answer codes r0, r1, r2: the items they met on."""
    joined = _answers_as(answers, 0).join(triples, on="a0")
    for position in (1, 2):
        joined = joined.join(_answers_as(answers, position), on=["item", f"a{position}"])
    return joined.group_by("triple", "r0", "r1", "r2").agg(nw.len().alias("n"))


def _answers_as(answers: Lazy, position: int) -> Lazy:
    return answers.select("item", nw.col("who").alias(f"a{position}"), nw.col("row").alias(f"r{position}"))


def finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log-probabilities with `IMPOSSIBLE` for minus infinity."""
    return np.maximum(values, IMPOSSIBLE)
