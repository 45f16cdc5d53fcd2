"""Groups that copy each other and the votes a crowd is really worth: an engine, a model and pair tests in, groups out.

Six copies of one judge look, to a model with one hidden class, like six excellent judges: the class it finds is then
their common opinion, and it is the honest rest that seems to collude. The data alone cannot say which camp sees the
truth. The reading taken here is the cautious one: of the groups that explain all excess agreement when counted as a
single vote, the one whose members agree with each other most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.counts import PairCounts
from covote.engines.base import Engine, ExpectedCounts
from covote.methods.agreement import LEVEL, Null, PairTests, fit_work, pair_tests, plain_model
from covote.methods.loop import iterate
from covote.methods.majority_vote import vote_scores
from covote.methods.parameters import Parameters
from covote.model import Model, Scores, columns, normalised

Floats = NDArray[np.float64]
Group = tuple[int, ...]

MATERIAL = 0.1
"""Error correlations below this are not worth a word, however significant."""

ECHO = 0.4
"""Once a group counts as one vote, which is a little too few, its members seem to agree with outsiders too: by less
than this share of the correlation within the group, it is no sign of anything."""

_MOST_CLUSTERED, _MOST_GROUPS, _ANSWERS_READ = 300, 4, 1_000_000
_SETTLE = 10.0  # shared items at which a pair's agreement counts half in the clustering


@dataclass(frozen=True)
class CopyGroup:
    """Annotators who answer alike beyond what the class explains."""

    annotators: tuple[Any, ...]
    correlation: float  # mean error correlation within the group
    effective_votes: float  # n / (1 + (n - 1) correlation)


@dataclass(frozen=True, eq=False)
class Reading:
    """The groups found, the model in which each counts as one vote, and the tests of the pairs under it."""

    groups: tuple[Group, ...]
    model: Model
    tests: PairTests
    unexplained: int  # alarming pairs that no group covers


def effective_votes(size: int, correlation: float) -> float:
    """Independent votes that `size` votes with equally correlated errors are worth.

    >>> effective_votes(6, 0.0), effective_votes(6, 1.0), effective_votes(6, 0.5)
    (6.0, 1.0, 1.7142857142857142)
    """
    return size / (1 + (size - 1) * min(max(correlation, 0.0), 1.0))


def read_groups(engine: Engine, pairs: PairCounts, model: Model, null: Null | None, *, smallest: int = 2) -> Reading:
    """Find the groups of annotators, of `smallest` or more, behind the excess agreement of `pairs` under `model`.

    Candidates are the branches of a tree of agreement. Adding one group at a time, each counted as a single vote in a
    new fit, the search stops when no alarming pair lies outside the groups.
    """
    groups: tuple[Group, ...] = ()
    best = _reading(engine, pairs, model, null, groups)
    suspects = best.tests.alarming(LEVEL) & (best.tests.correlation >= MATERIAL)
    candidates = [c for c in _candidates(pairs, suspects) if len(c) >= smallest]
    while best.unexplained and len(groups) < _MOST_GROUPS:
        free = [c for c in candidates if not set(c) & {m for group in groups for m in group}]
        tried = [_reading(engine, pairs, model, null, (*groups, c)) for c in free]
        if not tried:
            break
        clear = [r for r in tried if r.unexplained == 0]
        # candidates come tightest first: of those that explain everything the first is taken
        found = clear[0] if clear else min(tried, key=lambda r: r.unexplained)
        if found.unexplained >= best.unexplained:
            break
        best, groups = found, found.groups
    tight = tuple(_tightened(best, group) for group in best.groups)
    return best if tight == best.groups else _reading(engine, pairs, model, null, tight)


def _candidates(pairs: PairCounts, suspects: NDArray[np.bool_]) -> list[Group]:
    """Branches of the tree of agreement, tightest first, and the alarming pairs; fewer where a fit takes long."""
    work = fit_work(float(pairs.label_counts.sum()), pairs.n_annotators, pairs.n_classes)
    most = int(np.clip(_ANSWERS_READ // work, 6, 40))
    tree = branches(pairs)
    worst = [p for p in np.argsort(-pairs.shared, kind="stable") if suspects[p]][: most // 2]
    alone = [tuple(sorted((int(pairs.first[p]), int(pairs.second[p])))) for p in worst]
    return [*tree[:most], *(pair for pair in alone if pair not in tree[:most])]


def _tightened(reading: Reading, group: Group) -> Group:
    """The group without members whose errors go with the others' less than half as closely as is usual in it."""
    c, place = reading.tests.counts, {m: i for i, m in enumerate(group)}
    within = np.full((len(group), len(group)), np.nan)
    for p in np.flatnonzero(np.isin(c.first, group) & np.isin(c.second, group)).tolist():
        i, j = place[int(c.first[p])], place[int(c.second[p])]
        within[i, j] = within[j, i] = reading.tests.correlation[p]
    if len(group) < 4:
        return group
    met = ~np.isnan(within)
    mean = np.where(met, within, 0.0).sum(axis=1) / np.maximum(met.sum(axis=1), 1)
    return tuple(m for m, value in zip(group, mean, strict=True) if value >= np.median(mean) / 2)


def group_table(reading: Reading) -> tuple[CopyGroup, ...]:
    """Each group with the mean correlation of its pairs and what it is worth."""
    c = reading.tests.counts
    table = []
    for group in reading.groups:
        inside = np.isin(c.first, group) & np.isin(c.second, group)
        correlation = (
            float(np.average(reading.tests.correlation[inside], weights=c.shared[inside])) if inside.any() else 0.0
        )
        names = tuple(c.annotators[m] for m in sorted(group))
        table.append(CopyGroup(names, correlation, effective_votes(len(group), correlation)))
    return tuple(table)


def branches(pairs: PairCounts) -> list[Group]:
    """Groups of annotators that agree with each other: branches of an average-linkage tree, tightest first."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    answers = np.zeros(pairs.n_annotators)
    np.add.at(answers, pairs.first, pairs.shared)
    np.add.at(answers, pairs.second, pairs.shared)
    who = np.sort(np.argsort(-answers, kind="stable")[:_MOST_CLUSTERED])
    who = who[answers[who] > 0]
    if len(who) < 3:
        return []
    likeness = np.zeros((pairs.n_annotators, pairs.n_annotators))
    likeness[pairs.first, pairs.second] = likeness[pairs.second, pairs.first] = _kappa(pairs)
    likeness = likeness[np.ix_(who, who)]
    distance = 1 - likeness
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), "average")
    members: list[list[int]] = [[i] for i in range(len(who))]
    found: list[tuple[float, Group]] = []
    for a, b, height, _ in tree:
        members.append(members[int(a)] + members[int(b)])
        if len(members[-1]) < len(who):
            found.append((float(height), tuple(sorted(int(who[i]) for i in members[-1]))))
    return [group for _, group in sorted(found)]


def _kappa(pairs: PairCounts) -> Floats:
    """Agreement beyond chance of each pair (Cohen), drawn towards 0 where few items are shared; (pairs,)."""
    share = pairs.blocks / pairs.shared[:, None, None]
    same = np.einsum("pii->p", share)
    chance = np.einsum("pi,pi->p", share.sum(axis=2), share.sum(axis=1))
    kappa = (same - chance) / np.maximum(1 - chance, 1e-9)
    return np.asarray(np.clip(kappa, 0, 1) * pairs.shared / (pairs.shared + _SETTLE))


def _reading(engine: Engine, pairs: PairCounts, model: Model, null: Null | None, groups: tuple[Group, ...]) -> Reading:
    vote = np.ones(pairs.n_annotators)
    label = np.full(pairs.n_annotators, -1)
    for g, group in enumerate(groups):
        vote[list(group)], label[list(group)] = 1 / _present(pairs, group), g
    fitted = weighted_fit(engine, vote) if groups else model
    found = pair_tests(pairs, fitted, null)
    inside = (label[pairs.first] >= 0) & (label[pairs.first] == label[pairs.second])
    open_pairs = found.alarming(LEVEL) & (found.correlation >= _worth_a_word(found, label, len(groups))) & ~inside
    return Reading(groups, fitted, found, int(open_pairs.sum()))


def _present(pairs: PairCounts, group: Group) -> Floats:
    """Members of the group, on average, among the answers to an item that a member answered: (members,)."""
    inside = np.isin(pairs.first, group) & np.isin(pairs.second, group)
    met = np.zeros(pairs.n_annotators)
    for end in (pairs.first[inside], pairs.second[inside]):
        np.add.at(met, end, pairs.shared[inside])
    answers = pairs.label_counts.sum(axis=1)
    members = list(group)
    return np.asarray(1 + met[members] / np.maximum(answers[members], 1e-300))


def _worth_a_word(found: PairTests, label: NDArray[np.int64], n_groups: int) -> Floats:
    """The correlation from which a pair counts, (pairs,): more for pairs that touch a group, given by its own."""
    first, second = label[found.counts.first], label[found.counts.second]
    least = np.full(len(first), MATERIAL)
    for g in range(n_groups):
        inside = (first == g) & (second == g)
        echo = ECHO * float(found.correlation[inside].mean()) if inside.any() else 0.0
        touched = (first == g) | (second == g)
        least[touched] = np.maximum(least[touched], echo)
    return least


def weighted_fit(engine: Engine, vote: Floats, *, max_iter: int = 60, tol: float = 1e-5) -> Model:
    """Dawid-Skene with the log-probabilities of annotator m counted `vote[m]` times, from as weighted a vote."""
    M, K = len(engine.annotators), len(engine.classes)
    layout = Parameters(M, K)
    soft = engine.expected_counts(vote_scores(M, K, vote))

    def packed(prior: Floats, counts: Floats) -> Floats:
        return layout.pack(normalised(prior), columns(counts + 1 / K))

    def counted(x: Floats) -> ExpectedCounts:
        prior, confusion = layout.unpack(x)
        return engine.expected_counts(Scores(np.log(confusion), np.log(prior)).weighted(vote))

    def step(x: Floats) -> tuple[Floats, float]:
        soft = counted(x)
        return packed(soft.prior, soft.confusion), soft.log_likelihood

    run = iterate(step, packed(soft.prior + 1e-3, soft.confusion), max_iter=max_iter, tol=tol)
    return plain_model(counted(run.state), engine.classes, engine.annotators)
