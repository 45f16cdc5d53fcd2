"""Planned against random assignment: how many labels a plan saves at the same error, on drawn crowds.

Run: python -m benchmarks.plan [--items 1000] [--seeds 20] [--rounds 3] [--crowd case2|spammers]

Every item and annotator has its answer drawn beforehand, so both ways of assigning see the same crowd. Random: each
item goes to b annotators drawn at random, b from 2 to 10. Planned: `covote.planning` is asked for a third of a label an
item (one over `--rounds`) at a time and sees the answers before it plans on. After each round both are labelled by the same method (MultiSPA, then
EM). Errors are for the best renaming of the classes, as in the paper's synthetic experiments, since a crowd of case 2
cannot name them. A plan saves 1 - x / b when it reaches, with x labels an item, the error that random assignment has
with b, errors averaged over the seeds; `better` counts the seeds in which it errs less with 0.7 b labels an item.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable

import numpy as np

from covote.annotations import Annotations, Vocabulary
from covote.default.fit_default import fit_default
from covote.engines.memory import MemoryEngine
from covote.methods.align import best_order
from covote.model import Model
from covote.planning import Request, plan_answers
from covote.simulate import paper_model


def case_2(seed: int) -> Model:
    return paper_model("case2", seed=seed)


def crowd_with_spammers(seed: int, n_annotators: int = 25, n_classes: int = 3) -> Model:
    """Half answer blindly (a third of these always the same label), half are right in 55 to 90 % of a class."""
    rng = np.random.default_rng(seed)
    K = n_classes
    matrices = []
    for m in range(n_annotators):
        if m < n_annotators // 2:
            blind = np.eye(K)[m % K] * 0.97 + 0.01 if m % 3 == 0 else rng.dirichlet(np.ones(K))
            matrices.append(np.repeat(blind[:, None], K, axis=1))
        else:
            right = rng.uniform(0.55, 0.9, K)
            columns = [np.insert(rng.dirichlet(np.ones(K - 1)) * (1 - right[k]), k, right[k]) for k in range(K)]
            matrices.append(np.stack(columns, axis=1))
    confusion = np.stack(matrices)
    confusion /= confusion.sum(axis=1, keepdims=True)
    return Model(
        np.full(K, 1 / K), confusion[rng.permutation(n_annotators)], tuple(range(K)), tuple(range(n_annotators))
    )


def all_answers(model: Model, n_items: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """True classes (items,) and what each annotator would answer (items, annotators)."""
    rng = np.random.default_rng(seed + 5000)
    truth = rng.choice(model.n_classes, n_items, p=model.prior)
    cumulative = np.moveaxis(np.cumsum(model.confusion, axis=1)[:, :, truth], 2, 0)  # (items, annotators, labels)
    answers = (rng.random((n_items, model.n_annotators))[:, :, None] > cumulative).sum(axis=2)
    return truth, np.minimum(answers, model.n_classes - 1)


def annotations_of(asked: np.ndarray, answers: np.ndarray, n_classes: int) -> Annotations:
    item, annotator = np.nonzero(asked)
    return Annotations.from_codes(
        item,
        annotator,
        answers[item, annotator],
        items=Vocabulary(np.arange(len(answers))),
        annotators=Vocabulary(np.arange(answers.shape[1])),
        classes=Vocabulary(np.arange(n_classes)),
    )


def error_of(annotations: Annotations, truth: np.ndarray) -> float:
    engine = MemoryEngine(annotations)
    label, K = engine.posterior(fit_default(engine).scores).argmax(axis=1), annotations.n_classes
    table = np.bincount(truth * K + label, minlength=K * K).reshape(K, K).astype(float)
    return float(1 - table[np.arange(K), best_order(table)].sum() / len(truth))


def random_errors(model: Model, n_items: int, seed: int, budgets: Iterable[int]) -> list[float]:
    truth, answers = all_answers(model, n_items, seed)
    rank = np.argsort(np.argsort(np.random.default_rng(seed + 9000).random(answers.shape), axis=1), axis=1)
    return [error_of(annotations_of(rank < b, answers, model.n_classes), truth) for b in budgets]


def planned_errors(
    model: Model, n_items: int, seed: int, until: float, rounds_an_item: int
) -> list[tuple[float, float]]:
    """(labels an item, error) after every round."""
    truth, answers = all_answers(model, n_items, seed)
    asked = np.zeros(answers.shape, bool)
    people, items = tuple(range(model.n_annotators)), tuple(range(n_items))
    curve, known = [], None
    while asked.sum() < until * n_items:
        request = Request(n_items // rounds_an_item, annotators=people, items=items)
        for item, who in plan_answers(known, request, seed=seed).pairs():
            assert not asked[item, who]
            asked[item, who] = True
        known = annotations_of(asked, answers, model.n_classes)
        curve.append((asked.sum() / n_items, error_of(known, truth)))
    return curve


def labels_to_reach(curve: np.ndarray, error: float) -> float:
    """Labels an item at which the curve (rounds, 2) first comes down to the error, between rounds on a line."""
    x, e = curve[:, 0], np.minimum.accumulate(curve[:, 1])
    reached = np.flatnonzero(e <= error)
    if not len(reached):
        return float("inf")
    i = int(reached[0])
    if i == 0:
        return float(x[0])
    return float(x[i - 1] + (x[i] - x[i - 1]) * (e[i - 1] - error) / max(e[i - 1] - e[i], 1e-12))


def measure(
    make: Callable[[int], Model], n_items: int, budgets: Iterable[int], seeds: Iterable[int], rounds_an_item: int = 3
) -> tuple[np.ndarray, np.ndarray]:
    """Errors of random assignment (seeds, budgets), and curves of planned assignment (seeds, rounds, 2)."""
    budgets, seeds = list(budgets), list(seeds)
    errors = [random_errors(make(s), n_items, s, budgets) for s in seeds]
    curves = [planned_errors(make(s), n_items, s, 0.8 * max(budgets), rounds_an_item) for s in seeds]
    return np.array(errors), np.array(curves)


def labels_saved(
    make: Callable[[int], Model], *, n_items: int, budgets: Iterable[int], seeds: Iterable[int], rounds_an_item: int = 3
) -> dict[int, float]:
    """Share of the labels a plan saves at the error of each budget."""
    budgets = list(budgets)
    errors, curves = measure(make, n_items, budgets, seeds, rounds_an_item)
    mean = zip(budgets, errors.mean(axis=0).tolist(), strict=True)
    return {b: 1 - labels_to_reach(curves.mean(axis=0), error) / b for b, error in mean}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3, help="plans per label an item")
    parser.add_argument("--crowd", choices=("case2", "spammers"), action="append")
    arguments = parser.parse_args()
    makers, budgets = {"case2": case_2, "spammers": crowd_with_spammers}, range(2, 11)
    for name in arguments.crowd or makers:
        begin = time.perf_counter()
        errors, curves = measure(makers[name], arguments.items, budgets, range(arguments.seeds), arguments.rounds)
        for b, error in zip(budgets, errors.T, strict=True):
            needed = labels_to_reach(curves.mean(axis=0), float(error.mean()))
            fewer = np.array([np.interp(0.7 * b, *curve.T) for curve in curves])
            row = {"crowd": name, "items": arguments.items, "seeds": arguments.seeds, "labels": b}
            row |= {"error": round(float(error.mean()), 4), "planned": round(needed, 2)}
            print(json.dumps(row | {"saved": round(1 - needed / b, 3), "better": int((fewer <= error).sum())}))
        print(f"# {name}: {time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
