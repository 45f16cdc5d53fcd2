"""Laws of the three methods: exact recovery, monotone objectives, invariance, recovery of synthetic crowds."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from covote.annotations import Annotations, Vocabulary
from covote.counts import PairCounts
from covote.engines.memory import MemoryEngine
from covote.estimators.registry import make
from covote.methods.dawid_skene import dawid_skene, majority_start
from covote.methods.multispa import multispa
from covote.methods.multispa_kl import kl_objective, multispa_kl
from covote.methods.shrinkage import Shrinkage
from covote.model import Model, Status
from covote.score import confusion_mse, error_rate, match_classes
from covote.simulate import draw, paper_model

MODEL_METHODS = ("multispa", "multispa-kl", "multispa-ds", "mv-ds")
PAPER_METHODS = ("majority-vote", *MODEL_METHODS)


def population_counts(model: Model, size: float = 1e9) -> PairCounts:
    """Pair counts with no sampling noise: size * A_m D A_l^T."""
    first, second = np.triu_indices(model.n_annotators, 1)
    blocks = size * np.einsum("pik,k,pjk->pij", model.confusion[first], model.prior, model.confusion[second])
    answers = size * np.einsum("mik,k->mi", model.confusion, model.prior)
    return PairCounts.build(first, second, blocks, answers, size, model.classes, model.annotators)


def separable(seed, K=3, M=12):
    rng = np.random.default_rng(seed)
    confusion = rng.dirichlet(np.ones(K), size=(M, K)).transpose(0, 2, 1)
    confusion[:2] = np.eye(K)  # everybody has a partner who never errs
    return Model(rng.dirichlet(np.full(K, 5.0)), confusion, tuple(range(K)), tuple(range(M)))


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("solve_again", [False, True])
def test_population_counts_of_a_separable_crowd_give_the_model_back(K, seed, solve_again):
    model = separable(seed, K)
    counts = population_counts(model, 1e12)
    found = multispa(counts, solve_again=solve_again, shrinkage=Shrinkage()).model
    np.testing.assert_allclose(found.confusion, model.confusion, atol=1e-8)
    np.testing.assert_allclose(found.prior, model.prior, atol=1e-8)


def test_the_true_model_is_a_fixed_point_of_the_kl_fit():
    model = separable(1)
    counts = population_counts(model)
    fit = multispa_kl(counts, model, shrinkage=Shrinkage(), max_iter=20, floor=1e-300)
    assert abs(kl_objective(counts, fit.model)) < 1e-10
    np.testing.assert_allclose(fit.model.confusion, model.confusion, atol=1e-6)


@pytest.mark.parametrize("accelerate", [False, True])
@pytest.mark.parametrize("weighting", ["equal", "shared"])
@pytest.mark.parametrize("smoothing", [0.0, 3.0])
def test_kl_never_rises(accelerate, weighting, smoothing):
    engine = MemoryEngine(draw(paper_model("case2", seed=3), 500, answering=0.3, seed=3).annotations)
    counts = engine.pair_counts()
    fit = multispa_kl(
        counts,
        multispa(counts).model,
        weighting=weighting,
        accelerate=accelerate,
        shrinkage=Shrinkage(own=smoothing),
        max_iter=60,
    )
    history = np.array(fit.history)
    assert len(history) > 5
    assert np.all(np.diff(history) <= 1e-12)


@pytest.mark.parametrize("accelerate", [False, True])
@pytest.mark.parametrize("shrinkage", [Shrinkage(), Shrinkage(flat=1, diagonal=3), Shrinkage(own=4)])
@pytest.mark.parametrize("prior", ["estimated", "uniform"])
@pytest.mark.parametrize("start", ["majority", "multispa"])
def test_likelihood_never_falls(accelerate, shrinkage, prior, start):
    engine = MemoryEngine(draw(paper_model("case2", seed=4), 400, answering=0.4, seed=4).annotations)
    model = majority_start(engine) if start == "majority" else multispa(engine.pair_counts()).model
    fit = dawid_skene(engine, model, shrinkage=shrinkage, prior=prior, accelerate=accelerate, max_iter=60)
    history = np.array(fit.history)
    assert len(history) > 5
    assert np.all(np.diff(history) >= -1e-9 * np.abs(history[1:]))


def test_log_likelihood_is_exact():
    a = draw(paper_model("case1", n_annotators=4, seed=0), 30, answering=0.7, seed=1).annotations
    fit = dawid_skene(MemoryEngine(a), majority_start(MemoryEngine(a)), shrinkage=Shrinkage())
    m = fit.model
    total = 0.0
    for n in range(a.n_items):
        p = m.prior.copy()
        for row in a.answer[a.offsets[n] : a.offsets[n + 1]].tolist():
            p *= m.confusion[row // 3, row % 3]
        total += np.log(p.sum())
    assert fit.details["log_likelihood"] == pytest.approx(total, rel=1e-9)
    assert fit.history[-1] == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize("name", PAPER_METHODS)
def test_results_do_not_depend_on_names_or_order(name):
    crowd = draw(paper_model("case2", n_annotators=12, seed=5), 600, answering=0.5, seed=5)
    a = crowd.annotations
    rng = np.random.default_rng(0)
    item_order, who, what = rng.permutation(a.n_items), rng.permutation(a.n_annotators), rng.permutation(a.n_classes)
    b = Annotations.from_codes(
        item_order[a.item],
        who[a.annotator],
        what[a.label],
        items=Vocabulary(np.arange(a.n_items)),
        annotators=Vocabulary(np.arange(a.n_annotators)),
        classes=Vocabulary(np.arange(a.n_classes)),
    )
    one, two = make(name).fit(a), make(name).fit(b)
    np.testing.assert_allclose(two.posterior_[item_order][:, what], one.posterior_, atol=1e-6)
    if name in MODEL_METHODS:
        np.testing.assert_allclose(two.model_.prior[what], one.model_.prior, atol=1e-6)
        turned = two.model_.confusion[who][:, what][:, :, what]
        np.testing.assert_allclose(turned, one.model_.confusion, atol=1e-6)


@pytest.mark.parametrize("name", PAPER_METHODS)
def test_any_number_of_threads_gives_the_same_bits(name):
    a = draw(paper_model("case2", seed=6), 60_000, answering=0.4, seed=6).annotations
    options = {} if name in ("majority-vote", "multispa") else {"max_iter": 15}
    with np.errstate(all="raise"), pytest.warns() if options else _nothing():
        one, two = (make(name, threads=t, **options).fit(a).posterior_ for t in (1, 3))
    assert np.array_equal(one, two)


def _nothing():
    import contextlib

    return contextlib.nullcontext()


def bayes_error(crowd):
    return error_rate(MemoryEngine(crowd.annotations).posterior(crowd.model.floored(1e-12).scores()), crowd.truth)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("p", "kl_bar", "spa_bar"),
    [(0.2, 0.0019, 0.0184), (0.3, 0.0009, 0.0083), (0.5, 0.0004, 0.0063), (1.0, 1.73e-4, 0.0034)],
)
def test_case_one_is_recovered_as_well_as_in_the_paper(p, kl_bar, spa_bar):
    errors = {"multispa": [], "multispa-kl": []}
    for seed in range(10):
        rng = np.random.default_rng(seed)
        crowd = draw(paper_model("case1", seed=rng), 10_000, answering=p, seed=rng)
        counts = MemoryEngine(crowd.annotations).pair_counts()
        start = multispa(counts).model
        errors["multispa"].append(confusion_mse(crowd.model, start))
        errors["multispa-kl"].append(confusion_mse(crowd.model, multispa_kl(counts, start).model))
    assert np.mean(errors["multispa-kl"]) <= 1.2 * kl_bar
    assert np.mean(errors["multispa"]) <= 2 * spa_bar


@pytest.mark.slow
@pytest.mark.parametrize("case", ["case1", "case2"])
@pytest.mark.parametrize("p", [0.2, 0.5])
def test_kl_from_multispa_reaches_the_objective_reached_from_the_truth(case, p):
    for seed in range(2):
        rng = np.random.default_rng(seed)
        crowd = draw(paper_model(case, seed=rng), 10_000, answering=p, seed=rng)
        counts = MemoryEngine(crowd.annotations).pair_counts()
        papers = {"shrinkage": Shrinkage(), "max_iter": 3_000, "tol": 1e-15}
        ours = multispa_kl(counts, multispa(counts).model, **papers)
        best = multispa_kl(counts, crowd.model, **papers)
        assert ours.history[-1] <= best.history[-1] * (1 + 2e-6)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["case1", "case2"])
def test_em_from_multispa_is_nearly_as_good_as_the_bayes_rule(case):
    gaps = {p: [] for p in (0.2, 0.3, 0.5)}
    for p, seed in product(gaps, range(10)):
        rng = np.random.default_rng(seed)
        crowd = draw(paper_model(case, seed=rng), 10_000, answering=p, seed=rng)
        fit = make("multispa-ds", smoothing=0.1, diagonal=0.0).fit(crowd.annotations)
        matched = match_classes(crowd.model, fit.model_)
        error = error_rate(MemoryEngine(crowd.annotations).posterior(matched.scores()), crowd.truth)
        gaps[p].append(error - bayes_error(crowd))
    # at p = 0.2 of case 2 even EM started at the truth is 0.6 points off: that is the price of estimating
    assert np.mean(gaps[0.2]) <= 0.0075
    assert np.mean(gaps[0.3]) <= 0.006
    assert np.mean(gaps[0.5]) <= 0.006


def test_a_thin_annotator_is_solved_from_those_identified_and_a_stranded_one_is_named():
    crowd = draw(paper_model("case1", n_annotators=12, seed=2), 3000, answering=0.6, seed=2)
    a = crowd.annotations
    item = np.concatenate([a.item, [5, 6, 7, 3000, 3001]])
    who = np.concatenate([a.annotator, [12, 12, 12, 13, 13]])
    label = np.concatenate([a.label, [0, 1, 2, 0, 1]])
    b = Annotations.from_codes(item, who, label)
    fit = multispa(MemoryEngine(b).pair_counts())
    assert fit.details["stranded"].tolist() == [13]
    assert "1 annotator shares no item with the rest (13)" in fit.notes[0]
    assert 12 not in fit.details["identified"]
    labels = make("multispa").fit(b).codes_
    assert len(labels) == 3002


def test_nothing_to_compare_falls_back_with_a_sentence():
    fit = multispa(MemoryEngine(Annotations.from_codes([0, 1, 2], [0, 1, 2], [0, 1, 0])).pair_counts())
    assert fit.status is Status.FALLBACK
    assert fit.notes[0].startswith("No two annotators share enough items")


def test_gold_items_are_honoured():
    crowd = draw(paper_model("case2", n_annotators=5, seed=8), 400, answering=0.5, seed=8)
    gold = {int(i): int(crowd.truth[i]) for i in range(0, 400, 2)}
    with_gold = make("multispa-ds").fit(crowd.annotations, gold=gold)
    assert np.array_equal(with_gold.codes_[::2], crowd.truth[::2])
    without = make("multispa-ds").fit(crowd.annotations)
    other = np.arange(1, 400, 2)
    assert np.mean(with_gold.codes_[other] == crowd.truth[other]) >= np.mean(
        without.codes_[other] == crowd.truth[other]
    )
