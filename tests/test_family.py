"""Laws of the family behind the default: M steps, misleading items, held-out answers, copies, calibration, rules."""

from __future__ import annotations

import numpy as np
import pytest

from covote.annotations import Annotations, Vocabulary
from covote.counts import PairCounts
from covote.engines.base import ExpectedCounts
from covote.engines.memory import MemoryEngine
from covote.methods.calibrate import heldout_temperature, skill_share, temperatures, tempered
from covote.methods.copies import correlations, excess_of_copies
from covote.methods.dawid_skene import Smoothed, majority_start
from covote.methods.effective import copying, dependence
from covote.methods.em import em
from covote.methods.family import FAMILY, FREE, HABIT, MIDDLE, STEADY, fit_member, start_from
from covote.methods.heldout import ONE_IN, Forecast, forecast, hold_out
from covote.methods.majority_vote import vote_scores
from covote.methods.misleading import Misleading, by_class, gather, spread
from covote.methods.rules import one_sided_share, rule_scores
from covote.methods.shrinkage import Shrinkage
from covote.methods.structure import accuracy_centre, habit_centre, pooled
from covote.model import Model, columns
from covote.score import error_rate
from covote.simulate import draw, paper_model


def dense(labels):
    """Annotations of a matrix (items, annotators); -1 is no answer."""
    labels = np.asarray(labels)
    item, annotator = np.nonzero(labels >= 0)
    n, m = labels.shape
    numbered = (Vocabulary(np.arange(k)) for k in (n, m, int(labels.max()) + 1))
    items, annotators, classes = numbered
    codes = (item, annotator, labels[item, annotator])
    return Annotations.from_codes(*codes, items=items, annotators=annotators, classes=classes)


def independent(rng, truth, accuracy, K=2):
    right = rng.random(len(truth)) < accuracy
    return np.where(right, truth, (truth + rng.integers(1, K, len(truth))) % K)


@pytest.fixture(scope="module")
def crowd():
    return draw(paper_model("case2", n_annotators=12, seed=1), 400, answering=0.5, seed=1)


@pytest.fixture(scope="module")
def votes(crowd):
    return MemoryEngine(crowd.annotations).expected_counts(vote_scores(12, 3))


@pytest.mark.parametrize("member", FAMILY, ids=lambda m: m.name)
def test_an_m_step_gives_probabilities(member, votes):
    prior, confusion = member(votes)
    assert prior.sum() == pytest.approx(1)
    np.testing.assert_allclose(confusion.sum(axis=1), 1)
    assert confusion.min() > 0


@pytest.mark.parametrize("member", FAMILY, ids=lambda m: m.name)
def test_an_m_step_does_not_depend_on_the_order_of_classes_or_annotators(member, votes):
    classes, people = np.array([2, 0, 1]), np.random.default_rng(0).permutation(12)
    turned = ExpectedCounts(votes.confusion[people][:, classes][:, :, classes], votes.prior[classes], 0.0)
    prior, confusion = member(votes)
    turned_prior, turned_confusion = member(turned)
    np.testing.assert_allclose(turned_prior, prior[classes])
    np.testing.assert_allclose(turned_confusion, confusion[people][:, classes][:, :, classes])


def test_weaker_shrinkage_stays_nearer_to_the_counts(votes):
    own = columns(votes.confusion)
    distance = [np.abs(member(votes)[1] - own).sum() for member in (STEADY, MIDDLE, FREE)]
    assert distance == sorted(distance, reverse=True)


def test_infinitely_many_answers_drown_the_shrinkage(votes):
    many = ExpectedCounts(1e9 * votes.confusion, 1e9 * votes.prior, 0.0)
    np.testing.assert_allclose(STEADY(many)[1], columns(votes.confusion), atol=1e-6)


def slow_habit(soft, known, steps=8):
    """The obvious way, one annotator at a time."""
    out = []
    for counts in soft:
        K = len(counts)
        knows, habit = 0.5, (counts.sum(axis=1) + 1) / (counts.sum() + K)
        for _ in range(steps):
            informed = counts * knows * known / (knows * known + (1 - knows) * habit[:, None])
            knows = (informed.sum() + 1) / (counts.sum() + 2)
            rest = (counts - informed).sum(axis=1)
            habit = (rest + 1) / (rest.sum() + K)
        out.append(knows * known + (1 - knows) * habit[:, None])
    return np.array(out)


def test_the_habit_kernel_equals_the_obvious_loop(votes):
    known = pooled(votes.confusion)
    np.testing.assert_allclose(habit_centre(votes.confusion, known), slow_habit(votes.confusion, known))


def test_a_spammer_is_all_habit_and_an_expert_none():
    spammer, expert = np.array([[90.0, 60.0], [30.0, 20.0]]), np.diag([100.0, 100.0])
    centre = habit_centre(np.stack([spammer, expert]), np.eye(2))
    assert np.abs(centre[0][:, 0] - centre[0][:, 1]).max() < 0.15
    assert np.diag(centre[1]).min() > 0.97


def test_accuracy_is_pulled_to_the_crowds_by_two_answers():
    lone = np.zeros((2, 2, 2))
    lone[0, 0, 0], lone[1] = 1.0, np.diag([500.0, 500.0])
    centre = accuracy_centre(lone)
    assert centre[0, 0, 0] == pytest.approx((1 + 2 * 1002 / 1003) / 3)


def test_without_items_that_mislead_the_states_are_the_classes(crowd):
    model = crowd.model.floored()
    states = spread(model.prior, model.confusion, None)
    np.testing.assert_array_equal(states.scores.table, model.scores().table)
    soft = ExpectedCounts(np.ones((12, 3, 3)), np.ones(3), -1.0)
    assert gather(soft, states) == (soft, 0.0)


def test_states_of_a_class_and_its_misleading_items_add_up(crowd):
    model = crowd.model.floored()
    look = Misleading(np.array([1, 2, 0]), share=0.3, pull=0.4)
    states = spread(model.prior, model.confusion, look)
    np.testing.assert_allclose(by_class(np.exp(states.scores.bias), 3), model.prior)
    np.testing.assert_allclose(np.exp(states.scores.table).sum(axis=1), 1)
    followed = np.zeros((3, 3))
    followed[look.look, np.arange(3)] = 1
    expected = (1 - 0.3 * 0.4) * model.confusion + 0.3 * 0.4 * followed
    np.testing.assert_allclose(states.given_class(3), expected)


def test_em_with_misleading_items_never_lowers_the_likelihood():
    # 30 % of the items pull every annotator towards the other class half of the time
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 600)
    misled = rng.random(600) < 0.3
    columns_ = []
    for _ in range(12):
        answer = independent(rng, truth, 0.9)
        columns_.append(np.where(misled & (rng.random(600) < 0.5), 1 - truth, answer))
    engine = MemoryEngine(dense(np.array(columns_).T))
    start = majority_start(engine)
    look = Misleading.seen_by(start, np.ones(12))
    fit = em(engine, start, Smoothed(Shrinkage(flat=1.0)), misleading=look, max_iter=40, tol=1e-9)
    history = np.array(fit.history)
    assert np.all(np.diff(history) >= -1e-9 * np.abs(history[1:]))
    assert fit.misleading.share > 0.15
    alone = em(engine, start, Smoothed(Shrinkage(flat=1.0)), max_iter=40)
    assert fit.log_likelihood > alone.log_likelihood + 20


def test_half_weights_are_square_roots_of_likelihoods(crowd):
    engine = MemoryEngine(crowd.annotations)
    fit = fit_member(engine, MIDDLE, crowd.model, weight=np.full(12, 0.5), rounds=3)
    np.testing.assert_allclose(fit.scores.table, 0.5 * fit.states.scores.table)


@pytest.mark.parametrize("member", [HABIT, MIDDLE], ids=lambda m: m.name)
def test_a_fixed_prior_stays(member, crowd):
    engine = MemoryEngine(crowd.annotations)
    prior = np.array([0.2, 0.3, 0.5])
    start = start_from(engine, engine.expected_counts(vote_scores(12, 3)), member)
    np.testing.assert_array_equal(fit_member(engine, member, start, prior=prior).model.prior, prior)


# Held-out answers


def test_answers_are_either_left_or_set_aside(crowd):
    engine = MemoryEngine(crowd.annotations)
    held = hold_out(engine, crowd.model.informativeness)
    left = held.engine.annotations
    a = crowd.annotations
    assert 0.8 < held.n_answers / (a.n_labels / ONE_IN) < 1.2
    gone = a.n_labels - left.n_labels - held.n_answers  # answers of items that have nothing left
    assert 0 <= gone < 20
    assert np.diff(left.offsets).min() >= 1
    spread_over = np.bincount(held.annotator, minlength=12) / np.bincount(a.annotator, minlength=12)
    assert spread_over.min() > 0.05
    assert spread_over.max() < 0.5


def test_which_answers_are_set_aside_does_not_depend_on_order(crowd):
    a = crowd.annotations
    rng = np.random.default_rng(3)
    items, people, classes = rng.permutation(400), rng.permutation(12), np.array([1, 2, 0])
    names = (Vocabulary(np.arange(n)) for n in (400, 12, 3))
    turned = Annotations.from_codes(
        items[a.item],
        people[a.annotator],
        classes[a.label],
        **dict(zip(("items", "annotators", "classes"), names, strict=True)),
    )
    quality = crowd.model.informativeness
    one = hold_out(MemoryEngine(a), quality)
    other = hold_out(MemoryEngine(turned), quality[np.argsort(people)])
    assert sorted(zip(people[one.annotator], classes[one.label], strict=True)) == sorted(
        zip(other.annotator, other.label, strict=True)
    )


def test_a_large_crowd_is_judged_by_a_part_of_its_items():
    rng = np.random.default_rng(0)
    a = dense(rng.integers(0, 2, (10_000, 6)))
    held = hold_out(MemoryEngine(a), np.arange(6.0))
    assert held.engine.n_items < 4000
    assert held.n_answers < 5000


def test_the_true_model_predicts_held_out_answers_better_than_a_wrong_one(crowd):
    engine = MemoryEngine(crowd.annotations)
    held = hold_out(engine, crowd.model.informativeness)
    flat = Model(np.ones(3) / 3, np.full((12, 3, 3), 1 / 3), crowd.model.classes, crowd.model.annotators)
    scores = []
    for model in (crowd.model.floored(), flat):
        fit = em(held.engine, model, Smoothed(Shrinkage()), max_iter=1)
        scores.append(forecast(held, fit).log_probability)
    assert scores[0] > scores[1] == pytest.approx(-np.log(3))


def test_gold_and_weights_follow_their_items(crowd):
    a = crowd.annotations
    weight = np.arange(1.0, 401.0)
    held = hold_out(MemoryEngine(a, weight=weight, gold=crowd.truth), np.arange(12.0))
    np.testing.assert_array_equal(held.engine.gold, crowd.truth[(held.engine.weight - 1).astype(int)])


# Copies and dependence


def clones(seed, copies, noise=0.05, n=600, good=7):
    """Independent annotators of 75 %, and near-copies of one of 60 %."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    own = [independent(rng, truth, 0.75) for _ in range(good)]
    source = independent(rng, truth, 0.6)
    own += [np.where(rng.random(n) < noise, rng.integers(0, 2, n), source) for _ in range(copies)]
    return MemoryEngine(dense(np.array(own).T)), truth


def test_copies_share_one_vote():
    engine, _ = clones(0, copies=6)
    found = copying(engine.pair_counts())
    assert found.weight[:7].tolist() == [1.0] * 7
    assert found.weight[7:].sum() == pytest.approx(1, abs=0.3)
    assert len(found.first) == 15


@pytest.mark.parametrize("accuracy", [(0.95, 0.95, 0.95, 0.7, 0.7, 0.7, 0.7), (0.97,) * 7, (0.9, 0.9, 0.5, 0.5, 0.5)])
def test_experts_are_not_taken_for_copies(accuracy):
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 2000)
    engine = MemoryEngine(dense(np.array([independent(rng, truth, a) for a in accuracy]).T))
    assert len(copying(engine.pair_counts()).first) == 0


def test_correlations_are_symmetric_in_classes_and_1_for_identical_annotators():
    rng = np.random.default_rng(2)
    one = rng.integers(0, 3, 200)
    engine = MemoryEngine(dense(np.stack([one, one, rng.integers(0, 3, 200)], axis=1)))
    c = correlations(engine.pair_counts())
    assert c[0] == pytest.approx(1)
    assert abs(c[1]) < 0.25
    turned = MemoryEngine(dense(np.array([2, 0, 1])[np.stack([one, one], axis=1)]))
    assert correlations(turned.pair_counts())[0] == pytest.approx(1)


def test_thin_pairs_are_not_judged():
    counts = PairCounts.build([0], [1], [[[5, 0], [0, 5]]], [[5, 5], [5, 5]], 10, (0, 1), ("a", "b"))
    assert excess_of_copies(counts).tolist() == [0.0]


def test_an_independent_crowd_has_hardly_any_dependent_pairs():
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 3000)
    engine = MemoryEngine(dense(np.array([independent(rng, truth, a) for a in np.linspace(0.6, 0.9, 20)]).T))
    fit = fit_member(engine, MIDDLE, majority_start(engine))
    found = dependence(engine.pair_counts(), engine.expected_counts(fit.scores))
    assert len(found.first) <= 3  # of 190, at three standard errors
    assert found.worth(np.ones(20)) > 0.95


# Calibration


def test_tempering_keeps_the_order_and_leaves_1_alone():
    p = np.random.default_rng(0).dirichlet(np.ones(4), 50)
    np.testing.assert_allclose(tempered(p, np.ones(50)), p)
    soft = tempered(p, np.full(50, 0.3))
    np.testing.assert_allclose(soft.sum(axis=1), 1)
    assert np.array_equal(np.argsort(soft, axis=1), np.argsort(p, axis=1))
    assert np.all(soft.max(axis=1) <= p.max(axis=1))
    np.testing.assert_allclose(tempered(p, np.zeros(50)), 0.25)


def test_certain_posteriors_stay_finite():
    p = np.array([[1.0, 0.0], [0.0, 1.0]])
    np.testing.assert_allclose(tempered(p, np.full(2, 0.5)), p, atol=1e-100)


@pytest.mark.parametrize("power", [0.25, 0.5, 1.0])
def test_the_held_out_temperature_undoes_an_overclaim(power):
    rng = np.random.default_rng(1)
    right = rng.dirichlet(np.ones(2), 20_000)
    truth = (rng.random(20_000) < right[:, 1]).astype(int)
    answer = independent(rng, truth, 0.9)
    given_class = np.where(answer[:, None] == np.arange(2), 0.9, 0.1)
    claimed = tempered(right, np.full(20_000, 1 / power))
    found = heldout_temperature([Forecast(claimed, given_class, 0.0)], [1.0])
    assert found == pytest.approx(power, rel=0.25)


def test_more_claims_mean_softer_and_more_skill_means_less_soft():
    claimed = np.array([0.0, 1.0, 5.0])
    assert np.all(np.diff(temperatures(0.7, claimed, 0.1)) < 0)
    assert np.all(temperatures(0.7, claimed, 0.4) > temperatures(0.7, claimed, 0.1))
    alike, different = skill_share(np.full(5, 0.7), np.ones(5)), skill_share(np.array([0.5, 0.95]), np.ones(2))
    assert alike < different <= 1


# Labelling functions


def test_a_rare_rule_outvotes_a_common_one():
    counts = np.array([[900.0, 0.0], [0.0, 30.0]])
    engine = MemoryEngine(dense([[0, 1]]))
    p = engine.posterior(rule_scores(counts, 1000))
    assert p[0, 1] > 0.8
    assert one_sided_share(counts) == 1


def test_rules_beat_votes_on_rules():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 3000)
    answers = np.full((3000, 9), -1)
    for m in range(9):
        klass, often = m % 3, m < 3
        speaks = rng.random(3000) < np.where(truth == klass, 0.5, 0.25 if often else 0.01)
        answers[speaks, m] = klass
    heard = (answers >= 0).any(axis=1)
    engine = MemoryEngine(dense(answers[heard]))
    votes = error_rate(engine.posterior(vote_scores(9, 3)), truth[heard])
    weighed = error_rate(engine.posterior(rule_scores(engine.label_counts(), engine.n_items)), truth[heard])
    assert weighed < votes - 0.03
