"""Crowds that are drawn: kinds of crowds in; error and calibration of the default on each, a table, out.

A default that was chosen on real crowds must also be right where its model is: on annotators who err independently.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from covote.annotations import Annotations, Vocabulary
from covote.estimators.auto import Auto
from covote.estimators.dawid_skene import DawidSkene, MajorityVote
from covote.score import calibration_error, error_rate
from covote.simulate import paper_model

SEEDS = range(3)


@dataclass(frozen=True)
class Kind:
    """A kind of crowd: how annotators err, and how many answer."""

    name: str
    errors: str = "independent"  # or alike, spammers, random, hard items, fooled, copies, ring
    classes: int = 3
    answers: int = 5  # to an item
    items: int = 4000
    people: int = 40
    low: float = 0.45
    high: float = 0.95


KINDS = (
    *(
        Kind(f"independent, {K} classes, {n} answers", classes=K, answers=n, items=items)
        for K in (2, 5)
        for n, items in ((3, 500), (3, 4000), (10, 500), (10, 4000))
    ),
    Kind("independent, 17 answers an annotator", people=300, items=1000),
    Kind("independent and all alike", "alike"),
    Kind("independent, a third spammers", "spammers"),
    Kind("the paper's case 1: one knows, all others at random", "random", answers=8, people=25),
    Kind("items hard for everybody", "hard items", answers=10),
    Kind("one item in four fools annotators", "fooled", answers=10),
    Kind("a third copies one annotator", "copies", answers=10),
    *(
        Kind(f"nine judges, {K} classes, six copy one", "ring", K, answers=9, people=9, items=1500, low=0.65, high=0.85)
        for K in (2, 4)
    ),
)


def confusions(kind, rng):
    """(annotators, labels, classes): each annotator errs in its own way."""
    K, people = kind.classes, kind.people
    if kind.errors == "random":
        return paper_model("case1", n_annotators=people, n_classes=K, seed=rng).confusion
    right = (
        np.full(people, (kind.low + kind.high) / 2)
        if kind.errors == "alike"
        else rng.uniform(kind.low, kind.high, people)
    )
    wrong = np.where(np.eye(K, dtype=bool), 0, rng.dirichlet(np.ones(K), size=(people, K)).transpose(0, 2, 1))
    confusion = right[:, None, None] * np.eye(K) + (1 - right)[:, None, None] * wrong / wrong.sum(axis=1, keepdims=True)
    if kind.errors == "spammers":
        confusion[: people // 3] = rng.dirichlet(np.ones(K), size=people // 3)[:, :, None]
    return confusion  # fmt: skip


def drawn(kind, seed):
    """Annotations and truth of one crowd."""
    rng = np.random.default_rng(seed)
    K, N = kind.classes, kind.items
    truth = rng.choice(K, N, p=rng.dirichlet(np.full(K, 5.0)))
    confusion = confusions(kind, rng)
    who = rng.permuted(np.tile(np.arange(kind.people), (N, 1)), axis=1)[:, : kind.answers].ravel()
    item = np.repeat(np.arange(N), kind.answers)

    def answers(annotator, of):
        cumulative = np.cumsum(confusion[annotator, :, truth[of]], axis=1)
        return np.minimum((rng.random(len(of))[:, None] > cumulative).sum(axis=1), K - 1)

    label, chance = answers(who, item), rng.random(len(item))
    if kind.errors == "hard items":
        label = np.where(chance < rng.beta(0.7, 1.5, N)[item], rng.integers(0, K, len(item)), label)
    if kind.errors == "fooled":
        fools = rng.random(N) < 0.25
        label = np.where(fools[item] & (chance < 0.7), rng.integers(0, K, N)[item], label)
    if kind.errors == "copies":
        first = answers(np.zeros(N, int), np.arange(N))
        label = np.where((who < kind.people // 3) & (chance < 0.8), first[item], label)
    if kind.errors == "ring":
        first = label[who == 0]  # everybody answers every item
        label = np.where((who >= 1) & (who <= 6) & (chance < 0.8), first[item], label)
    names = [Vocabulary(np.arange(n)) for n in (N, kind.people, K)]
    return Annotations.from_codes(item, who, label, items=names[0], annotators=names[1], classes=names[2]), truth


def row(kind):
    """Means over seeds: how probable shared errors are held, errors and calibration errors."""
    found = []
    for seed in SEEDS:
        a, truth = drawn(kind, seed)
        auto, votes = Auto().fit(a), MajorityVote().fit(a)
        plain = DawidSkene(init="majority", smoothing=1e-6, diagonal=0.0).fit(a)
        fits = [f.posterior_ for f in (auto, votes, plain)]
        found.append(
            [auto.choice_.shared, *(100 * error_rate(p, truth) for p in fits), *(calibration_error(p, truth) for p in fits)]
        )  # fmt: skip
    mean = np.mean(found, axis=0)
    return [
        kind.name,
        f"{kind.items}",
        f"{mean[0]:.2f}",
        *(f"{v:.1f}" for v in mean[1:4]),
        *(f"{v:.3f}" for v in mean[4:]),
    ]


def drawn_table():
    """The whole table, in Markdown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # plain Dawid-Skene creeps on some crowds
        rows = [row(kind) for kind in KINDS]
    head = ["crowd", "items", "err together, says `auto`", "error: auto", "majority vote", "plain Dawid-Skene"]
    head += ["calibration error: auto", "majority vote", "plain Dawid-Skene"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(r) + " |" for r in rows)])


if __name__ == "__main__":
    print(drawn_table())
