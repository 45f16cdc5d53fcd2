"""Estimators that need pair counts alone: chunks of whole items in, one after the other, a model out at any time."""

from __future__ import annotations

import abc
from dataclasses import dataclass, replace
from typing import Any, Self

from covote.counts import PairCounts
from covote.engines.base import Engine
from covote.engines.memory import MemoryEngine
from covote.estimators.base import Aggregator
from covote.estimators.tables import match_whole_table, open_engine, read_table
from covote.model import Fit, Progress


@dataclass(kw_only=True, eq=False)
class CountsAggregator(Aggregator, abc.ABC):
    """Base of the methods that read pair counts alone, so that counting can be spread over files and days."""

    @abc.abstractmethod
    def _run_counts(self, counts: PairCounts, progress: Progress | None) -> Fit:
        """The method itself: pair counts in, a fit out."""

    def _run(self, engine: Engine, progress: Progress | None) -> Fit:
        self.counts_ = engine.pair_counts()
        fit = self._run_counts(self.counts_, progress)
        return replace(fit, notes=(*fit.notes, *bounded_note(self.counts_)))

    def fit_counts(self, counts: PairCounts, *, progress: Progress | None = None) -> Self:
        """Learn from pair counts made elsewhere; then `predict` labels any table."""
        self.counts_ = counts
        return self._learn(counts, progress, run=lambda _, p: self._run_counts(counts, p))

    def partial_fit(self, chunk: Any, *, progress: Progress | None = None, **reading: Any) -> Self:
        """Add a chunk of whole items to the counts and learn again; the order of chunks does not matter.

        >>> from covote import MultiSPA
        >>> votes = [(i, a, "xy"[i % 2]) for i in range(8) for a in "abc"]
        >>> fit = MultiSPA().partial_fit(votes[:12]).partial_fit(votes[12:])
        >>> fit.counts_.n_items, fit.predict([("new", "a", "x"), ("new", "b", "x")])
        (8.0, {'new': 'x'})
        """
        counts = count_pairs(chunk, threads=self.threads, **reading)
        before = getattr(self, "counts_", None)
        return self.fit_counts(counts if before is None else before + counts, progress=progress)

    def label(self, table: Any, **reading: Any) -> Self:
        """Hold the labels of this table by what was learnt, as if it had been fitted on it."""
        loaded, _ = read_table(table, None, reading)
        matched = match_whole_table(loaded.annotations, self.annotators_, self.classes_)
        source = replace(loaded, annotations=matched, labels=None)
        engine = MemoryEngine(matched, threads=self.threads, source=source)
        return self._learn(engine, None, run=lambda *_: self.fit_)


def count_pairs(table: Any, *, threads: int | None = None, **reading: Any) -> PairCounts:
    """The pair counts of any table; `+` adds those of chunks of whole items."""
    return open_engine(table, None, reading, threads=threads).pair_counts()


def bounded_note(counts: PairCounts) -> tuple[str, ...]:
    """A sentence where not all pairs were counted."""
    if counts.max_partners is None:
        return ()
    return (
        f"Blocks of all pairs would not fit: {counts.n_pairs:,} pairs were counted, each annotator with the "
        f"{counts.max_partners} it shares most items with.",
    )
