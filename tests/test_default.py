"""The default: laws of its two sums, and how it behaves on crowds that are drawn, turned over or copied."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import covote
from covote.annotations.value import Annotations
from covote.default.fit_default import fit_default
from covote.default.hierarchical import STRENGTHS, best_strength, from_soft_counts
from covote.default.pool import pooled_scores
from covote.default.settings import DEFAULT, POWERS
from covote.engines.base import HeldOut
from covote.engines.memory import MemoryEngine
from covote.engines.vectorised import FEW_ANSWERS
from covote.errors import CrowdWarning, InputError
from covote.methods.majority_vote import vote_scores
from covote.score import error_rate
from naive_default import naive_heldout, naive_pool


def crowd(accuracy, *, items=600, classes=2, seed=0, constant=0, share=1.0):
    """(engine, truth) of independent annotators who are right with these probabilities; `constant` more say 0."""
    rng = np.random.default_rng(seed)
    M = len(accuracy)
    truth = rng.integers(0, classes, items)
    right = rng.random((items, M)) < np.asarray(accuracy)
    wrong = (truth[:, None] + rng.integers(1, classes, (items, M))) % classes
    label = np.hstack([np.where(right, truth[:, None], wrong), np.zeros((items, constant), int)])
    item, who = np.nonzero(rng.random(label.shape) < share)
    annotations = Annotations.from_codes(item, who, label[item, who])
    return MemoryEngine(annotations), truth


def labelled(engine):
    fit = fit_default(engine)
    return fit, engine.posterior(fit.scores)


def state_of(engine, *, hard):
    votes = engine.expected_counts(vote_scores(len(engine.annotators), len(engine.classes)))
    return from_soft_counts(votes, DEFAULT, hard=hard, before=None)


def answers_of(annotations):
    pairs = list(zip(annotations.annotator.tolist(), annotations.label.tolist(), strict=True))
    return [pairs[b:e] for b, e in zip(annotations.offsets, annotations.offsets[1:], strict=False)]


SIZES = {"numpy": 60, "compiled": FEW_ANSWERS // 3}


@pytest.mark.parametrize(("where", "hard"), list(product(SIZES, (False, True))))
def test_the_pool_is_the_obvious_one(where, hard):
    engine, _ = crowd([0.9, 0.7, 0.6, 0.8, 0.75, 0.5], items=SIZES[where], classes=3, share=0.7)
    weight = np.array([1.0, 1.0, 0.5, 0.5, 1.0, 1.0])
    scores = pooled_scores(state_of(engine, hard=hard), 0.4, weight, DEFAULT)
    found = engine.posterior(scores)
    for n, answers in list(enumerate(answers_of(engine.annotations)))[:40]:
        assert found[n] == pytest.approx(naive_pool(answers, scores), abs=1e-12)
    code, sure = engine.labels(scores)
    assert np.array_equal(code, found.argmax(axis=1))
    assert sure == pytest.approx(found.max(axis=1))


@pytest.mark.parametrize(("where", "hard"), list(product(SIZES, (False, True))))
def test_held_out_answers_are_the_obvious_ones(where, hard):
    engine, _ = crowd([0.9, 0.7, 0.6, 0.8, 0.75, 0.5], items=SIZES[where], classes=3, share=0.7)
    state = state_of(engine, hard=hard)
    question = HeldOut(
        state.scores(None), np.log(state.prior), state.counts, state.pooled, state.pseudo_answers, np.array(POWERS)
    )
    sums, squares, answers = engine.heldout(question)
    rows = np.array(naive_heldout(answers_of(engine.annotations), question))
    assert sums == pytest.approx(rows.sum(axis=0), rel=1e-10)
    assert squares == pytest.approx(((rows[:, :, None] - rows[:, None, :]) ** 2).sum(axis=0), rel=1e-8, abs=1e-10)
    assert answers == sum(len(a) for a in answers_of(engine.annotations) if len(a) > 1)


def test_an_item_without_answers_gets_the_class_shares():
    engine, _ = crowd([0.9, 0.8, 0.7], items=40)
    a = engine.annotations
    wider = Annotations(
        np.append(a.offsets, a.offsets[-1]), a.answer, covote.annotations.Vocabulary(range(41)), a.annotators, a.classes
    )
    fit = fit_default(MemoryEngine(wider))
    assert MemoryEngine(wider).posterior(fit.scores)[-1] == pytest.approx(fit.model.prior)


def test_strength_is_large_for_annotators_who_are_alike_and_small_for_others():
    rng = np.random.default_rng(0)
    pooled = np.array([[0.8, 0.3], [0.2, 0.7]])
    alike = np.stack([rng.multinomial(60, pooled[:, k], 40) for k in range(2)], axis=2).astype(float)
    apart = (
        np.stack([rng.multinomial(60, p, 1)[0] for p in rng.dirichlet([1, 1], 80)]).reshape(40, 2, 2).transpose(0, 2, 1)
    )
    assert STRENGTHS[best_strength(alike, pooled)] > 50 > 5 > STRENGTHS[best_strength(apart.astype(float), pooled)]
    assert best_strength(alike, pooled, 3) == best_strength(alike, pooled)  # uphill from anywhere


@pytest.mark.parametrize(("M", "accuracy", "K", "items"), list(product((3, 5, 7), (0.7, 0.92, 0.99), (2, 5), (600,))))
def test_small_good_teams_announce_an_honest_error(M, accuracy, K, items):
    true, announced = [], []
    for seed in range(6):
        engine, truth = crowd([accuracy] * M, items=items, classes=K, seed=seed)
        _, p = labelled(engine)
        true.append(error_rate(p, truth))
        announced.append(1 - p.max(axis=1).mean())
    error, said = np.mean(true), np.mean(announced)
    assert error / 2 <= said <= 2 * error or abs(said - error) < 0.01


INVERTED = list(product((1, 2, 3, 4), (0.65, 0.8, 0.9), (2, 3, 5)))


@pytest.mark.parametrize(("swapped", "accuracy", "K"), INVERTED)
def test_annotators_with_a_swapped_key_do_not_turn_the_result_over(swapped, accuracy, K):
    engine, truth = crowd([accuracy] * (10 - swapped) + [0.05] * swapped, items=1000, classes=K, seed=swapped)
    _, p = labelled(engine)
    votes = error_rate(engine.posterior(vote_scores(10, K)), truth)
    assert error_rate(p, truth) <= votes + 0.002  # two items of a thousand


def test_seven_right_in_70_and_two_inverted_err_a_third_of_votes():
    engine, truth = crowd([0.7] * 7 + [0.05] * 2, items=1000)
    _, p = labelled(engine)
    assert error_rate(p, truth) <= error_rate(engine.posterior(vote_scores(9, 2)), truth) / 3
    assert abs((1 - p.max(axis=1).mean()) - error_rate(p, truth)) < 0.02


@pytest.mark.parametrize(("constant", "accuracy", "K"), list(product((1, 3, 6), (0.65, 0.9), (2, 3, 5))))
def test_constant_answerers_are_no_labelling_functions_and_have_no_say(constant, accuracy, K):
    engine, truth = crowd([accuracy] * (10 - constant), items=1000, classes=K, seed=1, constant=constant)
    fit, p = labelled(engine)
    alone, _ = crowd([accuracy] * (10 - constant), items=1000, classes=K, seed=1)
    assert fit.details["explanation"].method == "pool"
    assert error_rate(p, truth) <= error_rate(engine.posterior(vote_scores(10, K)), truth) + 0.002
    assert error_rate(p, truth) <= error_rate(alone.posterior(vote_scores(10 - constant, K)), truth) + 0.02


def copied(seed=0, items=600):
    """Nine judges right in 70 %; judges 1 to 5 copy judge 0."""
    engine, truth = crowd([0.7] * 9, items=items, seed=seed)
    label = engine.annotations.label.reshape(items, 9).copy()
    label[:, 1:6] = label[:, :1]
    item, who = np.nonzero(np.ones((items, 9), bool))
    return MemoryEngine(Annotations.from_codes(item, who, label[item, who])), truth


def test_copies_count_as_one_and_are_named():
    engine, truth = copied()
    fit, p = labelled(engine)
    assert fit.details["explanation"].groups == ((0, 1, 2, 3, 4, 5),)
    assert any("count as one annotator" in note for note in fit.notes)
    assert error_rate(p, truth) < error_rate(engine.posterior(vote_scores(9, 2)), truth)


def test_groups_share_one_vote():
    engine, _ = copied(1)
    given = fit_default(engine, groups=dict.fromkeys(range(6), "one vendor"))
    found = fit_default(engine)
    assert np.allclose(engine.posterior(given.scores), engine.posterior(found.scores))
    assert given.details["explanation"].given


def test_good_annotators_who_agree_are_no_copies():
    engine, _ = crowd([0.97] * 9, items=1000)
    assert fit_default(engine).details["explanation"].groups == ()


def test_groups_of_nobody_here_are_an_error():
    votes = [("x", "a", 1), ("x", "b", 0), ("y", "a", 1), ("y", "b", 1)]
    with pytest.raises(InputError, match="^None of the 1 annotators of the groups answers here \\(zoe\\). Pass groups"):
        covote.Auto(groups={"zoe": 1}).fit(votes)


def test_groups_come_from_a_file(tmp_path):
    (tmp_path / "groups.csv").write_text("annotator,group\na,x\nb,x\n")
    votes = [(i, a, (i + (a == "c")) % 2) for i in range(30) for a in "abc"]
    fit = covote.Auto(groups=str(tmp_path / "groups.csv")).fit(votes)
    assert fit.explanation_.groups == (("a", "b"),)


def test_labelling_functions_are_counted_by_rarity():
    votes = [(i, f"rule{i % 4}", i % 2) for i in range(200)] + [(i, "all", 1) for i in range(0, 200, 3)]
    fit = covote.Auto().fit(votes)
    assert fit.explanation_.method == "labelling functions"


def test_predict_on_the_same_table_gives_the_labels_of_the_fit():
    rng = np.random.default_rng(3)
    votes = [(i, m, int(rng.random() < 0.3 + 0.4 * (i % 2))) for i in range(200) for m in range(7)]
    fit = covote.Auto().fit(votes)
    assert fit.predict(votes) == fit.labels_


def test_results_follow_items_annotators_and_classes_that_are_reordered():
    engine, _ = crowd([0.9, 0.8, 0.6, 0.7, 0.55], items=300, classes=3, seed=4)
    a = engine.annotations
    _, p = labelled(engine)
    rng = np.random.default_rng(0)
    items, people, classes = rng.permutation(300), rng.permutation(5), rng.permutation(3)
    other = MemoryEngine(Annotations.from_codes(items[a.item], people[a.annotator], classes[a.label]))
    _, q = labelled(other)
    assert q[items][:, classes] == pytest.approx(p, abs=1e-9)


@pytest.mark.parametrize("rare", [["brid", "bird?", "Bird"], ["brid", "bird?"], ["NA", "nan", " "]])
def test_labels_that_occur_once_do_not_beat_those_that_agree(rare):
    rng = np.random.default_rng(0)
    votes = [(i, a, ["bird", "cat", "dog"][(i + (rng.random() < 0.2)) % 3]) for i in range(40) for a in range(4)]
    votes += [("x", a, label) for a, label in enumerate(["bird", "bird", *rare])]
    assert covote.aggregate(votes).labels_["x"] == "bird"


def test_groups_that_name_nobody_are_told():
    votes = [(i, a, (i + (a == "c")) % 2) for i in range(30) for a in "abc"]
    with pytest.warns(
        CrowdWarning, match=r"^The groups name 1 annotators who do not answer here \(zz\); they are ignored.$"
    ):
        fit = covote.aggregate(votes, groups={"a": 1, "b": 1, "zz": 1})
    assert fit.explanation_.groups == (("a", "b"),)
