"""The benchmarks judge by the right yardstick: the posterior of drawn crowds, families, and what is learnt without them."""

import itertools

import numpy as np
import pytest
from benchmarks import accuracy
from benchmarks.drawn_model import World, matrices
from benchmarks.families import by_family, family


def _brute_force(world, answers):
    """P(class, answers) by the definition: a copier copies where annotator 0 answers, else answers by itself."""
    total = np.zeros(world.home.max() + 1)
    for state, share in enumerate(world.prior):
        p = share
        for m, label in enumerate(answers):
            if label < 0:
                continue
            own = world.table[m, label, state]
            if world.copiers is not None and m in world.copiers and answers[0] >= 0:
                own = world.copying * (label == answers[0]) + (1 - world.copying) * own
            p *= own
        total[world.home[state]] += p
    return total


@pytest.mark.parametrize("copying", [0.0, 0.7])
def test_who_knows_the_model_has_its_exact_posterior(copying):
    rng = np.random.default_rng(1)
    crowd = matrices(rng.uniform(0.5, 0.9, 4), 3, rng)
    table = np.concatenate([crowd, crowd[:, :, [1, 2, 0]]], axis=2)  # items that look like another class
    copiers = np.array([1, 2]) if copying else None
    world = World(table, np.array([0.4, 0.2, 0.1, 0.1, 0.1, 0.1]), np.tile(np.arange(3), 2), copiers, copying)
    answers = np.array(list(itertools.product([-1, 0, 1, 2], repeat=4)))
    joint = np.array([_brute_force(world, row) for row in answers])
    np.testing.assert_allclose(world.posterior(answers), joint / joint.sum(axis=1, keepdims=True), atol=1e-12)
    assert joint[(answers >= 0).all(axis=1)].sum() == pytest.approx(1)


def test_drawn_crowds_follow_their_model():
    rng = np.random.default_rng(2)
    world = World(matrices(rng.uniform(0.5, 0.9, 6), 2, rng), np.array([0.7, 0.3]), np.arange(2), np.array([1, 2]), 0.9)
    crowd = world.draw(20_000, 4, rng)
    assert ((crowd.answers >= 0).sum(axis=1) == 4).all()
    announced = 1 - crowd.oracle.max(axis=1).mean()
    assert announced == pytest.approx((crowd.oracle.argmax(axis=1) != crowd.truth).mean(), abs=0.01)


def test_families_are_those_of_the_data():
    assert family("trec") == "trec"
    assert family("wrench_trec") == family("ws_video") == "lf"
    assert family("llm_feedback") != family("llmbar_mtbench") == "llmbar"
    assert by_family(["zc_in", "web", "zc_us"]) == {"zc": ["zc_in", "zc_us"], "web": ["web"]}


def test_a_family_left_out_has_no_say_in_what_is_learnt():
    best = {"web": 3, "zc_in": 5, "zc_us": 5}
    loss = {name: np.where(np.arange(len(accuracy.GRID)) == place, 0.0, 1.0) for name, place in best.items()}
    assert accuracy.learnt(loss, without="zc") == accuracy.GRID[3]
    assert accuracy.learnt(loss, without="web") == accuracy.GRID[5]


def test_log_loss_has_a_floor_and_counts_classes_that_nobody_named():
    p = np.array([[1.0, 0.0], [0.5, 0.5], [1.0, 0.0], [1.0, 0.0]])
    found = accuracy.log_loss(p, np.array([1, 0, -2, -1]))
    assert found == pytest.approx((2 * -np.log(0.001) - np.log(0.5)) / 3)
