"""Flat directions and how far they go: exact on constructed crowds, honest on drawn ones."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.spatial import Delaunay

from covote.counts import PairCounts
from covote.diagnosis.anchors import anchors
from covote.diagnosis.flatness import flat_space, tangent_basis
from covote.diagnosis.freedom import curvature_of, freedom
from covote.diagnosis.identifiability import Verdict, identifiability
from covote.diagnosis.overlap import overlap
from covote.diagnosis.scatter import scatter
from covote.engines.memory import MemoryEngine
from covote.methods.dawid_skene import dawid_skene
from covote.methods.multispa import multispa
from covote.methods.multispa_kl import multispa_kl
from covote.model import Model, columns
from covote.score import match_classes
from covote.simulate import draw, paper_model


def random_model(n_annotators, n_classes, seed, confusion=None):
    rng = np.random.default_rng(seed)
    if confusion is None:
        confusion = columns(rng.random((n_annotators, n_classes, n_classes)) + 2 * np.eye(n_classes))
    prior = rng.dirichlet(np.full(n_classes, 5.0))
    return Model(prior, confusion, tuple(range(n_classes)), tuple(range(len(confusion))))


def population_counts(model, pairs=None, n=1e6):
    """What infinitely many items would count, scaled to n shared items a pair."""
    pairs = list(itertools.combinations(range(model.n_annotators), 2)) if pairs is None else pairs
    blocks = [n * model.confusion[m] * model.prior @ model.confusion[t].T for m, t in pairs]
    first, second = zip(*pairs, strict=True)
    label_counts = n * model.confusion @ model.prior
    return PairCounts.build(first, second, blocks, label_counts, n, model.classes, model.annotators)


def moved(model, space, direction, step):
    confusion = model.confusion.copy()
    confusion[space.core] += step * space.confusion[direction]
    return model.prior + step * space.prior[direction], confusion


def block_change(model, counts, space, direction, step):
    prior, confusion = moved(model, space, direction, step)
    change = [
        np.abs(confusion[m] * prior @ confusion[t].T - model.confusion[m] * model.prior @ model.confusion[t].T).max()
        for m, t in zip(counts.first, counts.second, strict=True)
    ]
    return max(change)


def assert_flat(model, counts, space):
    """Along a flat direction the blocks change to second order only, along the next one to first order."""
    for direction in range(space.n_flat):
        far, near = (block_change(model, counts, space, direction, step) for step in (1e-3, 1e-4))
        assert far < 1e-5
        assert near < 0.02 * far + 1e-13
    if len(space.prior) > space.n_flat:
        assert block_change(model, counts, space, space.n_flat, 1e-4) > 1e-6


@pytest.mark.parametrize(("n_annotators", "n_classes"), [(3, 2), (5, 2), (4, 3), (6, 3), (5, 4), (12, 5)])
def test_every_crowd_leaves_the_rotations_and_no_more(n_annotators, n_classes):
    model = random_model(n_annotators, n_classes, seed=n_annotators)
    counts = population_counts(model)
    space = flat_space(counts, model)
    assert space.n_flat == n_classes * (n_classes - 1) // 2
    assert space.singular_values[space.n_flat] > 0.01
    assert_flat(model, counts, space)
    # changes keep the columns' sums
    assert np.abs(space.confusion.sum(axis=2)).max() < 1e-12
    assert np.abs(space.prior.sum(axis=1)).max() < 1e-12


def test_the_flat_directions_are_the_rotations_of_the_theory():
    model = random_model(5, 3, seed=1)
    space = flat_space(population_counts(model), model)
    found = np.concatenate([space.prior, space.confusion.reshape(len(space.prior), -1)], axis=1)[: space.n_flat]
    root = np.sqrt(model.prior)
    for k, j in itertools.combinations(range(3), 2):
        turn = np.zeros((3, 3))
        turn[k, j], turn[j, k] = 1.0, -1.0
        # A_m D^1/2 (I + t turn), columns scaled back to sum 1
        prior = 2 * root * (turn.T @ root)
        mixed = model.confusion * root @ turn / root
        confusion = mixed - model.confusion * (prior / (2 * model.prior))
        direction = np.concatenate([prior, confusion.ravel()])
        outside = direction - np.linalg.lstsq(found.T, direction, rcond=None)[0] @ found
        assert np.linalg.norm(outside) < 1e-6 * np.linalg.norm(direction)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_two_annotators_leave_as_much_as_counting_parameters_says(n_classes):
    # 2K(K-1) + K-1 parameters, K^2 - 1 numbers in one block
    model = random_model(2, n_classes, seed=3)
    counts = population_counts(model)
    space = flat_space(counts, model)
    assert space.n_flat == n_classes * (n_classes - 1)
    assert_flat(model, counts, space)


def test_annotators_who_cannot_tell_two_classes_apart_leave_their_shares_open():
    model = random_model(5, 3, seed=4)
    blurred = model.confusion.copy()
    blurred[:, :, 2] = blurred[:, :, 1]
    model = Model(model.prior, blurred, model.classes, model.annotators)
    counts = population_counts(model)
    space = flat_space(counts, model)
    assert space.n_flat > 3
    assert_flat(model, counts, space)
    # moving prior mass between the two classes is one of the flat directions
    trade = np.zeros(space.prior.shape[1] + space.confusion[0].size)
    trade[1], trade[2] = 1.0, -1.0
    found = np.concatenate([space.prior, space.confusion.reshape(len(space.prior), -1)], axis=1)[: space.n_flat]
    outside = trade - np.linalg.lstsq(found.T, trade, rcond=None)[0] @ found
    assert np.linalg.norm(outside) < 1e-6
    verdict = identifiability(counts, model, overlap(counts))
    assert verdict.from_pairs.verdict is Verdict.NOT
    assert {verdict.mixing[0].first, verdict.mixing[0].second} == {1, 2}


def test_disconnected_groups_turn_on_their_own():
    model = random_model(6, 3, seed=5)
    apart = [*itertools.combinations(range(3), 2), *itertools.combinations(range(3, 6), 2)]
    counts = population_counts(model, apart)
    space = flat_space(counts, model)
    # two rotations of dimension 3, tied by the prior they share (dimension 2)
    assert space.n_flat == 4
    assert_flat(model, counts, space)
    graph = overlap(counts)
    assert [len(c.annotators) for c in graph.components] == [3, 3]
    assert identifiability(counts, model, graph).verdict is Verdict.NOT


def test_two_camps_that_never_meet_within_are_not_identified():
    model = random_model(6, 3, seed=6)
    across = [(m, t) for m in range(3) for t in range(3, 6)]
    counts = population_counts(model, across)
    space = flat_space(counts, model)
    assert space.n_flat > 3
    assert_flat(model, counts, space)
    graph = overlap(counts)
    assert graph.bipartite
    assert identifiability(counts, model, graph).verdict is Verdict.NOT


def test_a_separable_crowd_is_identified_and_a_blurred_one_is_not():
    rng = np.random.default_rng(7)
    model = random_model(8, 3, seed=7, confusion=columns(0.3 + rng.random((8, 3, 3))))
    sharp = model.confusion.copy()
    sharp[0] = np.eye(3)
    expert = Model(model.prior, sharp, model.classes, model.annotators)
    counts = population_counts(expert, n=1e9)
    found = identifiability(counts, expert, overlap(counts))
    assert found.from_pairs.verdict is Verdict.IDENTIFIED
    assert found.from_pairs.prior_width < 1e-3
    assert found.scatter.sufficient
    counts = population_counts(model, n=1e9)
    found = identifiability(counts, model, overlap(counts))
    assert found.from_pairs.verdict is not Verdict.IDENTIFIED
    assert found.from_pairs.prior_width > 0.1
    assert not found.scatter.sufficient


def test_few_answers_cannot_pin_the_crowd_down():
    model = random_model(6, 2, seed=8)
    sharp = model.confusion.copy()
    sharp[0] = np.eye(2)
    expert = Model(model.prior, sharp, model.classes, model.annotators)
    space = flat_space(population_counts(expert), expert)
    answers = np.full(6, 1e6)
    sure = freedom(space, expert, answers).prior_width
    answers[0] = 5
    unsure = freedom(space, expert, answers).prior_width
    assert sure < 0.01 < unsure


def test_the_range_of_the_prior_is_exact_for_two_classes():
    # K = 2: one direction; walk along it until the first entry reaches zero
    model = random_model(4, 2, seed=9)
    space = flat_space(population_counts(model, n=1e14), model)
    found = freedom(space, model, np.full(4, np.inf))
    change = np.concatenate([space.confusion[0].ravel(), space.prior[0]])
    room = np.concatenate([model.confusion.ravel(), model.prior])
    ahead = (room[change < 0] / -change[change < 0]).min()
    behind = (room[change > 0] / change[change > 0]).min()
    ends = sorted([model.prior[0] + ahead * space.prior[0, 0], model.prior[0] - behind * space.prior[0, 0]])
    assert [found.prior_low[0], found.prior_high[0]] == pytest.approx(ends, abs=1e-6)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_case_2_with_the_skewed_prior_is_called_what_it_is(seed):
    truth = paper_model("case2", prior=[1 / 6, 2 / 3, 1 / 6], seed=seed)
    crowd = draw(truth, 10_000, answering=0.5, seed=seed)
    engine = MemoryEngine(crowd.annotations)
    counts = engine.pair_counts()
    model = match_classes(truth, multispa_kl(counts, multispa(counts).model).model)
    found = identifiability(counts, model, overlap(counts, crowd.annotations), engine=engine)
    assert found.from_pairs.verdict is not Verdict.IDENTIFIED
    assert found.flat_directions == 3
    # the directions point at the parameters that are wrong: three of 152 dimensions hold most of the error
    space = flat_space(counts, model)
    flat = np.concatenate([space.prior, space.confusion.reshape(len(space.prior), -1)], axis=1)[: space.n_flat]
    error = np.concatenate([truth.prior - model.prior, (truth.confusion - model.confusion).ravel()])
    inside = np.linalg.lstsq(flat.T, error, rcond=None)[0] @ flat
    share = float(inside @ inside / (error @ error))
    assert share > 0.4
    # all answers together know better, and say where to: along the true error
    pull = curvature_of(engine, space, model).pull
    step = pull[: space.n_flat] @ flat
    assert step @ inside / np.linalg.norm(step) / np.linalg.norm(inside) > 0.8
    assert found.from_answers.verdict is Verdict.IDENTIFIED
    assert found.pull_prior > found.from_answers.prior_width
    em = match_classes(truth, dawid_skene(engine, model).model)
    assert np.abs(em.prior - truth.prior).max() < 0.3 * np.abs(model.prior - truth.prior).max() + 0.01


def test_the_curvature_is_that_of_the_log_likelihood():
    truth = random_model(5, 3, seed=11)
    engine = MemoryEngine(draw(truth, 400, answering=0.7, seed=1).annotations)
    space = flat_space(engine.pair_counts(), truth)
    curve = curvature_of(engine, space, truth)

    def likelihood(direction, step):
        prior, confusion = moved(truth, space, direction, step)
        return engine.expected_counts(Model(prior, confusion, truth.classes, truth.annotators).scores()).log_likelihood

    for direction in range(space.n_flat):
        h = 1e-3
        second = (likelihood(direction, h) + likelihood(direction, -h) - 2 * likelihood(direction, 0)) / h**2
        assert -second == pytest.approx(curve.information[direction, direction], rel=0.02, abs=1)


@pytest.mark.parametrize("seed", range(4))
def test_gamma_is_the_distance_to_the_nearest_point_outside_the_hull(seed):
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(3, 0.4), size=12)
    basis = tangent_basis(3)
    points = rng.dirichlet(np.full(3, 0.7), size=100_000)
    outside = Delaunay((rows - 1 / 3) @ basis).find_simplex((points - 1 / 3) @ basis) < 0
    assert scatter(rows).gamma == pytest.approx(np.linalg.norm(points[outside], axis=1).min(), abs=3e-3)


def test_gamma_knows_the_extremes_and_is_a_bound_for_many_classes():
    for k in (2, 3, 4, 5):
        assert scatter(np.eye(k)).gamma == pytest.approx(1.0)
        assert scatter(np.full((5, k), 1 / k)).gamma == pytest.approx(1 / np.sqrt(k))
    # two points on every edge, at alpha: 2/3 is where they begin to suffice (Theorem 4)
    edges = [0.7 * np.eye(3)[k] + 0.3 * np.eye(3)[j] for k in range(3) for j in range(3) if k != j]
    assert scatter(np.array(edges)).sufficient
    edges = [0.6 * np.eye(3)[k] + 0.4 * np.eye(3)[j] for k in range(3) for j in range(3) if k != j]
    assert not scatter(np.array(edges)).sufficient
    assert not scatter(
        np.array([0.5 * np.eye(3)[k] + 0.5 * np.eye(3)[j] for k, j in ((0, 1), (0, 2), (1, 2))])
    ).sufficient
    many = scatter(np.random.default_rng(0).dirichlet(np.full(7, 0.3), size=60))
    assert not many.exact
    assert not many.sufficient
    assert many.gamma <= 1


def test_anchors_are_read_off_the_partners():
    model = random_model(4, 3, seed=12)
    sharp = model.confusion.copy()
    sharp[0] = np.eye(3)
    model = Model(model.prior, sharp, model.classes, model.annotators)
    found = {a.annotator: a for a in anchors(population_counts(model, n=1e8), model)}
    assert found[1].epsilon == 0  # annotator 0 is a perfect partner
    others = sharp[1:]
    purity = np.einsum("mkk->mk", others) / others.sum(axis=2)
    assert found[0].epsilon == pytest.approx(float((1 - purity.max(axis=0)).max()))
    assert found[0].kappa == pytest.approx(1.0)
    values = np.linalg.svd(sharp[2], compute_uv=False)
    assert found[2].kappa == pytest.approx(values[0] / values[-1])
    assert found[2].sigma_max == pytest.approx(values[0])
