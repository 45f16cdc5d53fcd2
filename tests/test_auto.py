"""Laws of the default: order, names and threads do not matter, copies do not win, guards fire, the choice is told."""

from __future__ import annotations

import numpy as np
import pytest
from tests.test_family import clones, dense, independent

from covote.annotations import Annotations, Vocabulary
from covote.engines.memory import MemoryEngine
from covote.estimators.auto import Auto
from covote.estimators.dawid_skene import DawidSkene, MajorityVote
from covote.methods.auto import auto
from covote.methods.family import FAMILY
from covote.model import Status
from covote.score import calibration_error, error_rate, log_loss
from covote.simulate import draw, paper_model


def crowd_of(seed, n=400, people=20, K=3, share=0.3, low=0.5, high=0.95):
    """Annotators of various accuracy who each answer a share of the items."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, K, n)
    answers = np.array([independent(rng, truth, a, K) for a in rng.uniform(low, high, people)]).T
    answers[rng.random(answers.shape) > share] = -1
    one = rng.integers(0, people, n)  # nobody is left without an answer
    answers[np.arange(n), one] = independent(rng, truth, 0.6, K)
    return dense(answers), truth


def turned(a, seed):
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(n) for n in (a.n_items, a.n_annotators, a.n_classes)]
    names = (Vocabulary(np.arange(len(o))) for o in orders)
    codes = (order[code] for order, code in zip(orders, (a.item, a.annotator, a.label), strict=True))
    b = Annotations.from_codes(*codes, **dict(zip(("items", "annotators", "classes"), names, strict=True)))
    return b, orders


@pytest.mark.parametrize("seed", range(3))
def test_results_do_not_depend_on_names_or_order(seed):
    a, _ = crowd_of(seed)
    b, (items, people, classes) = turned(a, seed)
    one, two = Auto().fit(a), Auto().fit(b)
    np.testing.assert_allclose(two.posterior_[items][:, classes], one.posterior_, atol=1e-9)
    matched = two.model_.confusion[people][:, classes][:, :, classes]
    np.testing.assert_allclose(matched, one.model_.confusion, atol=1e-9)
    assert [c.share for c in two.choice_.candidates] == pytest.approx([c.share for c in one.choice_.candidates])


def test_rows_in_any_order_and_any_number_of_threads_give_the_same_bits():
    a, _ = crowd_of(1, n=40_000, people=30, share=0.3)
    one, three = (Auto(threads=t).fit(a).posterior_ for t in (1, 3))
    assert np.array_equal(one, three)
    assert np.array_equal(one, Auto().fit(a).posterior_)


@pytest.mark.parametrize("seed", range(4))
def test_it_is_better_than_votes_on_annotators_who_differ(seed):
    a, truth = crowd_of(seed, n=1500, people=40, share=0.12, low=0.35)
    found = Auto().fit(a)
    votes = MajorityVote().fit(a)
    assert error_rate(found.posterior_, truth) <= error_rate(votes.posterior_, truth) - 0.01
    assert log_loss(found.posterior_, truth) < log_loss(votes.posterior_, truth)


@pytest.mark.parametrize("copies", [4, 6, 8])
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_copies_of_one_annotator_do_not_win(copies, noise):
    engine, truth = clones(5, copies, noise)
    fit = auto(engine)
    fooled = DawidSkene(init="majority").fit(engine.annotations)
    assert error_rate(fit.posterior, truth) < 0.12
    assert error_rate(fooled.posterior_, truth) > 0.3
    choice = fit.details["choice"]
    assert choice.dependent_pairs >= copies * (copies - 1) / 2
    assert any("agree beyond the model" in line for line in choice.explain())


def test_more_copies_change_next_to_nothing():
    few, many = (auto(clones(6, copies)[0]).posterior for copies in (2, 8))
    assert (few.argmax(axis=1) == many.argmax(axis=1)).mean() > 0.95


@pytest.mark.parametrize("seed", range(2))
def test_a_crowd_that_pair_counts_identify_is_found_although_most_annotators_are_worse_than_chance(seed):
    crowd = draw(paper_model("case1", seed=seed), 4000, answering=0.5, seed=seed)
    found = Auto().fit(crowd.annotations)
    assert found.choice_.start == "co-occurrences"
    assert error_rate(found.posterior_, crowd.truth) < 0.1
    assert error_rate(MajorityVote().fit(crowd.annotations).posterior_, crowd.truth) > 0.4


@pytest.mark.parametrize(("items", "answering"), [(1000, 0.3), (2000, 0.2)])
def test_so_is_one_of_thin_pairs_that_is_far_likelier(items, answering):
    crowd = draw(paper_model("case1", seed=2), items, answering=answering, seed=2)
    found = Auto().fit(crowd.annotations)
    assert found.choice_.start == "co-occurrences"
    assert error_rate(found.posterior_, crowd.truth) < 0.3
    assert error_rate(MajorityVote().fit(crowd.annotations).posterior_, crowd.truth) > 0.6


@pytest.mark.parametrize("seed", range(4))
def test_thin_pairs_do_not_overrule_votes_that_know_something(seed):
    a, _ = crowd_of(seed, n=150, people=10, share=0.5, low=0.4, high=0.65)
    assert Auto().fit(a).choice_.start == "votes"


def test_confidence_is_no_overclaim_where_annotators_err_together():
    # hard items: three in ten look the same to everybody, rightly or wrongly
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 3000)
    hard, look = rng.random(3000) < 0.3, rng.integers(0, 2, 3000)
    answers = []
    for a in rng.uniform(0.7, 0.9, 9):
        follows = hard & (rng.random(3000) < 0.7)
        answers.append(np.where(follows, look, independent(rng, truth, a)))
    a = dense(np.array(answers).T)
    found, plain = Auto().fit(a), DawidSkene(init="majority").fit(a)
    assert log_loss(found.posterior_, truth) < 0.6 * log_loss(plain.posterior_, truth)
    assert calibration_error(found.posterior_, truth) < calibration_error(plain.posterior_, truth) + 0.01


# Guards


def chosen(rows):
    fit = Auto().fit(rows)
    np.testing.assert_allclose(fit.posterior_.sum(axis=1), 1)
    return fit.choice_


def test_rules_that_vote_one_class_are_counted_by_rarity():
    rows = [(i, f"rule{i % 2}", "spam" if i % 2 else "ham") for i in range(20)]
    rows += [(i, "always", "ham") for i in range(20)]
    choice = chosen(rows)
    assert choice.chosen == "rules"
    assert choice.sentence == (
        "100 % of the answers come from annotators who give one label or none, as rules do: "
        "votes are counted, rare ones for more."
    )
    assert Auto().fit(rows).labels_[1] == "spam"


def test_items_of_one_answer_are_left_as_they_are():
    choice = chosen([(i, f"a{i % 3}", "xy"[i % 2]) for i in range(12)])
    assert choice.sentence == "No item has two answers, so annotators cannot be compared: votes are counted."


def test_one_label_is_no_choice():
    choice = chosen([(i, a, "x") for i in range(5) for a in "abc"])
    assert choice.sentence == "Every answer has the same label: there is nothing to weigh."


def test_answers_at_random_are_counted_as_votes():
    rng = np.random.default_rng(0)
    choice = chosen([(i, a, int(rng.integers(2))) for i in range(3000) for a in range(6)])
    assert choice.chosen == "votes"
    assert choice.guards


@pytest.mark.parametrize("seed", range(6))
def test_tiny_crowds_give_probabilities_and_an_account(seed):
    rng = np.random.default_rng(seed)
    for _ in range(15):
        n, people, K, share = rng.integers(1, 9), rng.integers(1, 6), rng.integers(1, 5), rng.random()
        rows = [(i, m, int(rng.integers(K))) for i in range(n) for m in range(people) if rng.random() < share]
        if not rows:
            continue
        fit = Auto().fit(rows)
        assert np.isfinite(fit.posterior_).all()
        np.testing.assert_allclose(fit.posterior_.sum(axis=1), 1)
        assert sum(c.share for c in fit.choice_.candidates) == pytest.approx(1)
        assert all(isinstance(line, str) and line.endswith(".") for line in fit.choice_.explain())


def test_gold_is_kept_and_helps():
    a, truth = crowd_of(7, n=200, people=6, share=0.5, high=0.75)
    rows = list(zip(a.item.tolist(), a.annotator.tolist(), a.label.tolist(), strict=True))
    gold = {i: int(truth[i]) for i in range(100)}
    fit = Auto().fit(rows, gold=gold)
    assert all(fit.labels_[i] == gold[i] for i in gold)
    alone = Auto().fit(rows)
    rest = np.arange(100, 200)
    assert error_rate(fit.posterior_[rest], truth[rest]) <= error_rate(alone.posterior_[rest], truth[rest]) + 0.02


# The choice


def test_the_choice_is_told():
    a, _ = crowd_of(2)
    fit = Auto().fit(a)
    choice = fit.choice_
    assert {c.name for c in choice.candidates} == {m.name for m in FAMILY}
    kept = sorted(choice.candidates, key=lambda c: -c.share)
    assert kept[0].heldout == max(c.heldout for c in choice.candidates)
    assert choice.chosen == kept[0].name
    assert sum(c.share > 0 for c in choice.candidates) <= 3
    assert choice.sentence.startswith("An average of 3 models, weighted by how well they predict answers held out: ")
    assert choice.sentence in fit.fit_.notes
    assert fit.fit_.status is Status.PLANNED
    assert choice.explain()[0] == choice.sentence


def test_new_items_are_labelled_as_old_ones():
    a, _ = crowd_of(3, n=1000)
    rows = list(zip(a.item.tolist(), a.annotator.tolist(), a.label.tolist(), strict=True))
    fit = Auto().fit(rows)
    again = fit.predict(rows)
    same = np.mean([again[i] == label for i, label in fit.labels_.items()])
    assert same > 0.97


def test_new_items_are_given_as_much_confidence_as_old_ones():
    a, _ = crowd_of(3, n=1000)
    rows = list(zip(a.item.tolist(), a.annotator.tolist(), a.label.tolist(), strict=True))
    fit = Auto().fit(rows)
    again = fit.predict_proba(rows)
    sure = np.array([max(again[i].values()) for i in range(1000)])
    assert sure.mean() == pytest.approx(fit.posterior_.max(axis=1).mean(), abs=0.005)
    assert np.abs(sure - fit.posterior_.max(axis=1)).mean() < 0.05


def test_progress_is_told():
    a, _ = crowd_of(4)
    seen = []
    auto(MemoryEngine(a), progress=lambda done, limit, value: seen.append((done, limit, value)))
    assert [s[0] for s in seen] == list(range(1, len(seen) + 1))
    assert seen[-1][0] <= seen[-1][1]


def test_a_frame_is_labelled_where_it_lies():
    import duckdb
    import pandas as pd

    a, _ = crowd_of(8, n=300)
    frame = pd.DataFrame({"item": a.item, "annotator": a.annotator, "label": a.label})
    there = Auto(engine="frame").fit(duckdb.from_df(frame))
    here = Auto().fit(frame)
    labels = there.labels_.df().set_index("item").loc[np.arange(300), "label"].to_numpy()
    assert (labels == here.codes_).mean() > 0.97
    assert "must be in memory" in there.choice_.sentence


def test_rows_without_answers_teach_nothing():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=300)
    answers = np.where(rng.random((300, 6)) < 0.75, truth[:, None], 1 - truth[:, None])
    answers[rng.random(answers.shape) < 0.4] = -1
    answers[(answers >= 0).sum(axis=1) == 0, 0] = 0
    alone, among = Auto().fit(answers), Auto().fit(np.concatenate([answers, np.full((900, 6), -1)]))
    np.testing.assert_allclose(among.posterior_[:300], alone.posterior_, atol=1e-9)
    assert np.ptp(among.posterior_[300:], axis=0).max() == 0
