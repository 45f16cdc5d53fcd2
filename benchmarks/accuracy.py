"""`python -m benchmarks.accuracy`: real crowds with truth -> how good the default is on crowds it was not fitted to.

The default is scored only with whole families left out: the two learnt numbers of its settings are chosen on all other
families, by mean log-loss, and scored on the family left out. Errors count a tie as the fraction of tied classes that
is right, log-loss raises probabilities to at least 0.001, calibration error has ten equal bins of the top probability,
and of repeated answers the first counts.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.families import RULES, by_family, family
from benchmarks.markdown import table, write_measured
from covote.datasets import KNOWN, dataset_names, load_dataset
from covote.default.fit_default import fit_default
from covote.default.settings import DEFAULT
from covote.engines.memory import MemoryEngine
from covote.estimators.registry import make
from covote.score import calibration_error, item_credit

DOCS = Path(__file__).parent.parent / "docs"
AUTO, VOTES = "auto", "majority-vote"
RIVALS = (VOTES, "mv-ds", "multispa-ds")
METHODS = (AUTO, *RIVALS)
GRID = tuple(itertools.product((0.8, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0), (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)))
"""Values of `vote_weight` and `floor` that are compared."""


@dataclass(frozen=True)
class Score:
    """One method on one crowd; `credit` is 1 for a right item, (items with truth,)."""

    credit: np.ndarray
    log_loss: float
    calibration: float
    announced: float  # percent: what the confidences make of the error

    @property
    def error(self):
        return 100 * (1 - self.credit.mean())


def log_loss(posterior, truth):
    """Mean -log of the probability of the true class; of a class that nobody named it is the least, 0.001."""
    known = truth != -1
    right = np.where(truth[known] >= 0, posterior[known, np.maximum(truth[known], 0)], 0.0)
    return float(-np.log(np.maximum(right, 0.001)).mean())


def score(posterior, truth):
    known = truth != -1
    announced = 100 * (1 - posterior[known].max(axis=1).mean())
    credit = item_credit(posterior, truth)
    return Score(credit, log_loss(posterior, truth), calibration_error(posterior, truth, bins=10), announced)


@dataclass(frozen=True)
class Fitted:
    """The default fitted to a crowd; its answers under other values of the two learnt numbers cost one pass each."""

    engine: MemoryEngine
    fit: object
    truth: np.ndarray

    def posterior(self, vote_weight, floor):
        scores, power = self.fit.scores, self.fit.details["explanation"].power
        if scores.pool is None:  # no model fits this crowd: nothing is learnt
            return self.engine.posterior(scores)
        rest = {"vote_weight": vote_weight * (1 - power), "floor": DEFAULT.least_floor + floor * (1 - power)}
        return self.engine.posterior(replace(scores, pool=replace(scores.pool, **rest)))


def fitted(data):
    engine = MemoryEngine(data.annotations.annotations)
    one = Fitted(engine, fit_default(engine), data.truth_codes)
    same = one.posterior(DEFAULT.vote_weight, DEFAULT.floor)
    assert np.array_equal(same, engine.posterior(one.fit.scores)), "the pool is not put together as in covote.default"
    return one


def crowds(names=None):
    """The data sets that hold answers of a crowd, by name."""
    found = [n for n in dataset_names() if n not in KNOWN or KNOWN[n].kind != "uci"]
    return {name: load_dataset(name, duplicates="first") for name in names or found}


def losses(fits):
    """Log-loss of the default on every crowd at every point of the grid."""
    return {
        name: np.array([log_loss(one.posterior(*point), one.truth) for point in GRID]) for name, one in fits.items()
    }


def learnt(loss, without=None):
    """The point of the grid with the least log-loss, families weighing alike; one family can be left out."""
    families = {f: names for f, names in by_family(loss).items() if f != without}
    return GRID[
        int(np.argmin(np.mean([np.mean([loss[n] for n in names], axis=0) for names in families.values()], axis=0)))
    ]


def scored(data, fits, loss):
    """Scores by method and crowd, and the numbers that were chosen for each family."""
    chosen = {f: learnt(loss, without=f) for f in by_family(data)}
    results = {}
    for name, one in data.items():
        results[AUTO, name] = score(fits[name].posterior(*chosen[family(name)]), fits[name].truth)
        for method in RIVALS:
            results[method, name] = score(make(method).fit(one.annotations).posterior_, fits[name].truth)
    return results, chosen


def paired(results, name, seed=0):
    """Error of the default minus that of votes on a crowd, in points, with its 90 % bootstrap interval over items."""
    difference = 100 * (results[VOTES, name].credit - results[AUTO, name].credit)
    values, counts = np.unique(difference.round(9), return_counts=True)
    n = len(difference)
    draws = np.random.default_rng(seed).multinomial(n, counts / n, size=4000) @ values / n
    return float(difference.mean()), *map(float, np.quantile(draws, [0.05, 0.95]))


def mean_over_families(value, names):
    return float(np.mean([np.mean([value(n) for n in members]) for members in by_family(names).values()]))


def summary(results, names):
    """Means over sets and over families of every method."""
    rows = []
    for m in METHODS:
        against = {n: results[m, n].error - results[VOTES, n].error for n in names}
        worst = max(against, key=against.get)
        row = [f"{np.mean([results[m, n].error for n in names]):.2f}"]
        row += [f"{mean_over_families(lambda n, m=m: results[m, n].error, names):.2f}"]
        row += [f"{np.mean([getattr(results[m, n], f) for n in names]):.3f}" for f in ("log_loss", "calibration")]
        row += [f"{np.mean([results[m, n].announced - results[m, n].error for n in names]):+.1f}"]
        row += [f"{sum(v > 1 for v in against.values())} / {sum(v < -1 for v in against.values())}"]
        rows.append([m, *row, "" if m == VOTES else f"{against[worst]:+.1f} ({worst})"])
    head = ["method", "mean error over sets", "over families", "log-loss", "calibration error"]
    head += ["announced minus true error", "worse / better than votes by a point", "worst against votes"]
    return table(head, rows)


def by_set(results, names):
    """Every crowd: errors, the difference to votes with its interval, and the announced error."""
    rows = []
    for n in sorted(names, key=lambda n: (family(n), n)):
        gap, low, high = paired(results, n)
        errors = [f"{results[m, n].error:.1f}" for m in METHODS]
        one = results[AUTO, n]
        rows.append([n, family(n), *errors, f"{gap:+.1f} ({low:+.1f} to {high:+.1f})", f"{one.announced:.1f}"])
        rows[-1] += [f"{one.log_loss:.2f}", f"{results[VOTES, n].log_loss:.2f}"]
    head = ["set", "family", *METHODS, "auto minus votes, 90 % interval", "announced by auto", "log-loss", "of votes"]
    return table(head, rows)


def verdict(results, names, chosen):
    """Counts of sets that are worse, and the numbers learnt, in sentences."""
    gaps = {n: paired(results, n) for n in names}
    surely = [n for n, (_, low, _) in gaps.items() if low > 0]
    point = sorted((n for n in names if gaps[n][0] > 1), key=lambda n: -gaps[n][0])
    better = sum(high < 0 for _, _, high in gaps.values())
    listed = ", ".join(f"{n} {gaps[n][0]:+.1f}" for n in point)
    numbers = sorted({f"{a} and {e}" for f, (a, e) in chosen.items() if f in {family(n) for n in names}})
    return (
        f"Of {len(names)} sets the default is surely better than votes on {better} and surely worse on {len(surely)} "
        f"(the whole 90 % interval on one side{': ' + ', '.join(surely) if surely else ''}). It is worse by more than a "
        f"point on {len(point)}{': ' + listed if point else ''}. Numbers learnt with a family left out (`vote_weight` and "
        f"`floor`): {'; '.join(numbers)}."
    )


def tables(results, chosen):
    names = [n for m, n in results if m == AUTO]
    several = [n for n in names if family(n) != RULES]
    parts = [
        f"### {len(several)} real crowds, families left out",
        summary(results, several),
        verdict(results, several, chosen),
    ]
    rules = [n for n in names if family(n) == RULES]
    if rules:
        parts += [f"### {len(rules)} crowds of labelling functions, left out together", summary(results, rules)]
    return [*parts, "### By set, error in percent", by_set(results, names)]


def measure(names=None):
    """Everything: scores by method and crowd, numbers chosen with each family left out, numbers learnt on all."""
    data = crowds(names)
    fits = {name: fitted(one) for name, one in data.items()}
    loss = losses(fits)
    return data, *scored(data, fits, loss), learnt(loss)


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description=__doc__)
    parser.add_argument("--sets", nargs="*", help="data sets; all that the data folders hold by default")
    parser.add_argument("--learn", action="store_true", help="print the numbers learnt on all crowds, and stop")
    parser.add_argument(
        "--write", action="store_true", help="write docs/default.md and docs/how-to-choose.md (minutes)"
    )
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    if chosen.learn:
        weight, floor = learnt(losses({name: fitted(one) for name, one in crowds(chosen.sets).items()}))
        print(
            f"Learnt on all crowds: vote_weight {weight}, floor {floor}. In the settings: {DEFAULT.vote_weight}, {DEFAULT.floor}."
        )
        return
    data, results, left_out, _ = measure(chosen.sets)
    parts = tables(results, left_out)
    print("\n\n".join(parts), flush=True)
    if chosen.write:
        from benchmarks import cost, drawn_situations, situations

        write_measured(DOCS / "default.md", [*parts, *drawn_situations.tables(), *cost.tables()])
        write_measured(DOCS / "how-to-choose.md", situations.tables(results, data))
        print(f"Written: {DOCS / 'default.md'}, {DOCS / 'how-to-choose.md'}")


if __name__ == "__main__":
    main()
