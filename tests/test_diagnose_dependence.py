"""Dependence: independent crowds stay quiet at the nominal rate, copies are found with their group."""

from __future__ import annotations

import numpy as np
import pytest

from covote.annotations import Annotations, Vocabulary
from covote.diagnosis.crowd import Sources, dependence
from covote.diagnosis.dependence import redrawn
from covote.engines.memory import MemoryEngine
from covote.methods.agreement import block_g, expected_agreement, holm, pair_tests, thick_pairs
from covote.methods.dawid_skene import dawid_skene
from covote.methods.groups import MATERIAL, branches, effective_votes
from covote.methods.multispa import multispa
from covote.model import Model
from covote.simulate import draw


def able_model(n_annotators, n_classes, seed, low=0.55, high=0.85):
    rng = np.random.default_rng(seed)
    accuracy = rng.uniform(low, high, (n_annotators, n_classes))
    rest = (1 - accuracy) / (n_classes - 1)
    confusion = rest[:, None, :] + (accuracy - rest)[:, None, :] * np.eye(n_classes)
    return Model(np.full(n_classes, 1 / n_classes), confusion, tuple(range(n_classes)), tuple(range(n_annotators)))


def table_of(crowd):
    a = crowd.annotations
    table = np.full((a.n_items, a.n_annotators), -1)
    table[a.item, a.annotator] = a.label
    return table


def annotations_of(table):
    item, annotator = np.nonzero(table >= 0)
    names = Vocabulary([f"judge {m}" for m in range(table.shape[1])])
    return Annotations.from_codes(item, annotator, table[item, annotator], annotators=names)


def copied(model, seed, n_items, source, copies, fidelity):
    """A full table in which each of `copies` takes the source's answer with probability `fidelity`."""
    table = table_of(draw(model, n_items, seed=seed))
    rng = np.random.default_rng(seed + 100)
    for m in copies:
        taken = rng.random(n_items) < fidelity
        table[taken, m] = table[taken, source]
    return annotations_of(table)


def examined(annotations, seed=0, truth=None):
    engine = MemoryEngine(annotations)
    counts = engine.pair_counts()
    model = dawid_skene(engine, multispa(counts).model, tol=1e-6).model
    return dependence(Sources(counts, engine, engine, truth), model, seed=seed)


@pytest.mark.slow
def test_independent_crowds_raise_an_alarm_at_the_nominal_rate():
    alarms = 0
    trials = 60
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        n_classes, n_annotators = int(rng.integers(2, 4)), int(rng.integers(5, 13))
        crowd = draw(able_model(n_annotators, n_classes, seed), 300, answering=rng.uniform(0.5, 1.0), seed=seed)
        engine = MemoryEngine(crowd.annotations)
        counts = engine.pair_counts()
        model = dawid_skene(engine, multispa(counts).model, tol=1e-6).model
        found = dependence(Sources(counts, engine, engine, None), model, seed=seed)
        alarms += any(p.adjusted < 0.05 for p in found.pairs)
        assert found.calibrated
    assert alarms <= 7  # 5 % expected; 7 or fewer of 60 with probability 0.99


def test_pair_p_values_of_independent_annotators_are_spread_evenly():
    values = []
    for seed in range(20):
        crowd = draw(able_model(10, 3, seed), 400, answering=0.6, seed=seed)
        engine = MemoryEngine(crowd.annotations)
        counts = engine.pair_counts()
        model = dawid_skene(engine, multispa(counts).model, tol=1e-6).model
        found = dependence(Sources(counts, engine, engine, None), model, seed=seed)
        assert found.tested == 45
        values += [p.p_value for p in found.pairs]  # the 20 smallest of 45
    # of 900 p-values about 45 lie below 0.05
    assert 15 <= sum(p < 0.05 for p in values) <= 75


@pytest.mark.parametrize("seed", range(3))
def test_a_copied_annotator_is_found_with_its_group(seed):
    found = examined(copied(able_model(8, 3, seed), seed, 1000, source=2, copies=[5], fidelity=0.8))
    assert [g.annotators for g in found.groups] == [("judge 2", "judge 5")]
    assert 0.4 < found.groups[0].correlation < 1
    assert 7 < found.effective_votes < 7.8
    assert {found.pairs[0].first, found.pairs[0].second} == {"judge 2", "judge 5"}


@pytest.mark.parametrize("fidelity", [0.95, 0.8, 0.6])
@pytest.mark.parametrize(("seed", "n_classes"), [(0, 2), (1, 3), (2, 4)])
def test_nine_judges_of_which_six_are_noisy_copies_of_one(seed, n_classes, fidelity):
    model = able_model(9, n_classes, seed, 0.6, 0.85)
    found = examined(copied(model, seed, 1500, source=0, copies=range(1, 7), fidelity=fidelity))
    assert [g.annotators for g in found.groups] == [tuple(f"judge {m}" for m in range(7))]
    assert 2 < found.effective_votes < 5
    assert found.annotators == 9


def test_judges_who_agree_on_nearly_everything_are_not_called_copies():
    # five judges right in 99 %, thirty items of three classes: shrunken matrices would expect them to err more
    for seed in range(5):
        found = examined(draw(able_model(5, 3, seed, 0.99, 0.995), 30, seed=seed).annotations)
        assert found.groups == ()
        assert found.effective_votes == 5


def test_copies_who_each_answer_half_of_the_items_are_found():
    a = copied(able_model(9, 3, 3, 0.6, 0.8), 3, 3000, source=0, copies=range(1, 7), fidelity=0.85)
    half = np.random.default_rng(0).random(a.n_labels) < 0.5
    found = examined(Annotations.from_codes(a.item[half], a.annotator[half], a.label[half], annotators=a.annotators))
    assert [g.annotators for g in found.groups] == [tuple(f"judge {m}" for m in range(7))]
    assert 2 < found.effective_votes < 5


def test_the_truth_settles_which_camp_is_right():
    # five accurate judges, four that copy a fifth, poor one: without truth the tighter camp is suspected
    model = able_model(10, 2, 3, 0.9, 0.95)
    poor = model.confusion.copy()
    poor[5:] = [[[0.7, 0.3], [0.3, 0.7]]] * 5
    crowd_model = Model(model.prior, poor, model.classes, model.annotators)
    crowd = draw(crowd_model, 1500, seed=3)
    table = table_of(crowd)
    for m in range(6, 10):
        taken = np.random.default_rng(m).random(1500) < 0.8
        table[taken, m] = table[taken, 5]
    found = examined(annotations_of(table), truth=crowd.truth)
    assert found.given_truth
    assert [g.annotators for g in found.groups] == [tuple(f"judge {m}" for m in range(5, 10))]
    assert 6 < found.effective_votes < 7.5


def test_copies_of_no_materiality_are_no_groups():
    found = examined(draw(able_model(6, 2, 1), 800, seed=5).annotations)
    assert found.groups == ()
    assert found.effective_votes == 6
    assert found.alarms == 0


def test_counts_alone_are_tested_cautiously():
    annotations = copied(able_model(8, 3, 0), 0, 1000, source=2, copies=[5], fidelity=0.9)
    engine = MemoryEngine(annotations)
    counts = engine.pair_counts()
    model = dawid_skene(engine, multispa(counts).model).model
    found = dependence(Sources(counts, None, None, None), model)
    assert not found.calibrated
    assert {found.pairs[0].first, found.pairs[0].second} == {"judge 2", "judge 5"}
    assert found.alarms >= 1
    assert found.groups == ()  # groups need the answers
    quiet = MemoryEngine(draw(able_model(8, 3, 0), 1000, seed=9).annotations)
    counts = quiet.pair_counts()
    model = dawid_skene(quiet, multispa(counts).model).model
    assert dependence(Sources(counts, None, None, None), model).alarms == 0


def test_statistics_of_a_block_by_hand():
    model = Model(np.array([0.5, 0.5]), np.array([[[0.8, 0.4], [0.2, 0.6]]] * 2), (0, 1), ("a", "b"))
    engine = MemoryEngine(Annotations.from_codes([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 0, 1]))
    counts = engine.pair_counts()
    # Pr(both 0) = (0.64 + 0.16) / 2, Pr(both 1) = (0.04 + 0.36) / 2
    assert expected_agreement(counts, model)[0] == pytest.approx(0.6)
    r = np.array([[0.4, 0.2], [0.2, 0.2]])
    n = np.array([[1, 1], [0, 1]])
    by_hand = 2 * sum(n[i, j] * np.log(n[i, j] / (3 * r[i, j])) for i, j in ((0, 0), (0, 1), (1, 1)))
    assert block_g(counts, model)[0] == pytest.approx(by_hand)
    assert pair_tests(counts, model).agreement[0] == pytest.approx(2 / 3)
    assert thick_pairs(counts).n_pairs == 0  # three items convict nobody


def test_redrawn_crowds_keep_the_pattern_and_follow_the_model():
    model = able_model(5, 3, 0)
    crowd = draw(model, 4000, answering=0.5, seed=1)
    again = redrawn(crowd.annotations, model, np.random.default_rng(2))
    assert np.array_equal(again.offsets, crowd.annotations.offsets)
    assert np.array_equal(again.annotator, crowd.annotations.annotator)
    frequency = MemoryEngine(again).label_counts() / MemoryEngine(again).label_counts().sum(axis=1, keepdims=True)
    assert np.abs(frequency - model.confusion @ model.prior).max() < 0.04


def test_votes_and_branches():
    assert effective_votes(1, 0.9) == 1
    assert effective_votes(9, 0) == 9
    assert effective_votes(9, 1) == 1
    assert effective_votes(3, -0.5) == 3  # less than independent is not more than all
    annotations = copied(able_model(6, 3, 0), 0, 500, source=0, copies=[4], fidelity=0.95)
    assert branches(MemoryEngine(annotations).pair_counts())[0] == (0, 4)
    assert holm(np.zeros(0)).shape == (0,)
    assert 0 < MATERIAL < 1
