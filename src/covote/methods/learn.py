"""The family fitted to one crowd: an engine in, members, their held-out scores and their shares out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.counts import PairCounts
from covote.engines.base import Engine, ExpectedCounts, HasAnnotations
from covote.methods.calibrate import skill_share
from covote.methods.choice import Candidate, Copies
from covote.methods.effective import PARTNERS, Dependence, Rings, copying, dependence, rings
from covote.methods.em import Fitted
from covote.methods.family import FAMILY, MIDDLE, ROUNDS, Member, fit_member, start_from
from covote.methods.heldout import Forecast, HeldOut, forecast, glimpse, hold_out
from covote.methods.majority_vote import vote_scores
from covote.methods.misleading import Misleading
from covote.methods.multispa import multispa
from covote.methods.redrawn import EXPLAINED, USUAL, shared_errors
from covote.methods.trust import trusted_blocks
from covote.model import Model, Progress, Status, columns, normalised

Floats = NDArray[np.float64]

MORE_ROUNDS = 4
"""Rounds of each member from where the first fit ended."""

MANY = 1_000_000
"""Answers from which LESS_ROUNDS do, on all answers: matrices seen that often hardly move any more."""

LESS_ROUNDS = 2
"""Rounds of each member on a crowd of MANY answers."""

TRUST = 10.0
"""How held-out scores become shares: a member that predicts answers worse by 0.1 nats each counts e times less."""

LEAST = 0.05
"""A member of a smaller share is left out, and not fitted."""

MOST = 3
"""Members fitted to all answers: those that predict best."""

READ = 50_000
"""Answers in which groups of annotators who copy each other are looked for: of larger crowds, a part of the items."""

THICK = 25
"""Shared items for each cell of a pair's table from which co-occurrences are taken for identified."""

THIN = 3
"""Shared items for each cell from which co-occurrences are tried: they must then be FAR likelier."""

FAR = 2.0
"""Nats for each annotator that a start from thin co-occurrences must be likelier than one from votes. Where annotators
know something, the two differ by less; where most of them mislead, as votes do then, by far more."""


@dataclass(frozen=True, eq=False)
class Learnt:
    """The members fitted to a crowd, and what was found on the way."""

    base: Fitted  # the first fit, to all answers alike
    dependence: Dependence
    members: tuple[Member, ...]
    shares: Floats  # (members,), sum 1
    fits: tuple[Fitted, ...]  # of the members whose share is not 0
    forecasts: tuple[Forecast, ...]  # of all members, fitted without the held-out answers; empty on a frame
    heldout_answers: int
    start: str
    answers: Floats  # (annotators,)
    shared: float = USUAL  # probability that annotators err together
    groups: tuple[tuple[int, ...], ...] = ()  # annotators who copy each other

    @property
    def model(self) -> Model:
        """The members' models, averaged by their shares."""
        first = self.fits[0].model
        prior, confusion = np.zeros_like(first.prior), np.zeros_like(first.confusion)
        for fit, share in self.mixture:
            prior += share * fit.model.prior
            confusion += share * fit.model.confusion
        return Model(normalised(prior), columns(confusion), first.classes, first.annotators)

    @property
    def mixture(self) -> tuple[tuple[Fitted, float], ...]:
        """The fits, each with its share."""
        return tuple(zip(self.fits, self.shares[self.shares > 0].tolist(), strict=True))

    @property
    def misleading(self) -> float:
        """Share of items that mislead, averaged over members."""
        return sum(share * fit.misleading.share for fit, share in self.mixture if fit.misleading is not None)

    @property
    def information(self) -> Floats:
        """What an answer of each annotator tells about the class, in units of the class's entropy: (annotators,)."""
        return self.dependence.weight * relative_information(self.base.model)

    @property
    def copies(self) -> tuple[Copies, ...]:
        """The groups by name, and what they count as."""
        names, weight = self.base.model.annotators, self.dependence.weight
        return tuple(Copies(tuple(names[m] for m in g), float(weight[list(g)].sum())) for g in self.groups)

    @property
    def skill(self) -> float:
        """Part of the variance of being right that annotators account for."""
        return skill_share(self.model.accuracy, self.answers)

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        asked: list[float | None] = [f.log_probability for f in self.forecasts]
        scores = asked if self.heldout_answers else [None] * len(self.members)
        rows = zip(self.members, scores, self.shares.tolist(), strict=True)
        return tuple(Candidate(m.name, m.about, score, share) for m, score, share in rows)

    @property
    def sentence(self) -> str:
        """What was chosen, in one line."""
        ranked = sorted((c for c in self.candidates if c.share > 0), key=lambda c: -c.share)
        if not self.forecasts:
            return f"One model was fitted ({ranked[0].about}); to choose among several, the answers must be in memory."
        parts = ", ".join(f"{c.name} {100 * c.share:.0f} %" for c in ranked)
        models = "model" if len(ranked) == 1 else "models"
        return f"An average of {len(ranked)} {models}, weighted by how well they predict answers held out: {parts}."


def learn(
    engine: Engine, votes: ExpectedCounts, *, prior: Floats | None = None, progress: Progress | None = None
) -> Learnt:
    """Fit the family; `votes` are the soft counts of vote shares, a `prior` (classes,) is held fixed."""
    tell = _Teller(progress, 2 + 2 * len(FAMILY))
    counts = engine.pair_counts(PARTNERS)
    copied = copying(counts)
    if len(copied.first):
        votes = engine.expected_counts(vote_scores(len(engine.annotators), len(engine.classes), copied.weight))
    base, start = _first_fit(engine, votes, counts, prior, copied.weight)
    ring = _rings(engine, counts, base.model) if isinstance(engine, HasAnnotations) else None
    if ring is not None:
        copied = copied.and_also(ring.dependence)
        begin = _from_votes(engine, copied.weight)
        base, start = fit_member(engine, MIDDLE, begin, prior=prior, weight=copied.weight), "votes"
    tell(base)
    found = copied.and_also(dependence(counts, engine.expected_counts(base.scores)))
    answers = votes.confusion.sum(axis=(1, 2))
    if not isinstance(engine, HasAnnotations):
        fit = fit_member(engine, MIDDLE, base.model, prior=prior, weight=found.weight, rounds=MORE_ROUNDS)
        return Learnt(base, found, (MIDDLE,), np.ones(1), (fit,), (), 0, start, answers)
    options = _Options(prior, found.weight, Misleading.seen_by(base.model, answers))
    held = hold_out(engine, base.model.informativeness)
    begin = base.model if start == "co-occurrences" else _from_votes(held.engine, copied.weight)
    begin = options.plain(held.engine, begin).model
    forecasts = tuple(forecast(held, tell(options.fit(held.engine, member, begin))) for member in FAMILY)
    shares = _shares(forecasts, held)
    rounds = MORE_ROUNDS if answers.sum() < MANY else LESS_ROUNDS
    fits = tuple(tell(options.fit(engine, m, base.model, rounds)) for m, s in zip(FAMILY, shares, strict=True) if s > 0)
    groups = () if ring is None else ring.groups
    apart = _one_of_each(engine, base.model, found.weight, groups)
    shared = shared_errors(*apart, prior, EXPLAINED if groups else USUAL)
    return Learnt(base, found, FAMILY, shares, fits, forecasts, held.n_answers, start, answers, shared, groups)


def _rings(engine: HasAnnotations, counts: PairCounts, model: Model) -> Rings | None:
    """The groups of copies, looked for in a part of a large crowd."""
    some: Any = glimpse(engine, READ)
    return rings(some, counts if some is engine else some.pair_counts(PARTNERS), model)


def _one_of_each(
    engine: HasAnnotations, model: Model, weight: Floats, groups: tuple[tuple[int, ...], ...]
) -> tuple[HasAnnotations, Model, Floats]:
    """The crowd with one annotator of each group, the busiest: what errors are shared beyond the groups shows there."""
    if not groups:
        return engine, model, weight
    answers = np.bincount(engine.annotations.annotator, minlength=model.n_annotators)
    first = [max(group, key=lambda m: (answers[m], -m)) for group in groups]
    keep = np.setdiff1d(np.arange(model.n_annotators), [m for group in groups for m in group if m not in first])
    worth = weight.copy()
    worth[first] = 1.0
    people = tuple(model.annotators[m] for m in keep)
    some: Any = engine
    fewer: HasAnnotations = replace(some, annotations=engine.annotations.select(keep))
    return fewer, Model(model.prior, model.confusion[keep], model.classes, people), worth[keep]


@dataclass(frozen=True, eq=False)
class _Options:
    prior: Floats | None
    weight: Floats
    misleading: Misleading

    def fit(self, engine: Engine, member: Member, start: Model, rounds: int = MORE_ROUNDS) -> Fitted:
        return fit_member(
            engine,
            member,
            start,
            prior=self.prior,
            weight=self.weight,
            misleading=self.misleading,
            rounds=rounds,
        )

    def plain(self, engine: Engine, start: Model) -> Fitted:
        return fit_member(engine, MIDDLE, start, prior=self.prior, weight=self.weight)


@dataclass(eq=False)
class _Teller:
    """Hands fits through, and tells the caller's progress of each."""

    progress: Progress | None
    limit: int
    done: int = 0

    def __call__(self, fit: Fitted) -> Fitted:
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, self.limit, fit.log_likelihood)
        return fit


def _from_votes(engine: Engine, weight: Floats) -> Model:
    votes = engine.expected_counts(vote_scores(len(engine.annotators), len(engine.classes), weight))
    return start_from(engine, votes, MIDDLE)


def _first_fit(
    engine: Engine, votes: ExpectedCounts, counts: PairCounts, prior: Floats | None, weight: Floats
) -> tuple[Fitted, str]:
    """The middle member from votes or, where pair counts identify the crowd and it is likelier, from these.

    Thin pair counts must make it far likelier.
    """

    def fit(begin: Model, rounds: int) -> Fitted:
        return fit_member(engine, MIDDLE, begin, prior=prior, weight=weight, rounds=rounds)

    begin, start = start_from(engine, votes, MIDDLE), "votes"
    found = multispa(counts) if identified(counts, THIN) else None
    if found is None or found.model is None or found.status is Status.FALLBACK:
        return fit(begin, ROUNDS), start
    both = [fit(model, MORE_ROUNDS) for model in (begin, found.model)]
    margin = 0.0 if identified(counts) else FAR * counts.n_annotators
    if both[1].log_likelihood > both[0].log_likelihood + margin:
        return fit(both[1].model, ROUNDS - MORE_ROUNDS), "co-occurrences"
    return fit(both[0].model, ROUNDS - MORE_ROUNDS), "votes"


def identified(counts: PairCounts, thick_from: float = THICK) -> bool:
    """Whether most annotators are in pairs that share `thick_from` items for each cell of their table of answers."""
    thick = counts.kept(trusted_blocks(counts) & (counts.shared >= thick_from * counts.n_classes**2))
    covered = np.unique(np.concatenate([thick.first, thick.second]))
    return len(covered) >= max(3, counts.n_annotators / 2)


def relative_information(model: Model) -> Floats:
    """What one answer tells about the class, as a share of all there is to know: (annotators,)."""
    prior = np.maximum(model.prior, 1e-300)
    return model.informativeness / max(-float(prior @ np.log2(prior)), 1e-12)


def _shares(forecasts: tuple[Forecast, ...], held: HeldOut) -> Floats:
    if held.n_answers == 0:
        return np.full(len(forecasts), 1 / len(forecasts))
    scores = np.array([f.log_probability for f in forecasts])
    shares = normalised(np.exp(TRUST * (scores - scores.max())))
    few = shares < max(LEAST, float(np.sort(shares)[-MOST]))
    return normalised(np.where(few, 0.0, shares))
