"""The baselines against slow references: dense NumPy for the signed methods, plain loops for moments and multipliers."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from covote.annotations import load
from covote.counts import PairCounts
from covote.engines.base import Moments
from covote.engines.memory import MemoryEngine
from covote.kernels import quadratics
from covote.methods import minmax_entropy as minimax
from covote.methods.eigen_ratio import eigen_ratio
from covote.methods.ghosh_svd import ghosh_svd
from covote.methods.kos import kos
from covote.methods.loop import iterate
from covote.methods.parameters import Parameters
from covote.methods.simplex import project_to_simplex, simplex_least_squares
from covote.methods.spectral_ds import annotator_model, group_model
from covote.methods.tensor_admm import _problem
from covote.methods.tensor_power import tensor_power
from covote.methods.triples import choose_triples
from covote.model import Model
from crowds import draw_model, draw_triples
from naive_moments import naive_group_moments, naive_signed, naive_triple_moments, population_triple


def binary(seed, share=0.7, n_items=60, n_annotators=8):
    return load(
        draw_triples(seed, n_items=n_items, n_annotators=n_annotators, classes=("no", "yes"), share=share)
    ).annotations


def same_line(a, b):
    """True where two vectors span the same line."""
    return abs(a @ b) == pytest.approx(np.linalg.norm(a) * np.linalg.norm(b), rel=1e-7)


# ---- moments ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_of_groups_and_triples_are_those_of_plain_loops(seed, weighted):
    a = load(draw_triples(seed)).annotations
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 3, a.n_items).astype(float) if weighted else None
    engine = MemoryEngine(a, weight=weight)
    groups = rng.integers(-1, 3, a.n_annotators)
    found = engine.group_moments(groups)
    pairs, triple = naive_group_moments(a, groups, weight)
    assert np.allclose(found.pairs, pairs)
    assert np.allclose(found.triple, triple)
    triples = np.array([rng.permutation(t) for t in combinations(range(a.n_annotators), 3)])
    assert np.allclose(engine.triple_moments(triples), naive_triple_moments(a, triples, weight))


def test_no_triples_give_no_moments():
    engine = MemoryEngine(load(draw_triples(0)).annotations)
    assert engine.triple_moments(np.empty((0, 3), np.int64)).shape == (0, 3, 3, 3)


def test_a_small_crowd_counts_all_triples_and_a_large_one_covers_everybody():
    counts = MemoryEngine(load(draw_triples(1, n_items=80, n_annotators=20, share=0.4)).annotations).pair_counts()
    every = list(combinations(range(20), 3))
    assert choose_triples(counts, len(every)).tolist() == [list(t) for t in every]
    some = choose_triples(counts, 60)
    assert len(some) <= 80
    assert set(some.ravel().tolist()) == set(range(20))
    assert {tuple(t) for t in some.tolist()} <= set(every)


def test_the_chosen_triples_are_well_supported():
    engine = MemoryEngine(load(draw_triples(2, n_items=80, n_annotators=20, share=0.4)).annotations)
    counts = engine.pair_counts()
    every = engine.triple_moments(choose_triples(counts, 10_000)).sum(axis=(1, 2, 3))
    some = engine.triple_moments(choose_triples(counts, 60)).sum(axis=(1, 2, 3))
    assert some.mean() > every.mean()


# ---- tensor methods on population moments ---------------------------------------------------------------------------


def population_counts(model):
    pairs = np.array(list(combinations(range(model.n_annotators), 2)))
    joint = np.einsum("k,pik,pjk->pij", model.prior, model.confusion[pairs[:, 0]], model.confusion[pairs[:, 1]])
    labels = 1e6 * model.confusion @ model.prior
    return PairCounts.build(pairs[:, 0], pairs[:, 1], 1e6 * joint, labels, 1e6, model.classes, model.annotators)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_group_moments_of_the_population_give_the_groups_model_back(n_classes):
    model = draw_model(0, (0, 1, 2), tuple(range(n_classes)))
    a, b, c = model.confusion
    pairs = np.stack([x * model.prior @ y.T for x, y in ((a, b), (a, c), (b, c))])
    moments = Moments(pairs, population_triple(model, (0, 1, 2)), np.ones(3), 1.0)
    found = group_model(moments, np.random.default_rng(0))
    order = np.argmax(np.einsum("gik,gil->kl", model.confusion, found.confusion), axis=1)
    assert np.allclose(found.prior[order], model.prior, atol=1e-5)
    assert np.allclose(found.confusion[:, :, order], model.confusion, atol=1e-4)


def test_annotators_of_the_population_follow_from_their_groups():
    groups = np.array([0, 0, 1, 1, 2, 2])
    model = draw_model(3, tuple(range(6)), (0, 1, 2))
    mean = np.stack([model.confusion[groups == g].mean(axis=0) for g in range(3)])
    parts = group_model_of(mean, model.prior)
    found = annotator_model(population_counts(model), groups, parts)
    assert np.abs(found.confusion - model.confusion).max() < 0.03  # 30 sweeps of a monotone fit


def group_model_of(confusion, prior):
    from covote.methods.spectral_ds import GroupModel

    return GroupModel(confusion, prior)


def test_moments_with_fewer_classes_than_labels_are_refused():
    flat = np.full((3, 2, 2), 0.25)
    assert group_model(Moments(flat, np.full((2, 2, 2), 0.125), np.ones(3), 1.0), np.random.default_rng(0)) is None
    assert group_model(Moments(flat, np.zeros((2, 2, 2)), np.ones(3), 0.0), np.random.default_rng(0)) is None


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_coupled_factorisation_of_population_moments_is_the_model(n_classes):
    model = draw_model(1, tuple(range(6)), tuple(range(n_classes)))
    counts = population_counts(model)
    triples = np.array(list(combinations(range(6), 3)))
    cubes = 1e6 * np.stack([population_triple(model, t) for t in triples])
    problem = _problem(counts, triples, cubes, 0.0)
    layout = Parameters(6, n_classes)
    nearby = 0.7 * model.confusion + 0.3 * np.eye(n_classes)
    run = iterate(problem.step, layout.pack(np.full(n_classes, 1 / n_classes), nearby), max_iter=3000, tol=1e-16)
    prior, confusion = layout.unpack(run.state)
    assert np.allclose(confusion, model.confusion, atol=2e-3)
    assert np.allclose(prior, model.prior, atol=2e-3)


def test_the_misfit_is_the_squared_distance_of_moments_and_falls_monotonically():
    engine = MemoryEngine(load(draw_triples(4, n_items=80)).annotations)
    counts = engine.pair_counts()
    triples = choose_triples(counts, 10_000)
    cubes = engine.triple_moments(triples)
    problem = _problem(counts, triples, cubes, 0.0)
    layout = Parameters(counts.n_annotators, 3)
    model = draw_model(5, counts.annotators, counts.classes)
    _, value = problem.step(layout.pack(model.prior, model.confusion))
    expected = 0.0
    for cube, t in zip(cubes, triples, strict=True):
        n = max(cube.sum(), 1e-300)
        expected += n / 2 * (((cube / n - population_triple(model, t)) ** 2).sum() - ((cube / n) ** 2).sum())
    for block, m, q in zip(counts.blocks, counts.first, counts.second, strict=True):
        n, joint = block.sum(), model.confusion[m] * model.prior @ model.confusion[q].T
        expected += n / 2 * (((block / n - joint) ** 2).sum() - ((block / n) ** 2).sum())
    assert -value == pytest.approx(expected)
    run = iterate(problem.step, layout.pack(model.prior, model.confusion), max_iter=40, tol=0.0)
    assert np.all(np.diff(run.history) >= -1e-9)


def test_admm_finds_the_minimum_within_the_simplex():
    rng = np.random.default_rng(0)
    for _ in range(20):
        root = rng.normal(size=(6, 4))
        gram, target, found = root.T @ root, rng.normal(size=4), np.full(4, 0.25)
        quadratics.simplex_vector(gram, target, found)
        assert np.allclose(found, simplex_least_squares(gram, target), atol=1e-6)
        matrix, wanted = project_to_simplex(rng.normal(size=(4, 4))), rng.normal(size=(4, 4))
        quadratics.simplex_columns(np.eye(4), wanted, matrix)
        assert np.allclose(matrix, project_to_simplex(wanted), atol=1e-8)
        point = rng.normal(size=5) * 3
        nearest = project_to_simplex(point[:, None])[:, 0]
        quadratics.project(point)
        assert np.allclose(point, nearest)


def test_the_power_method_takes_an_orthogonal_tensor_apart():
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    values = np.array([3.0, 2.5, 2.0, 1.5, 1.0])
    found, vectors = tensor_power(np.einsum("h,ih,jh,kh->ijk", values, basis, basis, basis), rng)
    order = np.argsort(-found)
    assert np.allclose(found[order], values)
    assert np.allclose(vectors[:, order], basis, atol=1e-6)


# ---- signed methods against dense NumPy -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("scale", ["unit", "none"])
def test_ghosh_svd_is_the_top_singular_vector_of_the_dense_matrix(seed, scale):
    a = binary(seed)
    dense = naive_signed(a)
    if scale == "unit":
        dense = dense / np.maximum(np.linalg.norm(dense, axis=0), 1e-300)
    left = np.linalg.svd(dense)[0][:, 0]
    weight = ghosh_svd(MemoryEngine(a), scale=scale).details["weight"]
    assert same_line(naive_signed(a) @ weight, left)


def test_ghosh_svd_scaled_is_plain_where_all_answered_everything():
    engine = MemoryEngine(binary(0, share=1.0))
    assert same_line(ghosh_svd(engine).details["weight"], ghosh_svd(engine, scale="none").details["weight"])


@pytest.mark.parametrize("seed", range(5))
def test_eigen_ratio_is_the_ratio_of_the_dense_eigenvectors(seed):
    a = binary(seed)
    signed = naive_signed(a)
    shared = np.abs(signed).T @ np.abs(signed)
    rate = np.where(shared > 0, signed.T @ signed / np.maximum(shared, 1), 0.0)
    met = (shared > 0).astype(float)
    np.fill_diagonal(rate, 0.0)
    np.fill_diagonal(met, 0.0)
    (rate_value, rate_vector), (met_value, met_vector) = (
        (values[-1], vectors[:, -1]) for values, vectors in (np.linalg.eigh(x) for x in (rate, met))
    )
    expected = np.sqrt(rate_value / met_value) * rate_vector / np.abs(met_vector)
    found = eigen_ratio(MemoryEngine(a)).details["weight"]
    assert np.allclose(found * np.sign(found[-1]), np.clip(expected * np.sign(expected[-1]), -1, 1), atol=1e-8)


def test_the_sparse_solver_gives_what_the_dense_one_gives(monkeypatch):
    engine = MemoryEngine(binary(3, n_annotators=30, share=0.4))
    dense = [method(engine).details["weight"] for method in (ghosh_svd, eigen_ratio)]
    monkeypatch.setattr("covote.methods.signed._DENSE", 5)
    sparse = [method(engine).details["weight"] for method in (ghosh_svd, eigen_ratio)]
    assert np.allclose(dense, sparse, atol=1e-6)


def naive_kos(a, *, centre, level, rounds, start):
    """Karger, Oh and Shah's messages with dense matrices (items, annotators); returns sum_j A_ij y_{j->i}."""
    signed = naive_signed(a)
    mask = signed != 0
    answers = mask.sum(axis=0)
    passed = np.where(mask, signed - (signed.sum(axis=0) / answers if centre else 0.0), 0.0)
    y = np.where(mask, start, 0.0)
    for _ in range(rounds):
        x = np.where(mask, (passed * y).sum(axis=1, keepdims=True) - passed * y, 0.0)
        y = np.where(mask, (passed * x).sum(axis=0, keepdims=True) - passed * x, 0.0)
        y = y / np.sqrt(np.maximum(answers - 1, 1)) if level else y
        y = y / np.abs(y).max()
    return (signed * y).sum(axis=1), (np.abs(signed * y)).sum(axis=1)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("centre", "level"), [(False, False), (True, True)])
def test_kos_is_the_dense_message_passing(seed, centre, level):
    a = binary(seed)
    score, size = naive_kos(a, centre=centre, level=level, rounds=40, start=1.0)
    found = kos(MemoryEngine(a), centre=centre, level=level, max_iter=40, tol=0.0)
    share = found.posterior[:, 1] - found.posterior[:, 0]
    expected = score / np.where(size > 0, size, 1.0)
    assert np.allclose(share * np.sign(share @ expected), expected, atol=1e-9)


def test_kos_starts_from_random_messages_of_a_seed_and_settles_on_the_same():
    engine = MemoryEngine(binary(1))
    assert np.allclose(kos(engine, seed=1).posterior, kos(engine, seed=2).posterior, atol=1e-3)


def test_kos_shows_exact_ties_as_ties():
    rows = [(i, m, x) for i, (x, y) in enumerate(["aa", "bb", "aa", "bb", "ab"]) for m, x in ((0, x), (1, y))]
    found = kos(MemoryEngine(load(rows).annotations))
    assert found.posterior[4].tolist() == [0.5, 0.5]
    assert found.posterior[0, 0] == found.posterior[1, 1] == 1.0


# ---- minimax entropy ------------------------------------------------------------------------------------------------


def naive_objective(a, sigma, tau, alpha, beta):
    """Log-likelihood of the answers minus the penalties, one softmax at a time."""
    value = -alpha / 2 * (tau**2).sum() - beta / 2 * (sigma**2).sum()
    for n in range(a.n_items):
        logs = np.zeros(a.n_classes)
        for code in a.answer[a.offsets[n] : a.offsets[n + 1]]:
            m, x = divmod(int(code), a.n_classes)
            logits = sigma[m] + tau[n]  # (classes, labels)
            logs += logits[:, x] - np.log(np.exp(logits).sum(axis=1))
        value += np.log(np.exp(logs).sum())
    return value


@pytest.mark.parametrize("kind", ["categorical", "ordinal"])
def test_the_minimax_objective_is_that_of_plain_loops_and_the_end_is_stationary(kind):
    a = load(draw_triples(2, n_items=12, n_annotators=4, share=0.8)).annotations
    problem = minimax._problem(MemoryEngine(a), kind, 0.25)
    size = problem.reach.shape[1]

    def objective(state):
        own, theta = state[: 4 * size].reshape(4, size), state[4 * size :].reshape(12, size)
        basis = problem.basis if len(problem.basis) else np.eye(9).reshape(3, 3, 9)
        penalties = -problem.alpha / 2 * (theta**2).sum() - problem.beta / 2 * (own**2).sum()
        return penalties + naive_objective(
            a, np.einsum("ckp,mp->mck", basis, own), np.einsum("ckp,np->nck", basis, theta), 0.0, 0.0
        )

    state = np.random.default_rng(0).normal(size=16 * size)
    assert problem.step(state)[1] == pytest.approx(objective(state))
    run = iterate(problem.step, problem.start(), max_iter=4000, tol=1e-14, project=lambda x, _: x)
    assert np.abs(approx_fprime(run.state, objective, 1e-6)).max() < 1e-3


@pytest.mark.parametrize("kind", ["categorical", "ordinal"])
@pytest.mark.parametrize("accelerate", [False, True])
@pytest.mark.parametrize("gamma", [0.01, 0.25, 4.0])
def test_the_minimax_objective_falls_monotonically(kind, accelerate, gamma):
    engine = MemoryEngine(load(draw_triples(3, n_items=100)).annotations)
    fit = minimax.minmax_entropy(engine, kind=kind, gamma=gamma, accelerate=accelerate, max_iter=200)
    assert len(fit.history) > 3
    assert np.all(np.diff(fit.history) <= 1e-9 * abs(fit.history[-1]))


def test_with_two_classes_ordinal_is_categorical():
    engine = MemoryEngine(binary(0))
    one, two = (minimax.minmax_entropy(engine, kind=k) for k in ("categorical", "ordinal"))
    assert np.allclose(one.posterior, two.posterior, atol=1e-9)


def test_gold_items_keep_their_class_and_teach_the_annotators():
    a = binary(2, share=1.0)
    lies = np.where(np.arange(a.n_items) < 40, 1 - (2 * naive_signed(a)[:, -1] > 0).astype(np.int64), -1)
    fit = minimax.minmax_entropy(MemoryEngine(a, gold=lies))
    assert fit.posterior[:40].argmax(axis=1).tolist() == lies[:40].tolist()
    assert fit.model.accuracy[-1] < 0.5  # whom the gold items contradict on every answer


def test_ordinal_multipliers_know_near_from_far():
    basis = minimax.ordinal_basis(4)
    assert basis.shape == (4, 4, 12)
    assert np.all(basis.sum(axis=2) == 3)  # one quarter of every threshold
    model = Model(np.ones(4) / 4, np.eye(4)[None], tuple("abcd"), ("ann",))
    assert model.n_classes == len(basis)
