"""Methods the field uses: each equals its slow version, keeps its laws, and runs on every engine its sums allow."""

from __future__ import annotations

import numpy as np
import pytest
from tests import naive_field as slow
from tests.crowds import draw_triples

from covote import METHODS
from covote.annotations import load
from covote.engines.memory import MemoryEngine
from covote.errors import InputError
from covote.estimators.field_models import BWA, EBCC, GLAD, IBCC, MACE, OneCoinDawidSkene
from covote.estimators.field_votes import GoldMajorityVote, IterativeWeightedVote, Wawa, WeightedVote, ZeroBasedSkill
from covote.methods import glad as glad_method
from covote.methods import mace as mace_method
from covote.methods.gold_majority_vote import gold_counts
from covote.methods.mmsr import mmsr

FIELD = (
    "weighted-vote",
    "gold-majority-vote",
    "wawa",
    "zero-based-skill",
    "iwmv",
    "mmsr",
    "one-coin-ds",
    "glad",
    "mace",
    "bwa",
    "ibcc",
    "ebcc",
)
CLASSES = ["ape", "bee", "cow"]
SEEDS = range(3)


def engine_of(triples):
    return MemoryEngine(load(triples).annotations)


def close(found, expected, tolerance=1e-9):
    assert set(found) == set(expected)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, atol=tolerance, err_msg=str(name))


def probabilities(fitted):
    return {item: list(p.values()) for item, p in fitted.probas_.items()}


@pytest.mark.parametrize("seed", SEEDS)
def test_votes_equal_their_slow_versions(seed):
    triples = draw_triples(seed)
    close(Wawa().fit(triples).skills_, slow.agreement(triples, {a: 1.0 for _, a, _ in triples}, CLASSES))
    close(ZeroBasedSkill().fit(triples).skills_, slow.zero_based(triples, CLASSES))
    close(IterativeWeightedVote().fit(triples).skills_, slow.iterated(triples, CLASSES))


@pytest.mark.parametrize("seed", SEEDS)
def test_models_equal_their_slow_versions(seed):
    triples = draw_triples(seed)
    names = sorted({a for _, a, _ in triples})
    fitted = OneCoinDawidSkene(tol=1e-14, max_iter=3000).fit(triples)
    skill, belief = slow.one_coin(triples, CLASSES, 600)
    close(fitted.skills_, skill, 1e-4)
    close(probabilities(fitted), belief, 1e-4)
    bayes = IBCC(tol=1e-14, max_iter=3000).fit(triples)
    close(probabilities(bayes), slow.ibcc(triples, names, CLASSES, 600), 1e-4)
    averaged = slow.bwa(triples, CLASSES)
    close(probabilities(BWA().fit(triples)), {i: np.array(z) / sum(z) for i, z in averaged.items()})


@pytest.mark.parametrize("seed", SEEDS)
def test_mace_equals_its_slow_rounds(seed):
    triples = draw_triples(seed)
    engine = engine_of(triples)
    trust = mace_method.random_trust(np.random.default_rng(seed), len(engine.annotators), 3)
    knows = dict(zip(engine.annotators, map(tuple, trust.knows), strict=True))
    habit = dict(zip(engine.annotators, trust.habit.tolist(), strict=True))
    for _ in range(4):
        knows, habit, _ = slow.mace_round(triples, knows, habit, CLASSES)
    found, history = mace_method.rounds(engine, trust, mace_method.Prior(), 4)
    close(dict(zip(engine.annotators, found.knows, strict=True)), knows)
    close(dict(zip(engine.annotators, found.habit, strict=True)), habit)
    assert np.all(np.diff(history) >= -1e-9)


def test_glad_slope_is_that_of_its_value_and_its_posterior_is_bayes():
    triples = draw_triples(5)
    engine = engine_of(triples)
    problem = glad_method._problem(engine, glad_method.Beliefs())
    x = np.random.default_rng(0).normal(1, 0.5, len(problem.mean))
    right = problem.posterior(x)[problem.item, problem.answer % 3]
    from covote.kernels import glad as kernel

    def value(y):
        slope = np.empty_like(y)
        found = kernel.value_pass(problem.offsets, problem.answer, problem.weight, right, problem.mean, 3, y, slope)
        return found, slope

    _, slope = value(x)
    for i in range(0, len(x), 7):
        step = np.eye(len(x))[i] * 1e-6
        assert (value(x + step)[0] - value(x - step)[0]) / 2e-6 == pytest.approx(slope[i], abs=1e-5)
    a, m = engine.annotations, len(engine.annotators)
    ease, ability = dict(zip(a.items, x[m:], strict=True)), dict(zip(a.annotators, x[:m], strict=True))

    def chance(item, annotator, label, k):
        p = 1 / (1 + np.exp(-ability[annotator] * np.exp(ease[item])))
        return p if CLASSES[k] == label else (1 - p) / 2

    expected = slow.posterior(triples, chance, [1 / 3] * 3, CLASSES)
    close(dict(zip(a.items, problem.posterior(x), strict=True)), expected)
    new, after = problem.maximise(x, problem.posterior(x), 25, 1e-2)
    assert after > value(x)[0] - 0.5 * np.log(2 * np.pi) * len(x)
    assert not np.shares_memory(new, x)


def test_ebcc_with_one_subtype_is_ibcc_and_its_evidence_never_falls():
    triples = draw_triples(1)
    one = EBCC(subtypes=1, starts=1, tol=1e-14, max_iter=3000).fit(triples)
    np.testing.assert_allclose(one.posterior_, IBCC(tol=1e-14, max_iter=3000).fit(triples).posterior_, atol=1e-4)
    history = EBCC(subtypes=4, starts=2).fit(triples).fit_.history
    assert np.all(np.diff(history) >= -1e-9)


def test_ebcc_has_more_evidence_where_many_misread_the_same_items():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=400)
    odd = rng.random(400) < 0.15  # items that the first five annotators misread together
    wrong = [[(m < 5 and odd[n]) or rng.random() < 0.15 for m in range(9)] for n in range(400)]
    triples = [(n, m, int(truth[n] ^ wrong[n][m])) for n in range(400) for m in range(9)]
    evidence = [EBCC(subtypes=s, starts=2, tol=1e-9).fit(triples).fit_.details["evidence"] for s in (1, 4)]
    assert evidence[1] > evidence[0] + 5


def test_mmsr_gives_back_the_skills_of_a_rank_one_crowd_with_liars():
    rng = np.random.default_rng(3)
    skill = np.array([0.9, 0.85, 0.8, 0.7, 0.75, 0.15, 0.6])
    truth = rng.integers(2, size=20_000)
    answers = np.where(rng.random((20_000, 7)) < skill, truth[:, None], 1 - truth[:, None])
    fit = mmsr(engine_of([(n, m, int(answers[n, m])) for n in range(20_000) for m in range(7)]))
    np.testing.assert_allclose(fit.details["chance"], skill, atol=0.03)


def test_gold_counts_are_exact_and_weigh_the_votes():
    triples = draw_triples(2)
    truth = {f"item{n}": CLASSES[n % 3] for n in range(0, 40, 3)}
    fitted = GoldMajorityVote().fit(triples, gold=truth)
    right, given = dict.fromkeys(fitted.annotators_, 0), dict.fromkeys(fitted.annotators_, 0)
    for item, annotator, label in triples:
        if item in truth:
            given[annotator] += 1
            right[annotator] += label == truth[item]
    close(fitted.skills_, {a: right[a] / given[a] for a in given})
    assert gold_counts(fitted.engine_).sum() == sum(given.values())
    assert "gold" in GoldMajorityVote().fit(triples).fit_.notes[0]


def test_weights_missing_skills_and_negative_weights():
    votes = [("x", "ann", "a"), ("x", "bob", "b"), ("x", "eve", "b")]
    assert WeightedVote().fit_predict(votes) == {"x": "b"}
    assert WeightedVote(skills={"ann": 3, "bob": 1, "eve": 1}).fit_predict(votes) == {"x": "a"}
    assert WeightedVote(skills={"ann": 3}, missing="ignore").fit_predict(votes) == {"x": "a"}
    assert WeightedVote(skills={"ann": 1, "bob": -1, "eve": -1}).fit_predict(votes) == {"x": "a"}
    with pytest.raises(InputError, match="There is no skill for 2 annotators, the first of them 'bob'"):
        WeightedVote(skills={"ann": 3}).fit(votes)
    with pytest.raises(InputError, match="needs the weight"):
        WeightedVote(skills={"ann": 3}, missing="value").fit(votes)


@pytest.mark.parametrize("name", FIELD)
def test_shuffled_rows_and_renamed_annotators_change_nothing(name):
    triples = draw_triples(4)
    renamed = [(i, f"z{a}", x) for i, a, x in reversed(triples)]
    first, second = (METHODS[name].fit(t) for t in (triples, renamed))
    found, again = probabilities(first), probabilities(second)
    tolerance = 0.05 if name == "ebcc" else 1e-6  # its start draws one number per item in their order
    for item in found:
        np.testing.assert_allclose(found[item], again[item], atol=tolerance)


@pytest.mark.parametrize("name", ["mmsr", "one-coin-ds", "mace", "ibcc", "weighted-vote", "gold-majority-vote"])
def test_methods_made_of_sums_run_on_disk(name, tmp_path):
    triples = draw_triples(6)
    (tmp_path / "votes.csv").write_text("\n".join(["item,annotator,label", *(",".join(t) for t in triples)]))
    there = METHODS[name].set_params(engine="disk").fit(str(tmp_path / "votes.csv"))
    here = METHODS[name].fit(triples)
    np.testing.assert_allclose(there.fit_.scores.table, here.fit_.scores.table, atol=1e-6)


@pytest.mark.parametrize("name", FIELD)
def test_gold_is_believed(name):
    triples = draw_triples(7)
    assert METHODS[name].fit(triples, gold={"item3": "cow"}).labels_["item3"] == "cow"


def test_glad_tells_hard_items_and_mace_spammers():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=300)
    chance = np.where(np.arange(300) % 3 == 0, 0.6, 0.95)
    triples = [(n, m, int(truth[n] ^ (rng.random() > chance[n]))) for n in range(300) for m in range(8)]
    triples += [(n, "bot", 1) for n in range(300)]
    ease = np.array(list(GLAD().fit(triples).ease_.values()))
    assert ease[np.arange(300) % 3 == 0].mean() < 0.8 * ease[np.arange(300) % 3 > 0].mean()
    skills = MACE().fit(triples).skills_
    assert skills["bot"] < 0.2 < min(v for a, v in skills.items() if a != "bot")
