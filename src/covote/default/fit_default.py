"""The default itself: an engine in, scores, a model and an explanation out; the same function on every engine.

1. Crowds that no model of answers fits are labelled by votes: one label, items of one answer, labelling functions.
2. A hierarchical Dawid-Skene model is fitted by EM, from votes or, where pair counts identify the crowd and make the
   answers likelier, from co-occurrences. Hard items are part of it where the answers are likelier with them.
3. Held-out answers say how much weight the model gets; votes, weighted by skill, get the rest.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from covote.counts import PairCounts
from covote.default.copies import Groups, answer_weights, found_copies, given_groups
from covote.default.explanation import Explanation
from covote.default.hierarchical import (
    Hierarchy,
    constant_annotators,
    from_soft_counts,
    named_by_annotators,
    run_rounds,
)
from covote.default.labelling_functions import one_sided_share, rule_scores
from covote.default.pool import Trust, pooled_scores, trust_in_model
from covote.default.settings import DEFAULT, Settings
from covote.engines.base import Engine
from covote.methods.majority_vote import vote_scores
from covote.methods.multispa import multispa
from covote.model import Fit, Model, Progress, Scores, Status, columns, normalised

Floats = NDArray[np.float64]


def fit_default(
    engine: Engine,
    *,
    groups: Mapping[Hashable, Hashable] | None = None,
    settings: Settings = DEFAULT,
    progress: Progress | None = None,
) -> Fit:
    """Labels of any crowd; `groups` maps annotators to groups that share one vote (judges of one vendor).

    `details["explanation"]` holds the `Explanation`.
    """
    given = given_groups(groups, engine.annotators)
    simple = _without_model(engine)
    if simple is not None:
        return simple
    counts = engine.pair_counts()
    together = given or found_copies(counts, settings)
    weight = answer_weights(together, counts)
    state, start = _Crowd(engine, counts, settings, progress).fitted(weight)
    trust = trust_in_model(engine, state, weight, settings)
    explanation = _explanation(engine, state, start, trust, together, bool(given))
    return Fit(
        pooled_scores(state, trust.power, weight, settings),
        state.model(engine),
        Status.PLANNED,
        notes=(explanation.sentence, *explanation.notices()),
        details={"explanation": explanation},
    )


@dataclass(frozen=True, eq=False)
class _Crowd:
    engine: Engine
    counts: PairCounts
    settings: Settings
    progress: Progress | None

    def fitted(self, weight: Floats | None) -> tuple[Hierarchy, str]:
        """The model of the answers, and where EM started."""
        state, start = self._started(weight)
        plain = run_rounds(self.engine, state, self.settings, weight, hard=False)
        hard = run_rounds(self.engine, state, self.settings, weight, hard=True)
        self._tell(3, plain.log_likelihood)
        gain = hard.log_likelihood - plain.log_likelihood
        better = gain > 0.5 * np.log(max(self.engine.n_items, 2))  # BIC: hard items are one parameter
        return (hard if better else plain), start

    def _started(self, weight: Floats | None) -> tuple[Hierarchy, str]:
        constant = constant_annotators(self.counts.label_counts)
        voters = np.where(constant, 0.0, 1.0 if weight is None else weight)
        votes = self.engine.expected_counts(vote_scores(len(constant), len(self.engine.classes), voters))
        begin = from_soft_counts(votes, self.settings, hard=False, before=None)
        first = named_by_annotators(run_rounds(self.engine, begin, self.settings, weight, hard=False))
        self._tell(1, first.log_likelihood)
        found = multispa(self.counts) if identified(self.counts) else None
        if found is None or found.model is None or found.status is Status.FALLBACK:
            return first, "votes"
        soft = self.engine.expected_counts(found.model.floored().scores().weighted(weight))
        begin = from_soft_counts(soft, self.settings, hard=False, before=None)
        other = named_by_annotators(run_rounds(self.engine, begin, self.settings, weight, hard=False))
        self._tell(2, other.log_likelihood)
        margin = 0.5 * np.log(max(self.engine.n_items, 2))
        return (other, "co-occurrences") if other.log_likelihood > first.log_likelihood + margin else (first, "votes")

    def _tell(self, done: int, objective: float) -> None:
        if self.progress is not None:
            self.progress(done, 3, objective)


def identified(counts: PairCounts) -> bool:
    """Whether most annotators share enough items with another one: 25 for each cell of their table of answers."""
    thick = counts.blocks.sum(axis=(1, 2)) >= 25 * counts.n_classes**2
    covered = np.unique(np.concatenate([counts.first[thick], counts.second[thick]]))
    return len(covered) >= max(3, counts.n_annotators / 2)


def _without_model(engine: Engine) -> Fit | None:
    """Labels of crowds that no model of answers fits; None for all others."""
    label_counts, K = engine.label_counts(), len(engine.classes)
    even = replace(vote_scores(len(engine.annotators), K), bias=np.full(K, 1 / max(K, 1)))
    if int((label_counts.sum(axis=0) > 0).sum()) < 2:
        return _simple(engine, even, "votes", "Every answer has the same label: there is nothing to weigh.")
    if label_counts.sum() <= engine.n_items - engine.n_unanswered:
        sentence = "No item has two answers, so annotators cannot be compared: votes are counted."
        return _simple(engine, even, "votes", sentence)
    share = one_sided_share(label_counts, engine.n_items)
    if share < 0.5:
        return None
    sentence = (
        f"{100 * share:.0f} % of the answers come from annotators who give one label or none, as labelling functions "
        "do: votes are counted, rare ones for more."
    )
    return _simple(engine, rule_scores(label_counts, engine.n_items), "labelling functions", sentence)


def _simple(engine: Engine, scores: Scores, method: str, sentence: str) -> Fit:
    K = len(engine.classes)
    votes = engine.expected_counts(vote_scores(len(engine.annotators), K))
    confusion = columns(votes.confusion + np.eye(K) + 1 / max(K, 1))  # what annotators look like to the votes
    model = Model(normalised(votes.prior), confusion, engine.classes, engine.annotators)
    explanation = Explanation(method, sentence)
    return Fit(scores, model, Status.DIRECT, notes=(sentence,), details={"explanation": explanation})


def _explanation(
    engine: Engine, state: Hierarchy, start: str, trust: Trust, groups: Groups, given: bool
) -> Explanation:
    if trust.power == 1:
        sentence = "Labels by a hierarchical Dawid-Skene model; held-out answers do not speak against it."
    else:
        sentence = (
            "Labels by a hierarchical Dawid-Skene model joined with votes: annotators share errors, so the model has "
            f"weight {trust.power:.2f}."
        )
    return Explanation(
        "pool",
        sentence,
        start=start,
        power=trust.power,
        strength=state.strength,
        hard_share=state.hard_share,
        heldout=trust.heldout,
        heldout_full=trust.heldout_full,
        groups=tuple(tuple(engine.annotators[m] for m in group) for group in groups),
        given=given,
    )
