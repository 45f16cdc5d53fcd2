"""A fitted estimator in, with truth, diagnosis, intervals, comparison and plan where there are any, its Facts out."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.estimators.base import Aggregator
from covote.estimators.compare import Trial
from covote.estimators.summary import UNCERTAIN, Summary, model_of, summarise
from covote.model import Model
from covote.report import answers, people, trust
from covote.report.facts import (
    Convergence,
    Facts,
    MethodRun,
    Outcome,
    Range,
    Settings,
    plain,
)
from covote.report.words import counted, sentences, whole
from covote.score import calibration_error, error_interval

Ints = NDArray[np.int64]

_MOST_STEPS = 300  # points of the convergence chart
_PACKAGES = ("covote", "numpy", "scipy", "numba")


@dataclass(frozen=True)
class Extras:
    """What a report can show beyond the fit."""

    title: str = "What the crowd said"
    truth: Ints | None = None  # (items,): class codes, -1 where unknown
    comparison: Sequence[Trial] = ()
    budget: int = 60  # answers to plan for; 0 for none
    deep: bool = True  # with diagnosis and bootstrap intervals, where the crowd is small enough for them


def collect(estimator: Aggregator, method: str | None = None, extras: Extras | None = None) -> Facts:
    """Everything the report shows.

    >>> from covote.estimators.registry import make
    >>> votes = [(i, a, "xy"[i % 2]) for i in range(6) for a in "abc"]
    >>> collect(make("majority-vote").fit(votes)).outcome.sentences[0]
    '18 answers of 3 annotators on 6 items give “x” (50.0 %) and “y” (50.0 %).'
    """
    _ = estimator.loaded_  # raises where there is no fit, or its answers are elsewhere
    extras = extras or Extras()
    name = method or estimator.method_name or type(estimator).__name__
    summary, model = summarise(estimator, name), model_of(estimator)
    look = trust.look(estimator, model, extras.truth, deep=extras.deep, budget=extras.budget)
    volume = np.array([f.answers for f in summary.annotators], float)
    codes = people.ranked(summary.annotators)
    matrices, confusion = people.matrices(model, volume, codes)
    doubts = answers.doubts(estimator, np.array([f.accuracy for f in summary.annotators]), extras.truth)
    listed = people.annotator_rows(summary.annotators, codes, confusion, look.flags, look.useless)
    return Facts(
        outcome=_outcome(summary, estimator, extras, look.shares),
        classes=answers.class_shares(estimator, look.shares.low, look.shares.high),
        confidence=answers.confidence_bins(estimator.confidence_, estimator.posterior_, extras.truth),
        calibration_error=None if extras.truth is None else calibration_error(estimator.posterior_, extras.truth),
        doubts=doubts,
        annotators=listed,
        matrices=matrices,
        overlap=people.overlap(estimator.loaded_.annotations, volume),
        diagnosis=look.diagnosis,
        directions=people.directions(model, volume),
        rows=people.simplex_rows(model, volume),
        convergence=_convergence(estimator, summary),
        comparison=tuple(_run(t) for t in extras.comparison),
        plan=look.plan,
        settings=_settings(estimator, name),
        left_out=_left_out(summary, len(doubts), len(listed), matrices.shown, model) | look.left_out,
        interval_level=trust.LEVEL,
        share_intervals=look.shares.how,
    )


def _outcome(summary: Summary, estimator: Aggregator, extras: Extras, shares: trust.Shares) -> Outcome:
    known = 0 if extras.truth is None else int((extras.truth != -1).sum())
    error = None
    if extras.truth is not None and known:
        found = error_interval(estimator.posterior_, extras.truth)
        error = Range(found.value, found.low, found.high)
    return Outcome(
        title=extras.title,
        sentences=sentences(summary, error, known),
        notes=summary.notes,
        method=summary.method,
        items=summary.n_items,
        annotators=summary.n_annotators,
        answers=summary.n_labels,
        classes=len(summary.classes),
        answers_per_item=summary.n_labels / max(summary.n_items, 1),
        uncertain_below=UNCERTAIN,
        uncertain_items=summary.uncertain_items,
        uncertain_share=summary.uncertain_items / max(summary.n_items, 1),
        certain_share=1 - summary.uncertain_items / max(summary.n_items, 1),
        tied_items=summary.tied_items,
        single_answer_items=summary.single_answer_items,
        expected_error=Range(summary.expected_error, shares.error_low, shares.error_high),
        error=error,
        truth_items=known,
    )


def _convergence(estimator: Aggregator, summary: Summary) -> Convergence:
    history = estimator.fit_.history
    steps = sorted({int(s) for s in np.linspace(0, len(history) - 1, _MOST_STEPS)}) if history else []
    points = tuple((s, float(history[s])) for s in steps)
    found = estimator.fit_.details.get("explanation")
    explanation = () if found is None else tuple(found.explain())
    return Convergence(summary.status, summary.converged, summary.iterations, explanation, points)


def _run(trial: Trial) -> MethodRun:
    e = trial.error
    error = None if e is None else Range(e.value, e.low, e.high)
    return MethodRun(trial.method, trial.ran, trial.status, trial.seconds, error, trial.log_loss, trial.agreement)


def _settings(estimator: Aggregator, method: str) -> Settings:
    versions = [("Python", platform.python_version())]
    for package in _PACKAGES:
        try:
            versions.append((package, version(package)))
        except PackageNotFoundError:  # run from a source folder
            continue
    options = tuple((name, _option(value)) for name, value in estimator.get_params().items())
    return Settings(method, options, tuple(versions), date.today().isoformat())


def _option(value: Any) -> Any:
    return "a model" if isinstance(value, Model) else plain(value)


def _left_out(summary: Summary, doubts: int, listed: int, matrices: int, model: Model) -> dict[str, str]:
    """What the lists of the page do not hold, a sentence a section."""
    out = {}
    if len(summary.classes) > answers.MOST_CLASSES:
        rest = len(summary.classes) - answers.MOST_CLASSES
        out["classes"] = f"{whole(rest)} smaller classes are left out."
    if summary.uncertain_items > doubts:
        out["doubts"] = (
            f"The {whole(doubts)} least certain of {whole(summary.uncertain_items)} items in doubt; "
            "the table of labels has all of them."
        )
    silent = sum(f.answers == 0 for f in summary.annotators)
    if summary.n_annotators > listed + silent:
        out["annotators"] = (
            f"The {whole(listed)} annotators with most answers, of {whole(summary.n_annotators)}; "
            "the table of annotators has all of them."
        )
    elif silent:
        out["annotators"] = f"{counted(silent, 'annotator')} of the model gave no answer here and are left out."
    if listed > matrices:
        out["matrices"] = f"Matrices of the {whole(matrices)} best of these; the model file has all of them."
    if model.n_classes > people.MOST_MATRIX_CLASSES + 1:
        rest = model.n_classes - people.MOST_MATRIX_CLASSES
        out["matrix_classes"] = f"The {whole(rest)} smaller classes are merged into “others”."
    if summary.n_annotators > people.MOST_OVERLAP:
        out["overlap"] = f"The {people.MOST_OVERLAP} annotators with most answers, of {whole(summary.n_annotators)}."
    return out
