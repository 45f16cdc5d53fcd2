"""Judges who copy each other: the default names them, counts them for less, and is not fooled by their number."""

from __future__ import annotations

import numpy as np
import pytest

from covote.annotations import Annotations, load
from covote.annotations.distinct_rows import RepeatedRows
from covote.engines.memory import MemoryEngine
from covote.estimators.auto import Auto
from covote.estimators.dawid_skene import DawidSkene
from covote.methods.auto import auto
from covote.score import error_rate

SKILLS = (0.8, 0.75, 0.7, 0.75, 0.7, 0.8, 0.7, 0.75, 0.8)


def judges(seed, copied, n_classes=3, n_items=1500):
    """Answers of nine judges, of whom 1 to 6 take the answer of judge 0 in a part of the items, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_items)
    wrong = (truth[:, None] + rng.integers(1, n_classes, size=(n_items, 9))) % n_classes
    answers = np.where(rng.random((n_items, 9)) < SKILLS, truth[:, None], wrong)
    taken = rng.random((n_items, 9)) < copied
    taken[:, [0, 7, 8]] = False
    return np.where(taken, answers[:, :1], answers), truth


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("copied", [0.6, 0.75, 0.9])
def test_a_ring_that_is_most_of_the_crowd_is_named_and_not_believed(copied, n_classes):
    for seed in range(2):
        answers, truth = judges(seed, copied, n_classes)
        found = Auto().fit(answers)
        (group,) = found.choice_.copies
        assert group.annotators == tuple(range(7))
        assert 1 <= group.votes < 3
        fooled = error_rate(DawidSkene().fit(answers).posterior_, truth)
        assert error_rate(found.posterior_, truth) < 0.75 * fooled
        wrong = found.codes_ != truth
        assert found.confidence_.mean() < 1 - wrong.mean() + 0.03  # not surer than it is right
        assert group.sentence in found.fit_.notes


def test_the_order_of_judges_items_and_labels_does_not_matter():
    answers, _ = judges(3, 0.8)
    rng = np.random.default_rng(0)
    rows, people = rng.permutation(len(answers)), rng.permutation(9)
    one, other = Auto().fit(answers), Auto().fit(answers[rows][:, people])
    np.testing.assert_allclose(one.posterior_[rows], other.posterior_, atol=1e-9)
    assert {people[m] for m in other.choice_.copies[0].annotators} == set(range(7))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_independent_judges_are_no_ring(n_classes):
    for seed in range(8):
        assert Auto().fit(judges(seed, 0.0, n_classes, 800)[0]).choice_.copies == ()


def test_a_ring_among_many_workers():
    rng = np.random.default_rng(1)
    truth = rng.integers(3, size=2000)
    wrong = (truth[:, None] + rng.integers(1, 3, size=(2000, 30))) % 3
    answers = np.where(rng.random((2000, 30)) < 0.65, truth[:, None], wrong)
    taken = rng.random((2000, 30)) < 0.8
    taken[:, 12:] = False
    answers = np.where(taken, answers[:, :1], answers)
    answers[rng.random(answers.shape) < 0.5] = -1
    found = Auto().fit(answers)
    assert [set(group.annotators) for group in found.choice_.copies] == [set(range(12))]
    assert error_rate(found.posterior_, truth) < error_rate(DawidSkene().fit(answers).posterior_, truth)


def test_patterns_of_answers_change_nothing():
    """Nine judges on many items show few patterns: fitted and softened on these, or on every item, it is the same."""
    answers, _ = judges(4, 0.8, n_classes=2, n_items=3000)
    answers[np.random.default_rng(0).random(answers.shape) < 0.02] = -1
    a = load(np.concatenate([answers] * 6)).annotations
    assert isinstance(a, RepeatedRows)
    plain = Annotations(a.offsets, a.answer, a.items, a.annotators, a.classes)
    fits = [auto(MemoryEngine(x, collapse=c)) for x, c in ((a, True), (plain, True), (plain, False))]
    for other in fits[1:]:
        np.testing.assert_allclose(fits[0].posterior, other.posterior, atol=1e-9)
        np.testing.assert_allclose(fits[0].scores.table, other.scores.table, atol=1e-9)
        (one,), (same,) = (f.details["choice"].copies for f in (fits[0], other))
        assert one.annotators == same.annotators
        assert one.votes == pytest.approx(same.votes)
