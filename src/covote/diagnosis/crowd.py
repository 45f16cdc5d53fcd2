"""The diagnosis from end to end: an engine or pair counts and a model in, a Diagnosis out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from covote.annotations import Annotations
from covote.counts import PairCounts
from covote.diagnosis.annotators import annotator_rows
from covote.diagnosis.dependence import simulated_null
from covote.diagnosis.findings import explanation, findings
from covote.diagnosis.identifiability import identifiability
from covote.diagnosis.model_fit import model_fit
from covote.diagnosis.overlap import overlap
from covote.diagnosis.value import Dependence, Diagnosis, LabelQuality
from covote.engines.base import Engine, InMemory
from covote.engines.memory import MemoryEngine
from covote.errors import InputError
from covote.intervals import Intervals
from covote.methods.agreement import LEVEL, error_correlation, pair_tests, thick_pairs, unshrunk
from covote.methods.align import best_order
from covote.methods.dawid_skene import dawid_skene
from covote.methods.groups import MATERIAL, Reading, group_table, read_groups
from covote.model import Model, Scores

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PAIRS_LISTED = 20


@dataclass(frozen=True, eq=False)
class Sources:
    """What there is to look at: counts always, an engine and the answers themselves where they are known."""

    counts: PairCounts
    engine: Engine | None
    memory: InMemory | None
    truth: Ints | None  # (items,): class codes, below 0 where unknown

    @property
    def annotations(self) -> Annotations | None:
        return None if self.memory is None else self.memory.annotations


def diagnose_crowd(
    source: Engine | PairCounts,
    model: Model,
    *,
    scores: Scores | None = None,
    labelled: Floats | None = None,
    truth: Ints | None = None,
    intervals: Intervals | None = None,
    seed: int = 0,
) -> Diagnosis:
    """Diagnose the crowd behind an engine, or behind pair counts alone, under a fitted model.

    `scores` are what the fit labels with (the model's own when not given), `labelled` its posterior (items, classes)
    where that does not follow from scores, `truth` holds class codes of items. Counts
    alone give no held-out likelihood, no test of single annotators, and a cautious null for the pairs.
    """
    if model.n_classes < 1 or model.n_annotators < 1:
        msg = f"A diagnosis needs answers: {model.n_classes} classes and {model.n_annotators} annotators were given."
        raise InputError(msg)
    have = _sources(source, truth)
    plain = model.floored().scores()
    posterior = None if have.memory is None else have.memory.posterior(plain)
    if labelled is None and have.memory is not None:
        labelled = have.memory.posterior(plain if scores is None else scores)
    graph = overlap(have.counts, have.annotations)
    found = Diagnosis(
        verdict=None,  # type: ignore[arg-type]  # set below, once the evidence is in
        explanation="",
        findings=(),
        classes=model.classes,
        overlap=graph,
        identifiability=identifiability(have.counts, model.floored(), graph, engine=have.engine, seed=seed),
        annotators=annotator_rows(
            have.counts, model, annotations=have.annotations, posterior=posterior, intervals=intervals
        ),
        dependence=dependence(have, model, seed=seed),
        model_fit=None if have.annotations is None or model.n_classes < 2 else model_fit(have.annotations, seed=seed),
        labels=None if labelled is None else _labels(labelled, truth, intervals),
        interval_level=None if intervals is None else intervals.level,
        seed=seed,
    )
    found = replace(found, verdict=found.identifiability.verdict)
    return replace(found, explanation=explanation(found), findings=findings(found, model))


def _sources(source: Engine | PairCounts, truth: Ints | None) -> Sources:
    if isinstance(source, PairCounts):
        return Sources(source, None, None, None)
    return Sources(source.pair_counts(), source, source.in_memory(), truth)


def dependence(have: Sources, model: Model, *, seed: int = 0) -> Dependence:
    """Test all pairs that share enough items; where some agree too much, find the groups behind it.

    With the answers in memory the model is fitted again by EM, with the true labels where given as certain, and the
    null is simulated. On counts alone the given model is taken as known.
    """
    pairs = thick_pairs(have.counts)
    memory, truth = have.memory, have.truth
    null = None
    if memory is not None and pairs.n_pairs:
        gold = None if truth is None else np.where(truth >= 0, truth, -1)
        memory = MemoryEngine(memory.annotations, gold=gold if gold is not None else memory.gold)
        again = dawid_skene(memory, model, tol=1e-6).model
        assert again is not None
        null = simulated_null(memory.annotations, again, pairs, seed=seed)
        model = unshrunk(memory, again)
    found = pair_tests(pairs, model, null)
    alarms = found.alarming(LEVEL) & (found.correlation >= MATERIAL)
    engine = memory if memory is not None else have.engine
    reading = Reading((), model, found, int(alarms.sum()))
    if alarms.any() and engine is not None:
        reading = read_groups(engine, pairs, model, null)
    groups = group_table(reading)
    M = have.counts.n_annotators
    return Dependence(
        tested=pairs.n_pairs,
        alarms=int(alarms.sum()),
        calibrated=null is not None,
        given_truth=truth is not None,
        pairs=replace(found, correlation=error_correlation(pairs, reading.model)).listed(PAIRS_LISTED),
        groups=groups,
        unexplained=reading.unexplained,
        annotators=M,
        effective_votes=M - sum(len(g.annotators) - g.effective_votes for g in groups),
    )


def _labels(posterior: Floats, truth: Ints | None, intervals: Intervals | None) -> LabelQuality:
    label, K = posterior.argmax(axis=1), posterior.shape[1]
    error = float(1 - posterior.max(axis=1).mean()) if len(posterior) else 0.0
    known = np.zeros(len(label), bool) if truth is None else truth != -1
    right = renamed = None
    if truth is not None and known.any():
        named = known & (truth >= 0)
        table = np.bincount(truth[named] * K + label[named], minlength=K * K).reshape(K, K)  # (true class, label)
        right, renamed = np.trace(table), table[np.arange(K), best_order(table.astype(np.float64))].sum()
    n = max(int(known.sum()), 1)
    return LabelQuality(
        expected_error=error,
        low=None if intervals is None else float(intervals.error.low),
        high=None if intervals is None else float(intervals.error.high),
        true_error=None if right is None else float(1 - right / n),
        renamed_error=None if renamed is None else float(1 - renamed / n),
        items_with_truth=int(known.sum()),
    )
