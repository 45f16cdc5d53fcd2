"""`python -m benchmarks.drawn_situations`: crowds drawn from one seed, by kind of situation -> tables of errors.

The default is not tuned on these crowds. Beside it: votes, Dawid-Skene from votes, and the labels of somebody who knows
the model that the crowd was drawn from.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from benchmarks.drawn_model import Drawn, World, matrices, plain
from benchmarks.markdown import table
from covote.default.fit_default import fit_default
from covote.engines.memory import MemoryEngine
from covote.estimators.registry import make
from covote.score import error_rate
from covote.simulate import paper_model

SEED = 20261118
DRAWS = 30  # of every kind that is drawn at random
MOST = 20_000  # answers of a crowd that is drawn at random


def _between(rng, low, high):
    """A whole number, drawn evenly on the scale of logarithms."""
    return round(np.exp(rng.uniform(np.log(low), np.log(high))))


def sizes(rng, people=(2, 200)):
    """Annotators, classes, answers per item and items of a crowd."""
    people, classes = _between(rng, *people), _between(rng, 2, 30)
    answers = min(_between(rng, 1, 50), people)
    return people, classes, answers, max(60, min(_between(rng, 100, 4000), MOST // answers))


def _usual(rng, people, classes, low=0.5, high=0.95):
    """Matrices of a usual crowd and class shares."""
    return matrices(rng.uniform(low, high, people), classes, rng), rng.dirichlet(np.full(classes, 5.0))


def independent(rng):
    people, K, answers, items = sizes(rng)
    return plain(*_usual(rng, people, K)).draw(items, answers, rng)


def spammers(rng):
    people, K, answers, items = sizes(rng, (4, 200))
    crowd, prior = _usual(rng, people, K)
    n = int(people * rng.uniform(0.1, 0.5))
    crowd[:n] = rng.dirichlet(np.ones(K), size=n)[:, :, None]
    return plain(crowd, prior).draw(items, answers, rng)


def hard_items(rng):
    """On hard items everybody answers at random, each with its own label shares."""
    people, K, answers, items = sizes(rng)
    crowd, prior = _usual(rng, people, K)
    share = rng.uniform(0.1, 0.4)
    random = np.repeat((crowd @ prior)[:, :, None], K, axis=2)
    world = World(
        np.concatenate([crowd, random], axis=2), np.append((1 - share) * prior, share * prior), np.tile(np.arange(K), 2)
    )
    return world.draw(items, answers, rng)


def misleading_items(rng):
    """Some items look like another class, and most annotators follow the look."""
    people, K, answers, items = sizes(rng)
    crowd, prior = _usual(rng, people, K)
    share, follow, look = rng.uniform(0.1, 0.3), rng.uniform(0.5, 0.8), np.roll(np.arange(K), 1)
    fooled = follow * crowd[:, :, look] + (1 - follow) * crowd
    world = World(
        np.concatenate([crowd, fooled], axis=2), np.append((1 - share) * prior, share * prior), np.tile(np.arange(K), 2)
    )
    return world.draw(items, answers, rng)


def good_minority(rng):
    people, K, answers, items = sizes(rng, (5, 200))
    crowd, prior = _usual(rng, people, K, 1 / K + 0.05, 1 / K + 0.25)
    n = max(1, int(people * rng.uniform(0.15, 0.35)))
    crowd[:n] = matrices(rng.uniform(0.88, 0.97, n), K, rng)
    return plain(crowd, prior).draw(items, answers, rng)


def copies(rng):
    """Some annotators take the answer of one other in 95 to 100 % of their answers."""
    people, K, answers, items = sizes(rng, (5, 60))
    crowd, prior = _usual(rng, people, K)
    n = max(2, int(people * rng.uniform(0.2, 0.5)))
    world = World(crowd, prior, np.arange(K), np.arange(1, n), rng.uniform(0.95, 1.0))
    return world.draw(items, answers, rng)


def one_sided(rng):
    """Many annotators give their favourite label to most items, whatever these are."""
    people, K, answers, items = sizes(rng, (4, 200))
    crowd, prior = _usual(rng, people, K)
    for m in range(int(people * rng.uniform(0.3, 0.7))):
        bias = rng.uniform(0.5, 0.9)
        crowd[m] = (1 - bias) * crowd[m] + bias * np.eye(K)[rng.integers(K)][:, None]
    return plain(crowd, prior).draw(items, answers, rng)


def skewed_prior(rng):
    people, K, answers, items = sizes(rng)
    crowd, prior = _usual(rng, people, K)
    common = rng.uniform(0.75, 0.95)
    prior = np.append(common, (1 - common) * prior[1:] / prior[1:].sum())
    return plain(crowd, prior).draw(items, answers, rng)


def one_knows(rng):
    """Case 1 of the paper: one annotator knows, all others answer at random."""
    model = paper_model("case1", n_annotators=25, n_classes=3, seed=rng)
    return plain(model.confusion, np.full(3, 1 / 3)).draw(2500, 8, rng)


def swapped(rng, inverted, right, K, people=10, wrong=None, items=800):
    """Complete items; some annotators have a swapped key: they say the next class."""
    crowd = matrices(np.full(people, right), K, rng)
    key = np.roll(np.eye(K), 1, axis=0)
    crowd[:inverted] = key @ matrices(np.full(inverted, right if wrong is None else 1 - wrong), K, rng)
    return plain(crowd, np.full(K, 1 / K)).draw(items, people, rng)


def constant(rng, n, K, items=800):
    """Complete items; some of ten annotators always give the first label."""
    crowd, prior = _usual(rng, 10, K, 0.65, 0.9)
    crowd[:n] = np.eye(K)[0][:, None] * (1 - 1e-9) + 1e-9 / K
    return plain(crowd, prior).draw(items, 10, rng)


def team(rng, people, right, K, items):
    crowd = np.tile(right * np.eye(K) + (1 - right) / (K - 1) * (1 - np.eye(K)), (people, 1, 1))
    return plain(crowd, np.full(K, 1 / K)).draw(items, people, rng)


def ring(seed, K, told):
    """Nine judges on complete items; six take the answer of the first in 80 %."""
    rng, N = np.random.default_rng(seed), 1500
    prior = rng.dirichlet(np.full(K, 5.0))
    truth = rng.choice(K, N, p=prior)
    right = rng.uniform(0.65, 0.85, 9)
    wrong = np.where(np.eye(K, dtype=bool), 0, rng.dirichlet(np.ones(K), size=(9, K)).transpose(0, 2, 1))
    crowd = right[:, None, None] * np.eye(K) + (1 - right)[:, None, None] * wrong / wrong.sum(axis=1, keepdims=True)
    who = rng.permuted(np.tile(np.arange(9), (N, 1)), axis=1).ravel()
    item = np.repeat(np.arange(N), 9)
    cumulative = np.cumsum(crowd[who, :, truth[item]], axis=1)
    label = np.minimum((rng.random(len(item))[:, None] > cumulative).sum(axis=1), K - 1)
    chance, first = rng.random(len(item)), label[who == 0]
    label = np.where((who >= 1) & (who <= 6) & (chance < 0.8), first[item], label)
    answers = np.full((N, 9), -1)
    answers[item, who] = label
    oracle = World(crowd, prior, np.arange(K), np.arange(1, 7), 0.8).posterior(answers)
    groups = {m: "ring" if m < 7 else m for m in range(9)} if told else None
    return Drawn(answers, truth, oracle, groups)


RANDOM = {
    "independent annotators": independent,
    "spammers, 10 to 50 %": spammers,
    "hard items, 10 to 40 %": hard_items,
    "misleading items, 10 to 30 %": misleading_items,
    "a good minority": good_minority,
    "true copies, 20 to 50 %": copies,
    "one-sided annotators, 30 to 70 %": one_sided,
    "skewed class shares": skewed_prior,
}


def cases(draws=DRAWS):
    """Functions that draw a crowd, by kind of situation."""
    found = {name: [draw] * draws for name, draw in RANDOM.items()}
    found["one knows, all others at random"] = [one_knows] * 5
    found["swapped keys, 1 to 4 of 10"] = [
        lambda rng, n=n, p=p, K=K: swapped(rng, n, p, K) for n in (1, 2, 3, 4) for p in (0.65, 0.75, 0.8, 0.9) for K in (2, 3, 5)
    ]  # fmt: skip
    found["seven right in 70 %, two inverted"] = [lambda rng: swapped(rng, 2, 0.7, 2, people=9, wrong=0.05)] * 8
    found["constant answerers, 1 to 6 of 10"] = [
        lambda rng, n=n, K=K: constant(rng, n, K) for n in range(1, 7) for K in (2, 2, 3, 5)
    ]
    for p in (0.7, 0.92, 0.99):
        found[f"teams of 3, 5, 7 right in {100 * p:.0f} %"] = [
            lambda rng, m=m, p=p, K=K, n=n: team(rng, m, p, K, n) for m in (3, 5, 7) for K in (2, 5) for n in (100, 600, 5000)
        ]  # fmt: skip
    for K in (2, 4):
        for told in (False, True):
            name = f"nine judges, {K} classes, six copy one, groups {'given' if told else 'not given'}"
            found[name] = [lambda _, s=s, K=K, told=told: ring(s, K, told) for s in range(3)]
    return found


def judged(crowd):
    """Errors in percent of votes, Dawid-Skene, the default, who knows the model; and what the default announces."""
    a = crowd.annotations
    engine = MemoryEngine(a)
    p = engine.posterior(fit_default(engine, groups=crowd.groups).scores)
    answers = [make(m).fit(a).posterior_ for m in ("majority-vote", "mv-ds")]
    errors = [100 * error_rate(q, crowd.truth) for q in (*answers, p, crowd.oracle)]
    return [*errors, 100 * (1 - p.max(axis=1).mean())]


def measured(draws=DRAWS, seed=SEED):
    """By kind, one row for each draw: see `judged`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Dawid-Skene creeps on some crowds
        return {
            name: np.array([judged(draw(np.random.default_rng([seed, k, n]))) for n, draw in enumerate(all_of_kind)])
            for k, (name, all_of_kind) in enumerate(cases(draws).items())
        }


def row(name, found):
    votes, plain_ds, auto, _, announced = found.T
    cells = [f"{found[:, c].mean():.1f}" for c in (0, 1, 2, 3)]
    honest = (np.abs(announced - auto) <= 1) | ((announced >= auto / 2) & (announced <= 2 * auto))
    cells += [f"{np.mean(auto > votes + 1):.0%} / {np.mean(auto > plain_ds + 1):.0%}", f"{np.max(auto - votes):+.1f}"]
    return [
        name,
        len(found),
        *cells,
        f"{announced.mean():.1f}",
        f"{np.mean(announced - auto):+.1f}",
        f"{honest.mean():.0%}",
    ]


def tables(draws=DRAWS):
    found = measured(draws)
    head = ["kind of situation", "draws", "votes", "mv-ds", "auto", "who knows the model"]
    head += [
        "worse by a point than votes / mv-ds",
        "worst against votes",
        "announced",
        "announced minus true",
        "honest",
    ]
    text = (
        f"{sum(map(len, found.values()))} crowds drawn from one seed; mean error in percent. Honest: the announced error is between "
        "half and twice the true one, or within a point of it."
    )
    return ["### Crowds that are drawn", text, table(head, [row(*one) for one in found.items()])]


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.drawn_situations", description=__doc__)
    parser.add_argument(
        "--draws", type=int, default=DRAWS, help=f"of every kind that is drawn at random; {DRAWS} by default"
    )
    print("\n\n".join(tables(parser.parse_args().draws)))


if __name__ == "__main__":
    main()
