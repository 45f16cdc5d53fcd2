"""The default: any crowd in, labels, probabilities and a reasoned choice out; fixed rules, the same for every crowd.

1. Guards see crowds that no model of answers fits: rules that vote one class, items of one answer.
2. One member of the family is fitted, from votes or, where pair counts identify the crowd, from co-occurrences; pairs
   of annotators that agree beyond it count for less from here on.
3. Every member is fitted on from there, with items that may mislead, and scored by answers it was not shown.
4. The posteriors are softened, if annotators err together, and averaged, members that predict held-out answers better
   weighing more.
5. Guards look at the result: a class that vanished, a crowd that tells nothing, labels against most votes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations.distinct_rows import gathered
from covote.engines.base import Engine, ExpectedCounts, HasAnnotations
from covote.methods.calibrate import claimed_information, heldout_temperature, power_for, temperatures, tempered
from covote.methods.choice import Candidate, Choice
from covote.methods.em import weighted
from covote.methods.heldout import glimpse, glimpsed, part_of
from covote.methods.learn import Learnt, learn
from covote.methods.majority_vote import vote_scores
from covote.methods.rules import one_sided_share, rule_scores
from covote.model import Fit, Model, Progress, Scores, Status, columns, normalised

Floats = NDArray[np.float64]

VANISHED = 0.25
"""A class whose estimated share is under this part of its share of the votes has vanished."""

SILENT = 0.05
"""A crowd whose answers claim less than this part of what there is to know about an item tells nothing."""

AGAINST = 1 / 3
"""A result that contradicts the most voted label on more than this part of the items is not believed."""

UNASKED = 0.7
"""Held-out temperature of crowds whose answers are not in memory: the middle of those seen."""


def auto(engine: Engine, *, progress: Progress | None = None) -> Fit:
    """Labels of any crowd by the rules above; `details["choice"]` holds the `Choice`.

    Items that nobody answered, as wide tables have them, teach nothing: they get the class shares.
    """
    engine = engine.in_memory()
    if not isinstance(engine, HasAnnotations) or not engine.annotations.n_unanswered:
        return _auto(engine, progress)
    answered = np.flatnonzero(np.diff(engine.annotations.offsets))
    part: Any = part_of(engine, answered)
    fit = _auto(part, progress)
    if fit.posterior is None or fit.model is None:
        return fit
    posterior = np.tile(fit.model.prior, (engine.n_items, 1))
    posterior[answered] = fit.posterior
    return replace(fit, posterior=posterior)


def _auto(engine: Engine, progress: Progress | None) -> Fit:
    votes = engine.expected_counts(vote_scores(len(engine.annotators), len(engine.classes)))
    unfit = _before(engine, votes)
    if unfit is not None:
        return unfit
    learnt = learn(engine, votes, progress=progress)
    guards: tuple[str, ...] = ()
    gone = _vanished(learnt.model, votes)
    if gone:
        guards = (
            f"{gone} had nearly vanished from the estimated class shares, which were fixed at the votes' instead.",
        )
        learnt = learn(engine, votes, prior=normalised(votes.prior), progress=progress)
    fit = (
        _in_memory(engine, learnt, guards) if isinstance(engine, HasAnnotations) else _on_frame(engine, learnt, guards)
    )
    return _after(engine, learnt, fit, votes)


def _before(engine: Engine, votes: ExpectedCounts) -> Fit | None:
    """Crowds that no model of answers fits."""
    label_counts = votes.confusion.sum(axis=2)
    used = int((label_counts.sum(axis=0) > 0).sum())
    if used < 2:
        return _by_votes(engine, votes, "Every answer has the same label: there is nothing to weigh.")
    if label_counts.sum() <= engine.n_items:
        return _by_votes(engine, votes, "No item has two answers, so annotators cannot be compared: votes are counted.")
    share = one_sided_share(label_counts)
    if share >= 0.5:
        sentence = (
            f"{100 * share:.0f} % of the answers come from annotators who give one label or none, as rules do: votes "
            "are counted, rare ones for more."
        )
        return _simple(engine, votes, rule_scores(label_counts, engine.n_items), "rules", sentence)
    return None


def _by_votes(engine: Engine, votes: ExpectedCounts, sentence: str) -> Fit:
    K = len(engine.classes)
    scores = replace(vote_scores(len(engine.annotators), K), bias=np.full(K, 1 / K))
    return _simple(engine, votes, scores, "votes", sentence)


def _simple(engine: Engine, votes: ExpectedCounts, scores: Scores, name: str, sentence: str) -> Fit:
    about = "votes, rare answers for more" if name == "rules" else "votes, one more spread over the classes"
    choice = Choice(sentence, (Candidate(name, about, None, 1.0),), (sentence,))
    K = len(engine.classes)
    confusion = columns(votes.confusion + np.eye(K) + 1 / K)  # what annotators look like to the vote
    model = Model(normalised(votes.prior), confusion, engine.classes, engine.annotators)
    return Fit(scores, model, Status.DIRECT, notes=(sentence,), details={"choice": choice})


def _vanished(model: Model, votes: ExpectedCounts) -> str:
    """Names of the classes that had votes and lost nearly all of them, joined; empty when there is none."""
    share = normalised(votes.prior)
    gone = (share >= 0.5 / len(share)) & (model.prior < VANISHED * share)
    return ", ".join(str(model.classes[k]) for k in np.flatnonzero(gone))


def _in_memory(engine: Engine, learnt: Learnt, guards: tuple[str, ...]) -> Fit:
    """Members' posteriors, softened item by item and averaged; one table, as sure on average, labels new items."""
    assert isinstance(engine, HasAnnotations)
    part, index = engine.distinct()
    heldout = heldout_temperature(learnt.forecasts, learnt.shares.tolist())
    claimed = claimed_information(part.annotations, learnt.information)
    temperature = temperatures(heldout, claimed, learnt.skill, learnt.shared)
    posterior = np.zeros((part.n_items, len(engine.classes)))
    for fit, share in learnt.mixture:
        tempered(fit.posterior(part), temperature, share, posterior)
    table = _weighted(learnt)
    rows = glimpsed(engine.annotations)  # items by which the table is made as sure
    if index is None:
        some: Any = glimpse(engine)
        plain = np.asarray(some.posterior(table))
    else:
        rows = index[rows]
        plain = np.asarray(part.posterior(table))[rows]
    table = _softened(table, power_for(float(posterior[rows].max(axis=1).mean()), plain))
    mean = float(np.average(temperature, weights=None if index is None else part.weight))
    spread = posterior if index is None else gathered(posterior, index)
    return replace(_fit(learnt, mean, guards), scores=table, posterior=spread)


def _on_frame(engine: Engine, learnt: Learnt, guards: tuple[str, ...]) -> Fit:
    claimed = learnt.answers @ learnt.information / max(engine.n_items, 1)
    return _fit(learnt, float(temperatures(UNASKED, claimed, learnt.skill, learnt.shared)), guards)


def _fit(learnt: Learnt, temperature: float, guards: tuple[str, ...]) -> Fit:
    """A fit whose scores are those of the averaged model, softened: they label items of a frame."""
    choice = Choice(
        learnt.sentence,
        learnt.candidates,
        guards,
        start=learnt.start,
        temperature=temperature,
        heldout_answers=learnt.heldout_answers,
        shared=learnt.shared,
        misleading=learnt.misleading,
        dependent_pairs=len(learnt.dependence.first),
        worth=learnt.dependence.worth(learnt.answers),
        copies=learnt.copies,
    )
    scores = _softened(_weighted(learnt), temperature)
    notes = (choice.sentence, *guards, *(group.sentence for group in choice.copies))
    return Fit(scores, learnt.model, Status.PLANNED, learnt.base.history, notes=notes, details={"choice": choice})


def _weighted(learnt: Learnt) -> Scores:
    return weighted(learnt.model.floored().scores(), learnt.dependence.weight)


def _softened(scores: Scores, power: float) -> Scores:
    return replace(scores, table=power * scores.table, bias=power * scores.bias)


def _after(engine: Engine, learnt: Learnt, fit: Fit, votes: ExpectedCounts) -> Fit:
    """The result, or votes where it is not to be believed."""
    claimed = float(learnt.answers @ learnt.information) / max(engine.n_items, 1)
    if claimed < SILENT:
        return _by_votes(engine, votes, "The answers agree no more than chance would have it: votes are counted.")
    if fit.posterior is None or learnt.start == "co-occurrences":
        return fit
    weight = learnt.dependence.weight
    shares = np.asarray(engine.posterior(vote_scores(len(engine.annotators), len(engine.classes), weight)))
    chosen = shares[np.arange(len(shares)), fit.posterior.argmax(axis=1)]
    against = float((chosen < shares.max(axis=1) - 1e-9).mean())
    if against > AGAINST:
        sentence = (
            f"The best model contradicts the most voted label on {100 * against:.0f} % of the items, and pairs of "
            "annotators share too few items to tell who is right: votes are counted."
        )
        return _by_votes(engine, votes, sentence)
    return fit
