"""Intervals: they cover what they should as often as they say, and depend on the seed alone."""

from __future__ import annotations

import numpy as np
import pytest

from covote.engines.memory import MemoryEngine
from covote.errors import InputError, NotFittedError
from covote.estimators.bootstrapped import intervals_of
from covote.estimators.registry import make
from covote.intervals import bootstrap, skill, spammer_score
from covote.methods.dawid_skene import SAFE, dawid_skene
from covote.methods.multispa import multispa
from covote.model import Model
from covote.score import match_classes
from covote.simulate import draw

QUANTITIES = ("confusion", "prior", "accuracy", "bits", "spammer_score", "skill", "class_shares", "error")


def able_model(n_annotators, n_classes, seed):
    rng = np.random.default_rng(seed)
    confusion = np.zeros((n_annotators, n_classes, n_classes))
    for m in range(n_annotators):
        for k in range(n_classes):
            right = rng.uniform(0.5, 0.95)
            confusion[m, :, k] = np.insert(rng.dirichlet(np.ones(n_classes - 1)) * (1 - right), k, right)
    return Model(rng.dirichlet(np.full(n_classes, 5.0)), confusion, tuple(range(n_classes)), tuple(range(n_annotators)))


def fitted(engine, start=None, tol=1e-6):
    start = multispa(engine.pair_counts()).model if start is None else start
    return dawid_skene(engine, start, tol=tol).model


def crowd_intervals(truth, seed, n_items=200, answering=0.8, replicates=60):
    crowd = draw(truth, n_items, answering=answering, seed=seed)
    engine = MemoryEngine(crowd.annotations, threads=1)
    point = match_classes(truth, fitted(engine))
    found = bootstrap(
        engine,
        lambda e: fitted(e, point, 1e-5),
        point=point,
        shrinkage=SAFE,
        replicates=replicates,
        seed=seed,
        threads=1,
    )
    return crowd, engine, point, found


@pytest.mark.slow
def test_ninety_percent_intervals_cover_about_ninety_percent_of_the_time():
    hits = {name: [] for name in QUANTITIES}
    for seed in range(200):
        truth = able_model(7, 2, seed)
        # with 19 replicates the ends are the least and the greatest: 1 and 19 of 20 parts
        crowd, engine, point, found = crowd_intervals(truth, seed, n_items=200, replicates=19)
        labels = engine.posterior(point.scores()).argmax(axis=1)
        true = {
            "confusion": truth.confusion,
            "prior": truth.prior,
            "accuracy": truth.accuracy,
            "bits": truth.informativeness,
            "spammer_score": spammer_score(truth),
            "skill": skill(truth),
            "class_shares": np.bincount(crowd.truth, minlength=2) / len(crowd.truth),
            "error": (labels != crowd.truth).mean(),
        }
        for name in QUANTITIES:
            r = getattr(found, name)
            hits[name].append(np.mean((true[name] >= r.low) & (true[name] <= r.high)))
    covered = {name: float(np.mean(values)) for name, values in hits.items()}
    assert min(covered.values()) >= 0.85, covered
    assert max(covered.values()) <= 0.95, covered


def test_accuracies_of_annotators_with_few_answers_are_covered_too():
    from benchmarks.trust import coverage

    # 40 annotators of whom some answer ten times as often as others, five answers an item: 4 to 80 each
    covered = coverage(40, 2, 200, 5, seeds=16, replicates=39)
    for name in ("accuracy", "confusion", "bits", "skill", "accuracy, 5 to 9 answers", "accuracy, 10 to 19 answers"):
        assert 0.85 <= covered[name] <= 0.95, covered


def test_same_seed_same_intervals_whatever_the_threads():
    truth = able_model(6, 3, 0)
    engine = MemoryEngine(draw(truth, 300, answering=0.6, seed=1).annotations)
    point = fitted(engine)
    one, two, other = (
        bootstrap(engine, lambda e: fitted(e, point), point=point, replicates=20, seed=seed, threads=threads)
        for seed, threads in ((3, 1), (3, 4), (4, 2))
    )
    for name in QUANTITIES:
        assert np.array_equal(getattr(one, name).low, getattr(two, name).low)
        assert np.array_equal(getattr(one, name).high, getattr(two, name).high)
    assert not np.array_equal(one.accuracy.low, other.accuracy.low)


def test_an_interval_holds_its_estimate_and_narrows_with_data():
    truth = able_model(6, 3, 2)
    widths = []
    for n_items in (100, 400, 1600):
        _, _, _, found = crowd_intervals(truth, 5, n_items=n_items, replicates=40)
        for name in QUANTITIES:
            r = getattr(found, name)
            assert np.all(r.low <= r.value)
            assert np.all(r.value <= r.high)
            assert np.all(np.isfinite(r.low))
        widths.append(float((found.accuracy.high - found.accuracy.low).mean()))
    assert widths[0] > 1.5 * widths[1] > 2.2 * widths[2]


def test_replicates_that_swap_the_classes_are_brought_back():
    truth = able_model(6, 3, 4)
    engine = MemoryEngine(draw(truth, 400, seed=6).annotations)
    point = fitted(engine)
    order = np.array([2, 0, 1])
    plain = bootstrap(engine, lambda e: fitted(e, point), point=point, replicates=15)
    swapped = bootstrap(engine, lambda e: fitted(e, point).permuted(order), point=point, replicates=15)
    assert np.allclose(plain.confusion.low, swapped.confusion.low)
    assert np.allclose(plain.prior.high, swapped.prior.high)


def test_an_annotator_with_few_answers_gets_a_wide_interval():
    truth = able_model(7, 2, 7)
    crowd = draw(truth, 400, seed=8)
    a = crowd.annotations
    keep = (a.annotator != 6) | (a.item < 4)  # four answers of the last one
    thinned = type(a).from_codes(a.item[keep], a.annotator[keep], a.label[keep], items=a.items)
    found = intervals_of(make("multispa-ds").fit(thinned), replicates=60)
    width = found.accuracy.high - found.accuracy.low
    assert width[6] > 0.25
    assert width[6] > 3 * width[:6].max()


@pytest.mark.parametrize("method", ["multispa", "multispa-kl", "multispa-ds", "mv-ds"])
def test_any_estimator_with_a_model_has_intervals(method):
    votes = draw(able_model(9, 2, 9), 150, seed=10).annotations
    estimator = make(method).set_params(intervals=True).fit(votes)
    found = estimator.intervals_
    assert found.level == 0.9
    assert found.replicates == 200
    assert found.accuracy.value == pytest.approx(estimator.model_.accuracy)
    assert np.all(found.confusion.low >= 0)
    assert np.all(found.confusion.high <= 1)


def test_what_has_no_intervals_says_so():
    votes = draw(able_model(5, 2, 9), 50, seed=10).annotations
    with pytest.raises(NotFittedError, match=r"MajorityVote learns no model"):
        make("majority-vote").set_params(intervals=True).fit(votes)
    engine = MemoryEngine(votes)
    with pytest.raises(InputError, match=r"^Intervals need at least 2 replicates .* got 1 and 0\.9\.$"):
        bootstrap(engine, fitted, replicates=1)
    with pytest.raises(InputError, match=r"got 20 and 1\.5\.$"):
        bootstrap(engine, fitted, replicates=20, level=1.5)


@pytest.mark.data
def test_real_crowds_have_narrow_shares(amt):
    annotations, truth = amt("web")
    estimator = make("multispa-ds").fit(annotations)
    found = intervals_of(estimator)
    assert found.replicates == 200
    assert float(found.error.low) < float(found.error.high)
    assert (found.class_shares.high - found.class_shares.low).max() < 0.25
    del truth
