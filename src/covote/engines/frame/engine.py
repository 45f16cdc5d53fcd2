"""FrameEngine: the contract of an engine as plans on the user's own lazy frame."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from covote.annotations.columns import Long, choose, find
from covote.annotations.truth import Truth
from covote.counts import PairCounts
from covote.engines.base import ExpectedCounts, LabelFacts, Moments
from covote.engines.frame import answers as data
from covote.engines.frame import plans
from covote.engines.frame.backends import beside, fenced, fetched, opened, plan_text
from covote.engines.partners import strongest_pairs
from covote.errors import InputError
from covote.labels import column_names, favoured
from covote.model import Scores

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FrameEngine:
    """An engine over a DuckDB relation, Polars LazyFrame, Spark or Dask frame, or any other that narwhals knows.

    The vocabularies of annotators and classes, and counts of their size, are fetched; items never are.

    >>> import duckdb
    >>> votes = duckdb.connect().sql("from (values ('x', 'ann', 'no'), ('x', 'bob', 'yes')) t(item, annotator, label)")
    >>> FrameEngine(votes).pair_counts().blocks.tolist()
    [[[0.0, 1.0], [0.0, 0.0]]]
    """

    frame: Any
    item: str | None = None
    annotator: str | None = None
    label: str | None = None
    classes_first: Iterable[Hashable] | None = None  # classes in the order wanted; others follow
    gold: Any = None  # true labels of some items: a frame of the same kind with columns item and label, or a Truth
    distinct: bool = False  # the caller vouches that no annotator answers an item twice: spares a pass

    @cached_property
    def names(self) -> tuple[str, str, str]:
        """The columns of item, annotator and label."""
        columns = opened(self.frame).collect_schema().names()
        chosen = choose(columns, item=self.item, annotator=self.annotator, label=self.label, shape="long")
        assert isinstance(chosen, Long)
        return chosen.names

    @cached_property
    def _source(self) -> plans.Lazy:
        return data.standard(opened(self.frame), *self.names)

    @cached_property
    def _gold_source(self) -> plans.Lazy | None:
        if self.gold is None:
            return None
        if isinstance(self.gold, Truth):
            schema = self._source.collect_schema()
            columns = {"item": self.gold.items, "label": self.gold.labels}
            return beside(self._source, columns, {role: schema[role] for role in columns})
        frame = opened(self.gold)
        names = frame.collect_schema().names()
        item = find(names, "item", {"item": self.names[0] if self.names[0] in names else None})
        label = find(names, "truth", {}) or find(names, "label", {})
        if item is None or label is None:
            msg = f"The gold frame has columns {', '.join(names)}. Give it the columns '{self.names[0]}' and 'label'."
            raise InputError(msg)
        return data.standard(frame, str(item), None, str(label))

    @cached_property
    def _crowd(self) -> data.Crowd:
        unseen: list[Any] = []
        if self._gold_source is not None:
            unseen = fetched(self._gold_source.select("label").unique())["label"].tolist()
        return data.survey(self._source, self.classes_first, unseen)

    @cached_property
    def _gold_codes(self) -> plans.Lazy | None:
        return None if self._gold_source is None else data.gold_codes(self._gold_source, self._crowd)

    @cached_property
    def _answers(self) -> plans.Lazy:
        """(item, who, row), one row an answer."""
        coded = self._crowd.coded(self._source)
        return fenced(coded if self.distinct else data.settled(coded, self._crowd))

    @property
    def annotators(self) -> tuple[Hashable, ...]:
        return self._crowd.annotators

    @property
    def classes(self) -> tuple[Hashable, ...]:
        return self._crowd.classes

    @cached_property
    def n_items(self) -> int:
        return int(fetched(self._answers.select(nw.col("item").n_unique()))["item"][0])

    @cached_property
    def _label_counts(self) -> Floats:
        found = fetched(self._answers.group_by("row").agg(nw.len().alias("n")))
        M, K = len(self.annotators), len(self.classes)
        counts = np.zeros(M * K)
        counts[_ints(found["row"])] = found["n"]
        return counts.reshape(M, K)

    def label_counts(self) -> Floats:
        """Answers each annotator gave, by label: (annotators, labels)."""
        return self._label_counts

    def pair_counts(self, max_partners: int | None = None) -> PairCounts:
        """How often the answers of each pair met; `max_partners` limits the pairs as in the in-memory engine."""
        K = len(self.classes)
        kept = None if max_partners is None else self._strongest(max_partners)
        found = fetched(plans.pair_plan(self._answers, kept))
        row, other = _ints(found["row"]), _ints(found["other_row"])
        pair, place = _distinct((row // K) * len(self.annotators) + other // K, len(self.annotators) ** 2)
        blocks = np.zeros((len(pair), K, K))
        blocks[place, row % K, other % K] = found["n"]
        first, second = np.divmod(pair, len(self.annotators))
        return PairCounts.build(first, second, blocks, self.label_counts(), self.n_items, self.classes, self.annotators)

    def _strongest(self, max_partners: int) -> plans.Lazy:
        found = fetched(plans.overlap_plan(self._answers))
        who, other = _ints(found["who"]), _ints(found["other"])
        mask = strongest_pairs(who, other, found["n"], len(self.annotators), max_partners)
        return beside(self._source, {"who": who[mask], "other": other[mask]}, {})

    def _posterior_plan(self, scores: Scores) -> plans.Lazy:
        rows = scores.table.reshape(-1, len(scores.bias))[self._crowd.row]  # (answers met, classes)
        rows = plans.finite(rows) if scores.link == "log" else rows
        columns = {f"s{k}": rows[:, k] for k in range(len(scores.bias))}
        table = beside(self._source, {"row": self._crowd.row, **columns}, {})
        return plans.posterior_plan(self._answers.join(table, on="row"), scores, self._gold_codes)

    def expected_counts(self, scores: Scores) -> ExpectedCounts:
        states = range(len(scores.bias))  # classes, or the finer states of a model that has some
        found = fetched(plans.soft_count_plan(self._answers, self._posterior_plan(scores), len(states)))
        counts = np.zeros((len(self.annotators) * len(self.classes), len(states)))
        counts[_ints(found["row"])] = np.column_stack([found[f"p{k}"] for k in states])
        mass = np.array([float(found[f"q{k}"].sum()) for k in states])
        value = float(found["ll"].sum())
        value = value if value > plans.NEVER else -np.inf
        return ExpectedCounts(counts.reshape(scores.table.shape), mass, value)

    def posterior(self, scores: Scores) -> Any:
        """A lazy frame of the user's kind: item, label, confidence and a column of probabilities for each class."""
        K = len(self.classes)
        favour = favoured(self._votes)
        plan = plans.label_plan(self._posterior_plan(scores), favour)
        classes = [self.classes[k] for k in favour.tolist()]
        like = {"label": self._source.collect_schema()["label"]}
        names = beside(self._source, {"rank": np.arange(K), "label": classes}, like)
        item, _, label = self.names
        shown = zip(range(K), column_names(self.classes, item, label, "confidence"), strict=True)
        out = plan.join(names, on="rank").select(
            nw.col("item").alias(item),
            nw.col("label").alias(label),
            "confidence",
            *(nw.col(f"p{k}").alias(name) for k, name in shown),
        )
        return out.to_native()

    def label_facts(self, scores: Scores, uncertain: float) -> LabelFacts:
        """Counts for a summary; an item is uncertain where its label is less probable than `uncertain`."""
        K = len(self.classes)
        favour = favoured(self._votes)
        plan = plans.fact_plan(plans.label_plan(self._posterior_plan(scores), favour), K, uncertain)
        found = fetched(plan)
        items = np.zeros(K, np.int64)
        items[favour[_ints(found["rank"])]] = _ints(found["n"])
        mass = np.array([float(found[f"p{k}"].sum()) for k in range(K)])
        single = fetched(plans.single_plan(self._answers))["n"]
        return LabelFacts(
            items,
            mass,
            int(found["uncertain"].sum()),
            int(found["tied"].sum()),
            int(single[0]) if len(single) else 0,
            float(found["confidence"].sum()),
        )

    @property
    def _votes(self) -> Floats:
        return np.asarray(self.label_counts().sum(axis=0))

    def group_moments(self, groups: NDArray[np.int64]) -> Moments:
        K = len(self.classes)
        group = np.asarray(groups)[self._crowd.who]
        used = group >= 0
        columns = {"row": self._crowd.row[used], "group": group[used], "what": self._crowd.row[used] % K}
        cells = plans.cell_plan(self._answers, beside(self._source, columns, {}))
        pairs = np.stack([_filled(plans.moment_plan(cells, pair), K) for pair in ((0, 1), (0, 2), (1, 2))])
        triple = _filled(plans.moment_plan(cells, (0, 1, 2)), K)
        return Moments(pairs, triple, pairs.sum(axis=(1, 2)), float(triple.sum()))

    def triple_moments(self, triples: NDArray[np.int64]) -> Floats:
        """Counts (T, K, K, K) of the answers of annotator triples (T, 3)."""
        K = len(self.classes)
        triples = np.asarray(triples, dtype=np.int64).reshape(-1, 3)
        out = np.zeros((len(triples), K, K, K))
        if len(triples):
            columns = {"triple": np.arange(len(triples)), **{f"a{i}": triples[:, i] for i in range(3)}}
            found = fetched(plans.triple_plan(self._answers, beside(self._source, columns, {})))
            place = (_ints(found["triple"]), *(_ints(found[f"r{i}"]) % K for i in range(3)))
            out[place] = found["n"]
        return out

    def explain(self, scores: Scores | None = None) -> str:
        """How the library would run each plan, as text; with `scores`, the plans of an EM pass and of labelling too."""
        parts = {"survey": data.survey_plan(self._source), "pair counts": plans.pair_plan(self._answers)}
        if scores is not None:
            posterior = self._posterior_plan(scores)
            parts["expected counts"] = plans.soft_count_plan(self._answers, posterior, len(self.classes))
            parts["posterior"] = opened(self.posterior(scores))
        return "\n\n".join(f"{name}\n{'-' * len(name)}\n{plan_text(plan)}" for name, plan in parts.items())


def _ints(column: Any) -> NDArray[np.int64]:
    return np.asarray(column, dtype=np.int64)


def _distinct(keys: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct keys, sorted, and the place of each key among them; by a table where keys below `size` allow it."""
    if size > max(16 * len(keys), 2**16):
        return np.unique(keys, return_inverse=True)
    met = np.zeros(size, bool)
    met[keys] = True
    return np.flatnonzero(met), (np.cumsum(met) - 1)[keys]


def _filled(plan: plans.Lazy, n_classes: int) -> Floats:
    found = fetched(plan)
    labels = tuple(_ints(found[name]) for name in sorted(found) if name.startswith("l"))
    out = np.zeros((n_classes,) * len(labels))
    out[labels] = found["share"]
    return out
