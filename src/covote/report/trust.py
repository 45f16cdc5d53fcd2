"""A fitted estimator in, its diagnosis and intervals as facts out, where the crowd is small enough for a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.diagnosis import Diagnosis, diagnose_crowd
from covote.diagnosis.annotators import Kind
from covote.engines.base import Engine
from covote.estimators.base import Aggregator
from covote.estimators.bootstrapped import intervals_of
from covote.intervals import Intervals, bootstrap
from covote.methods.dawid_skene import dawid_skene
from covote.model import Model
from covote.planning import Request, plan_answers
from covote.report import facts_trust as t
from covote.report.facts import plain
from covote.report.saved import SavedModel
from covote.report.words import inline, number, percent, whole

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEVEL, Z = 0.9, 1.6448536269514722
MOST_WORK = 400_000_000
"""Replicates x (answers x classes + cells of all confusion matrices) that a report spends on intervals."""

MOST_DIAGNOSED = 9_000_000
"""Answers x classes up to which a report diagnoses, with at most `MOST_ANNOTATORS` annotators."""

MOST_ANNOTATORS = 20_000
MOST_CLASSES = 30
MOST_PLANNED = 200_000
"""Items up to which a report plans the next answers, with at most `MOST_ASKED` annotators."""

MOST_ASKED = 5000
_ALIKE = 12
_USELESS = (Kind.RANDOM, Kind.CONTRARY)


@dataclass(frozen=True)
class Shares:
    """Ends of the intervals of the class shares and of the expected error, and how they were made."""

    low: Floats  # (classes,)
    high: Floats  # (classes,)
    error_low: float
    error_high: float
    how: str


@dataclass(frozen=True)
class Look:
    """What a deeper look at the fit gave."""

    shares: Shares
    diagnosis: t.Diagnosis | None
    flags: Mapping[Any, tuple[str, ...]]  # what stands out about an annotator
    useless: frozenset[Any]  # annotators whose answers tell nothing, or mislead
    plan: t.Plan | None
    left_out: dict[str, str]  # section -> what the diagnosis leaves out, and why


def look(estimator: Aggregator, model: Model, truth: Ints | None, *, deep: bool, budget: int) -> Look:
    """Intervals, diagnosis and plan; without `deep` only intervals that cost nothing."""
    if not deep:
        return Look(share_intervals(estimator, deep=False), None, {}, frozenset(), None, {})
    shares, plan = share_intervals(estimator), planned(estimator, model, budget)
    why_not = no_diagnosis(estimator)
    if why_not:
        return Look(shares, None, {}, frozenset(), plan, {"diagnosis": why_not})
    follows = estimator.fit_.posterior is None  # labels are sums of scores over answers
    found = diagnose_crowd(
        estimator.engine_,
        model,
        scores=estimator.fit_.scores if follows else None,
        labelled=None if follows else estimator.posterior_,
        truth=truth,
    )
    useless = frozenset(r.annotator for r in found.annotators if r.kind in _USELESS or r.one_label is not None)
    skipped = found.identifiability.left_out
    left_out = {"identifiability": f"Left out: {skipped}."} if skipped else {}
    return Look(shares, diagnosis_facts(found, model), flags_of(found), useless, plan, left_out)


def replicates_for(estimator: Aggregator) -> int:
    """Refits a report can afford: 200 for small crowds, 50 at least, 0 for huge ones."""
    a = estimator.loaded_.annotations
    work = a.n_labels * a.n_classes + a.n_annotators * a.n_classes**2
    return 0 if 50 * work > MOST_WORK else int(np.clip(4_000_000 // max(work, 1), 50, 200))


def share_intervals(estimator: Aggregator, *, deep: bool = True) -> Shares:
    """Intervals of class shares and error: by refits on resampled items where affordable, else given the model."""
    posterior, n = estimator.posterior_, max(len(estimator.posterior_), 1)
    share, wrong = posterior.sum(axis=0) / n, 1 - estimator.confidence_
    error, off = float(wrong.sum()) / n, Z * float(np.sqrt((wrong * (1 - wrong)).sum())) / n
    spread = Z * np.sqrt((posterior * (1 - posterior)).sum(axis=0)) / n
    known = _within(share - spread, share + spread, error - off, error + off, "the model taken as known")
    found: Intervals | None = getattr(estimator, "intervals_", None)
    if found is None and deep:
        found = _refitted(estimator, replicates_for(estimator))
    if found is None:
        return known
    # a fit that averages models has shares of its own: the refits say how uncertain they are
    moved, shift = share - found.class_shares.value, error - float(found.error.value)
    low, high = found.class_shares.low + moved, found.class_shares.high + moved
    if estimator.fit_.posterior is not None:  # and it is less sure of its labels than the refits are
        low, high = np.minimum(low, known.low), np.maximum(high, known.high)
    errors = float(found.error.low) + shift, float(found.error.high) + shift
    return _within(low, high, *errors, f"{whole(found.replicates)} refits on resampled items")


def _within(low: Floats, high: Floats, error_low: float, error_high: float, how: str) -> Shares:
    """The ends, kept between 0 and 1."""
    return Shares(np.maximum(low, 0.0), np.minimum(high, 1.0), max(error_low, 0.0), min(error_high, 1.0), how)


def _refitted(estimator: Aggregator, replicates: int) -> Intervals | None:
    """Bootstrap intervals: by the estimator itself where it starts from its estimate, else by EM from its model."""
    model = estimator.fit_.model
    if model is None or not replicates or isinstance(estimator, SavedModel):
        return None
    if "init" in estimator.get_params():
        return intervals_of(estimator, replicates=replicates, level=LEVEL)

    def refit(reweighted: Engine) -> Model:
        found = dawid_skene(reweighted, model, tol=1e-6).model
        assert found is not None
        return found

    return bootstrap(estimator._answers, refit, replicates=replicates, level=LEVEL, threads=estimator.threads)


def no_diagnosis(estimator: Aggregator) -> str:
    """Why a report leaves out the diagnosis: it would make no sense, or take minutes; empty where it does neither."""
    a = estimator.loaded_.annotations
    if a.n_classes < 2 or np.diff(a.offsets).max(initial=0) < 2:
        return "No two annotators answered the same item, so that nothing can be said about how far to trust them."
    if a.n_labels * a.n_classes > MOST_DIAGNOSED or a.n_annotators > MOST_ANNOTATORS or a.n_classes > MOST_CLASSES:
        return "The diagnosis of a crowd of this size takes minutes and is left out; covote diagnose makes it."
    return ""


def planned(estimator: Aggregator, model: Model, budget: int) -> t.Plan | None:
    """The next answers to ask for; None where there is no budget, nobody to ask, or too large a crowd."""
    a = estimator.loaded_.annotations
    if budget < 1 or a.n_annotators > MOST_ASKED or a.n_items > MOST_PLANNED or a.n_labels == 0 or a.n_classes < 2:
        return None
    found = plan_answers(a, Request(budget=budget), model=model)
    rows = (t.Assignment(plain(x.item), plain(x.annotator), x.aim.value, x.reason, x.gain) for x in found.assignments)
    return t.Plan(budget, tuple(found.counted().items()), found.notes, tuple(rows))


def flags_of(d: Diagnosis) -> Mapping[Any, tuple[str, ...]]:
    """What stands out about each annotator, in a few words."""
    flags: dict[Any, list[str]] = {}
    for row in d.annotators:
        if row.kind in _USELESS:
            flags.setdefault(row.annotator, []).append(row.kind.value)
        if row.one_label is not None:
            flags.setdefault(row.annotator, []).append(f"always says {inline(row.one_label, 20)}")
    for group in d.dependence.groups:
        for name in group.annotators:
            others = [inline(o, 20) for o in group.annotators if o != name]
            more = f" and {len(others) - 2} more" if len(others) > 2 else ""
            flags.setdefault(name, []).append(f"answers like {', '.join(others[:2])}{more}")
    return {name: tuple(said) for name, said in flags.items()}


def diagnosis_facts(d: Diagnosis, model: Model) -> t.Diagnosis:
    """The part of a diagnosis that a report shows; `model` is the one diagnosed."""
    dep = d.dependence
    return t.Diagnosis(
        verdict=d.verdict.value,
        explanation=d.explanation,
        findings=tuple(t.Finding(x.severity.value, x.title, x.evidence, x.advice) for x in d.findings),
        pairs_tested=dep.tested,
        pairs_alarming=dep.alarms,
        alike=tuple(_alike(p) for p in dep.pairs[:_ALIKE]),
        groups=tuple(
            t.CopyGroup(tuple(map(plain, g.annotators)), g.correlation, g.effective_votes) for g in dep.groups
        ),
        effective_votes=float(dep.effective_votes),
        freedom=_freedom(d, model),
        numbers=_numbers(d),
        held_out_answers=0 if d.model_fit is None else d.model_fit.answers,
        held_out=()
        if d.model_fit is None
        else tuple(t.HeldOut(m.model, m.log_likelihood, m.behind, m.behind_error) for m in d.model_fit.models),
    )


def _alike(p: Any) -> t.AlikePair:
    names = plain(p.first), plain(p.second)
    return t.AlikePair(*names, round(p.shared), p.agreement, p.expected, p.correlation, p.adjusted)


def _freedom(d: Diagnosis, model: Model) -> tuple[t.Freedom, ...]:
    pairs, answers = d.identifiability.from_pairs, d.identifiability.from_answers
    out = []
    for k, label in enumerate(d.classes):
        by_pairs = (pairs.prior_low[k], pairs.prior_high[k])
        by_answers = None if answers is None else (answers.prior_low[k], answers.prior_high[k])
        out.append(t.Freedom(plain(label), float(model.prior[k]), by_pairs, by_answers))
    return tuple(out)


def _numbers(d: Diagnosis) -> tuple[tuple[str, str], ...]:
    """The numbers of the theory, named for a reader who knows the paper."""
    i, g = d.identifiability, d.overlap.groups
    relation = "=" if i.scatter.exact else "at most"
    rows = [
        (
            "directions that change no pair count",
            f"{i.flat_directions} of {whole(i.parameters)}; {i.unavoidable} in any crowd",
        ),
        (
            "scatter of the rows of H (gamma)",
            f"{relation} {number(i.scatter.gamma)}; {number(i.scatter.needed)} suffices",
        ),
        ("two groups that all share items (Theorem 3)", f"{len(g.first)} and {len(g.second)} annotators"),
        ("pairs of annotators that share items", f"{whole(d.overlap.pairs)} ({percent(d.overlap.pair_share)} of all)"),
        ("items a sharing pair shares (median)", number(d.overlap.shared_median)),
    ]
    best = min(i.anchors, key=lambda a: a.epsilon, default=None)
    if best is not None:
        told = f"{number(best.epsilon)}, {inline(best.annotator, 20)}; weakest for class {inline(best.worst_class, 20)}"
        rows.append(("nearest to anchors (epsilon of Theorem 1)", told))
    return tuple(rows)
