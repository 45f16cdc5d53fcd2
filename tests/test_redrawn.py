"""Laws of crowds drawn again from their model: same design, no names, and shared errors told from independent ones."""

from __future__ import annotations

import numpy as np
import pytest
from tests.test_auto import crowd_of, turned
from tests.test_family import clones, dense, independent

from covote.engines.memory import MemoryEngine
from covote.estimators.auto import Auto
from covote.methods.calibrate import temperatures
from covote.methods.redrawn import USUAL, dispersion, probability, redraw, shared_errors
from covote.model import Model
from covote.score import calibration_error
from covote.simulate import draw


def random_model(seed, people, K, low=0.5, high=0.95):
    """Annotators of various accuracy, who err each in its own way, and unequal classes."""
    rng = np.random.default_rng(seed)
    confusion = rng.dirichlet(np.ones(K), size=(people, K)).transpose(0, 2, 1)
    right = rng.uniform(low, high, people)[:, None, None]
    confusion = np.where(np.eye(K, dtype=bool), 0, confusion)
    confusion = (1 - right) * confusion / confusion.sum(axis=1, keepdims=True) + right * np.eye(K)
    return Model(rng.dirichlet(np.full(K, 5.0)), confusion, tuple(range(K)), tuple(range(people)))


def together(kind, seed, n=4000, people=30, K=3, share=0.3):
    """Crowds whose annotators err together: hard items, items that fool them, or copies of one another."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, K, n)
    answers = np.array([independent(rng, truth, a, K) for a in rng.uniform(0.6, 0.95, people)]).T
    chance = rng.random(answers.shape)
    if kind == "hard":
        answers = np.where(chance < rng.beta(0.7, 1.5, (n, 1)), rng.integers(0, K, answers.shape), answers)
    elif kind == "fooled":
        look, fools = rng.integers(0, K, (n, 1)), rng.random((n, 1)) < 0.25
        answers = np.where(fools & (chance < 0.7), look, answers)
    else:
        answers[:, :10] = np.where(chance[:, :10] < 0.6, answers[:, :1], answers[:, :10])
    answers[rng.random(answers.shape) > share] = -1
    return dense(answers), truth


def told(a):
    return Auto().fit(a).choice_.shared


# Drawing


def test_the_same_annotators_answer_the_same_items():
    a, _ = crowd_of(0)
    b = redraw(a, random_model(0, 20, 3), seed=1)
    assert np.array_equal(a.offsets, b.offsets)
    assert np.array_equal(a.annotator, b.annotator)
    assert not np.array_equal(a.label, b.label)


def test_labels_are_drawn_as_the_model_has_it():
    model = random_model(1, 3, 3)
    a = dense(np.arange(120_000).reshape(40_000, 3) % 3)
    b = redraw(a, model, seed=0)
    seen = np.bincount(b.answer, minlength=9).reshape(3, 3) / 40_000
    np.testing.assert_allclose(seen, model.confusion @ model.prior, atol=0.01)
    labels = b.label.reshape(-1, 3)
    joint = np.einsum("ik,k,jk->ij", model.confusion[0], model.prior, model.confusion[1])
    pairs = np.bincount(labels[:, 0] * 3 + labels[:, 1], minlength=9).reshape(3, 3) / 40_000
    np.testing.assert_allclose(pairs, joint, atol=0.01)


@pytest.mark.parametrize("seed", range(3))
def test_names_and_order_do_not_change_what_is_drawn(seed):
    a, _ = crowd_of(seed)
    b, (_, people, classes) = turned(a, seed)
    model = random_model(seed, 20, 3)
    back = np.argsort(people), np.argsort(classes)
    other = Model(
        model.prior[back[1]], model.confusion[back[0]][:, back[1]][:, :, back[1]], model.classes, model.annotators
    )
    one, two = redraw(a, model, 5), redraw(b, other, 5)
    posterior = np.full((a.n_items, 3), 1 / 3)
    first, second = dispersion(one, model, posterior), dispersion(two, other, posterior)
    assert first.value == pytest.approx(second.value, rel=1e-12)
    assert np.bincount(one.answer, minlength=60).reshape(20, 3).tolist() == (
        np.bincount(two.answer, minlength=60).reshape(20, 3)[people][:, classes].tolist()
    )


# Dispersion


@pytest.mark.parametrize("K", [2, 4])
def test_dispersion_is_one_under_the_true_model(K):
    model = random_model(K, 30, K)
    crowd = draw(model, 4000, answering=0.2, seed=K)
    posterior = MemoryEngine(crowd.annotations).posterior(model.scores())
    found = dispersion(crowd.annotations, model, posterior)
    assert abs(found.value - 1) < 4 * found.error


def test_dispersion_of_known_classes_by_hand():
    # two annotators, right with 0.8 and 0.5; both right, both wrong
    model = Model(np.ones(2) / 2, np.array([[[0.8, 0.2], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]]), (0, 1), (0, 1))
    a = dense(np.array([[0, 0], [1, 1]]))
    found = dispersion(a, model, np.array([[1.0, 0.0], [1.0, 0.0]]))
    assert found.value == pytest.approx((0.7**2 + 1.3**2) / (2 * (0.16 + 0.25)))
    assert found.partners == 1


# The probability


def test_the_probability_rises_with_the_surplus():
    values = [probability(surplus, 5.0) for surplus in np.linspace(-4, 8, 25)]
    assert np.all(np.diff(values) > 0)
    assert values[0] < 0.2
    assert values[-1] > 0.999


def test_a_crowd_that_could_not_show_it_stays_where_it_began():
    assert probability(3.0, 0.0) == pytest.approx(USUAL)
    a = dense(np.array([[0, -1], [-1, 1], [1, -1]]))
    model = random_model(0, 2, 2)
    assert shared_errors(MemoryEngine(a), model, np.ones(2)) == USUAL


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("answering", [0.1, 0.3])
def test_drawn_from_the_model_means_calibrated(K, answering):
    crowd = draw(random_model(K, 30, K), 4000, answering=answering, seed=K)
    found = Auto().fit(crowd.annotations)
    assert found.choice_.shared < 0.7
    assert calibration_error(found.posterior_, crowd.truth) < (0.05 if answering < 0.2 else 0.03)


def test_many_crowds_drawn_from_models_are_calibrated_on_average():
    errors = []
    for seed in range(12):
        crowd = draw(random_model(seed, 30, 2 + seed % 4), 3000, answering=0.2, seed=seed)
        errors.append(calibration_error(Auto().fit(crowd.annotations).posterior_, crowd.truth))
    assert np.mean(errors) < 0.03


@pytest.mark.parametrize("kind", ["hard", "fooled", "copied"])
@pytest.mark.parametrize("seed", range(2))
def test_shared_errors_are_seen(kind, seed):
    assert told(together(kind, seed)[0]) > 0.9


def test_copies_are_shared_errors_or_named():
    choice = Auto().fit(clones(5, 6)[0].annotations).choice_
    assert choice.shared > 0.9 or choice.copies


def test_alike_annotators_are_no_sign_of_shared_errors():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 2000)
    answers = np.array([independent(rng, truth, 0.7, 3) for _ in range(20)]).T
    answers[rng.random(answers.shape) > 0.3] = -1
    found = Auto().fit(dense(answers))
    assert found.choice_.shared < 0.6
    assert calibration_error(found.posterior_, truth) < 0.1  # where nobody stands out, softening is strongest


def test_softening_grows_with_the_probability():
    values = [temperatures(0.5, np.array([2.0]), 0.1, shared).item() for shared in (0.0, 0.3, 0.6, 1.0)]
    assert values[0] == 1
    assert np.all(np.diff(values) < 0)
