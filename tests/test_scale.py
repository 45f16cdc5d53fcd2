"""Laws of the in-memory engine's shortcuts: threads, tables, patterns and labels without a posterior change nothing."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import naive
from covote.annotations import Annotations, Vocabulary, load
from covote.engines import pair_counting, vectorised
from covote.engines.memory import MemoryEngine
from covote.engines.partners import strongest_pairs
from covote.labels import choose_labels
from covote.methods.majority_vote import vote_scores
from covote.methods.multispa import multispa
from covote.model import Scores
from crowds import draw_model, draw_triples


def draw_codes(seed, *, n_items, n_annotators, n_classes, answers):
    """Annotations with `answers` distinct annotators an item, by a permutation of the crowd for each block of items."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_items)
    first = rng.integers(n_annotators, size=(n_items, 1))
    who = (first + np.arange(answers) * (1 + rng.integers(n_annotators // answers, size=(n_items, 1)))) % n_annotators
    right = rng.random(who.shape) < 0.6
    label = np.where(right, truth[:, None], rng.integers(n_classes, size=who.shape))
    return Annotations.from_codes(
        np.repeat(np.arange(n_items), answers),
        who.ravel(),
        label.ravel(),
        annotators=Vocabulary(np.arange(n_annotators)),
        classes=Vocabulary(np.arange(n_classes)),
    )


@pytest.fixture(scope="module")
def wide():
    """A crowd in which few patterns of answers occur: three judges, three classes."""
    return draw_codes(1, n_items=20_000, n_annotators=3, n_classes=3, answers=3)


@pytest.fixture(scope="module")
def broad():
    """A crowd in which almost every item is different."""
    return draw_codes(2, n_items=60_000, n_annotators=50, n_classes=4, answers=7)


def every_scores(a):
    model = draw_model(1, tuple(a.annotators), tuple(a.classes))
    zeros = draw_model(2, tuple(a.annotators), tuple(a.classes), zeros=True)
    return [model.scores(), zeros.scores(), vote_scores(a.n_annotators, a.n_classes)]


def assert_same_counts(one, other):
    for name in ("first", "second", "blocks", "label_counts", "n_items"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


class TestThreads:
    def test_one_thread_equals_many_to_the_last_bit(self, broad):
        one, many = MemoryEngine(broad, threads=1), MemoryEngine(broad, threads=5)
        assert_same_counts(one.pair_counts(), many.pair_counts())
        for scores in every_scores(broad):
            a, b = one.expected_counts(scores), many.expected_counts(scores)
            np.testing.assert_array_equal(a.confusion, b.confusion)
            np.testing.assert_array_equal(a.prior, b.prior)
            assert a.log_likelihood == b.log_likelihood
            np.testing.assert_array_equal(one.posterior(scores), many.posterior(scores))


class TestPairCounting:
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("max_partners", [None, 5])
    def test_the_table_and_the_lists_count_the_same(self, broad, monkeypatch, weighted, max_partners):
        weight = np.random.default_rng(3).integers(0, 3, broad.n_items).astype(float) if weighted else None
        engine = MemoryEngine(broad, weight=weight)
        in_table = engine.pair_counts(max_partners)
        monkeypatch.setattr(pair_counting, "MOST_CELLS", 0)
        by_annotator = engine.pair_counts(max_partners)
        if max_partners is None or not weighted:  # lists are cut by shared items, the table by their weight
            assert_same_counts(in_table, by_annotator)

    def test_lists_that_do_not_fit_are_continued(self, broad, monkeypatch):
        expected = MemoryEngine(broad).pair_counts()
        monkeypatch.setattr(pair_counting, "MOST_CELLS", 0)
        monkeypatch.setattr(pair_counting, "_LIST", 10)
        assert_same_counts(MemoryEngine(broad).pair_counts(), expected)

    def test_the_plain_loops_agree(self, monkeypatch):
        triples = draw_triples(5, n_annotators=9)
        annotations = load(triples).annotations
        for few, cells in ((1000, 0), (0, pair_counting.MOST_CELLS), (0, 0)):
            monkeypatch.setattr(vectorised, "FEW_ANSWERS", few)
            monkeypatch.setattr(pair_counting, "MOST_CELLS", cells)
            counts = MemoryEngine(annotations).pair_counts()
            truth = naive.naive_pair_counts(triples)
            assert counts.n_pairs == len(truth)
            for m, q, block in zip(counts.first, counts.second, counts.blocks, strict=True):
                one, other = counts.annotators[m], counts.annotators[q]
                for i, j in np.ndindex(block.shape):
                    a, b = counts.classes[i], counts.classes[j]
                    assert block[i, j] == (truth[one, other][a, b] if one < other else truth[other, one][b, a])

    def test_everybody_keeps_the_strongest_partners(self, broad):
        engine = MemoryEngine(broad)
        every, few = engine.pair_counts(), engine.pair_counts(max_partners=4)
        assert 4 * 50 / 2 <= few.n_pairs <= 4 * 50
        for m in range(50):
            mine = (every.first == m) | (every.second == m)
            kept = (few.first == m) | (few.second == m)
            strongest = np.sort(every.shared[mine])[-4:]
            assert np.sort(few.shared[kept])[-4:].tolist() == strongest.tolist()

    def test_no_pairs_no_limit(self):
        none = np.empty(0, np.int64)
        assert len(strongest_pairs(none, none, none, 3, 2)) == 0

    @pytest.mark.slow
    def test_a_hundred_thousand_annotators_with_a_few_answers_each(self):
        a = draw_codes(4, n_items=100_000, n_annotators=100_000, n_classes=2, answers=4)
        counts = MemoryEngine(a).pair_counts(max_partners=8)
        assert counts.n_pairs <= 8 * 100_000
        model = multispa(counts).model
        assert model.n_annotators == 100_000


class TestSmallCrowds:
    @pytest.mark.parametrize("golden", [False, True])
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("seed", range(2))
    def test_numpy_and_the_kernels_agree(self, monkeypatch, seed, weighted, golden):
        a = load(draw_triples(seed, n_items=70)).annotations
        rng = np.random.default_rng(seed)
        weight = rng.integers(0, 3, a.n_items).astype(float) if weighted else None
        gold = np.where(rng.random(a.n_items) < 0.2, rng.integers(3, size=a.n_items), -1) if golden else None
        small = MemoryEngine(a, weight=weight, gold=gold)
        assert small._distinct.small
        monkeypatch.setattr(vectorised, "FEW_ANSWERS", 0)
        compiled = MemoryEngine(a, weight=weight, gold=gold)
        assert not compiled._distinct.small
        assert_same_counts(small.pair_counts(), compiled.pair_counts())
        for scores in every_scores(a):
            one, other = small.expected_counts(scores), compiled.expected_counts(scores)
            np.testing.assert_allclose(one.confusion, other.confusion, atol=1e-12)
            np.testing.assert_allclose(one.prior, other.prior, rtol=1e-12)
            np.testing.assert_allclose(one.log_likelihood, other.log_likelihood, rtol=1e-12)
            np.testing.assert_allclose(small.posterior(scores), compiled.posterior(scores), atol=1e-12)
            facts, expected = small.label_facts(scores, 0.8), compiled.label_facts(scores, 0.8)
            assert facts.items.tolist() == expected.items.tolist()
            assert (facts.uncertain, facts.tied) == (expected.uncertain, expected.tied)

    def test_the_compiler_is_not_needed(self):
        program = """
import sys
import covote
votes = [(i, a, (i * a) % 3) for i in range(30) for a in range(5)]
covote.METHODS["multispa-ds"].fit_predict(votes)
covote.METHODS["majority-vote"].fit_predict(votes)
assert "numba" not in sys.modules and "scipy" not in sys.modules
"""
        done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr


class TestPatterns:
    @pytest.mark.parametrize("golden", [False, True])
    def test_patterns_equal_no_patterns(self, wide, golden):
        rng = np.random.default_rng(6)
        gold = np.where(rng.random(wide.n_items) < 0.1, rng.integers(3, size=wide.n_items), -1) if golden else None
        with_patterns = MemoryEngine(wide, gold=gold)
        without = MemoryEngine(wide, gold=gold, collapse=False)
        assert with_patterns._patterns.annotations.n_items < 200
        assert_same_counts(with_patterns.pair_counts(), without.pair_counts())
        for scores in every_scores(wide):
            a, b = with_patterns.expected_counts(scores), without.expected_counts(scores)
            np.testing.assert_allclose(a.confusion, b.confusion, rtol=1e-10)
            np.testing.assert_allclose(a.log_likelihood, b.log_likelihood, rtol=1e-12)
            np.testing.assert_allclose(with_patterns.posterior(scores), without.posterior(scores), atol=1e-14)
            (code, confidence), (same_code, same_confidence) = with_patterns.labels(scores), without.labels(scores)
            np.testing.assert_array_equal(code, same_code)
            np.testing.assert_allclose(confidence, same_confidence, atol=1e-14)

    def test_moments_too(self, wide):
        a, b = (MemoryEngine(wide, collapse=collapse) for collapse in (True, False))
        groups, triples = np.array([0, 1, 2]), np.array([[0, 1, 2]])
        np.testing.assert_allclose(a.group_moments(groups).triple, b.group_moments(groups).triple, rtol=1e-10)
        np.testing.assert_array_equal(a.triple_moments(triples), b.triple_moments(triples))

    def test_weights_reach_the_patterns(self, wide):
        weight = np.random.default_rng(7).integers(0, 4, wide.n_items).astype(float)
        a = MemoryEngine(wide).weighted(weight).pair_counts()
        b = MemoryEngine(wide, collapse=False).weighted(weight).pair_counts()
        assert_same_counts(a, b)

    def test_a_crowd_of_different_items_is_left_alone(self, broad):
        assert MemoryEngine(broad)._patterns is None

    def test_items_without_answers_are_a_pattern_of_their_own(self, monkeypatch):
        monkeypatch.setattr(vectorised, "FEW_ANSWERS", 0)
        offsets = np.repeat([0, 2], [3000, 1001])  # 2999 items without an answer, one with two, a thousand without
        a = Annotations(
            offsets, np.array([1, 2], np.uint16), Vocabulary(range(4000)), Vocabulary("ab"), Vocabulary(["x", "y"])
        )
        engine = MemoryEngine(a)
        assert sorted(engine._patterns.weight(None).tolist()) == [1.0, 3999.0]
        assert engine.pair_counts().shared.tolist() == [1.0]


class TestLabels:
    @pytest.mark.parametrize("which", ["wide", "broad"])
    def test_labels_are_those_of_the_posterior(self, which, request):
        a = request.getfixturevalue(which)
        engine = MemoryEngine(a)
        for scores in every_scores(a):
            code, confidence = engine.labels(scores)
            posterior = engine.posterior(scores)
            np.testing.assert_array_equal(code, choose_labels(posterior, engine.label_counts().sum(axis=0)))
            np.testing.assert_array_equal(confidence, posterior[np.arange(a.n_items), code])

    def test_gold_items_have_their_class(self, wide):
        gold = np.full(wide.n_items, -1)
        gold[:7] = 2
        code, confidence = MemoryEngine(wide, gold=gold).labels(every_scores(wide)[0])
        assert code[:7].tolist() == [2] * 7
        assert confidence[:7].tolist() == [1.0] * 7

    def test_items_with_thousands_of_answers_do_not_underflow(self):
        a = draw_codes(8, n_items=3, n_annotators=4000, n_classes=3, answers=4000)
        engine = MemoryEngine(a)
        scores = every_scores(a)[0]
        table, bias = scores.table.reshape(-1, 3), scores.bias
        sums = np.array([table[a.answer[a.offsets[n] : a.offsets[n + 1]]].sum(axis=0) + bias for n in range(3)])
        value = np.log(np.exp(sums - sums.max(axis=1, keepdims=True)).sum(axis=1)) + sums.max(axis=1)
        assert engine.expected_counts(scores).log_likelihood == pytest.approx(value.sum(), rel=1e-12)
        expected = np.exp(sums - value[:, None])
        np.testing.assert_allclose(engine.posterior(scores), expected, atol=1e-9)

    def test_an_item_no_class_explains_gets_the_prior(self):
        a = load([("x", "ann", "p"), ("x", "bob", "q")]).annotations
        scores = Scores(np.full((2, 2, 2), -np.inf), np.log([0.3, 0.7]))
        soft = MemoryEngine(a).expected_counts(scores)
        assert soft.log_likelihood == -np.inf
        np.testing.assert_allclose(soft.prior, [0.3, 0.7])
        assert MemoryEngine(a).labels(scores)[0].tolist() == [1]


CHECK_WITHOUT_JIT = """
import numpy as np
from covote.annotations import load
from covote.engines.memory import MemoryEngine
from covote.engines import pair_counting, patterns, vectorised
from covote.methods.majority_vote import vote_scores
from crowds import draw_model, draw_triples
a = load(draw_triples(1, n_items=30, n_annotators=3) + draw_triples(1, n_items=30, n_annotators=3)).annotations
patterns.PAYS = 2
vectorised.FEW_ANSWERS = 0
e = MemoryEngine(a)
out = [e.pair_counts().blocks]
pair_counting.MOST_CELLS = 0
out.append(e.pair_counts().blocks)
for scores in (draw_model(1, e.annotators, e.classes).scores(), vote_scores(3, 3)):
    out += [e.expected_counts(scores).confusion, e.posterior(scores), *e.labels(scores)]
print([x.round(9).tolist() for x in out])
"""


def test_kernels_are_right_with_the_compiler_switched_off():
    here = os.path.dirname(__file__)
    results = []
    for off in ("0", "1"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": off, "PYTHONPATH": here}
        command = [sys.executable, "-W", "error", "-c", CHECK_WITHOUT_JIT]
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment, timeout=120)
        assert done.returncode == 0, done.stderr
        results.append(done.stdout)
    assert results[0] == results[1]


@pytest.mark.parametrize("golden", [False, True])
@pytest.mark.parametrize("which", ["wide", "broad"])
def test_facts_of_labels_are_those_of_the_posterior(which, golden, request):
    a = request.getfixturevalue(which)
    gold = np.where(np.arange(a.n_items) % 9 == 0, 1, -1) if golden else None
    engine = MemoryEngine(a, gold=gold)
    for scores in every_scores(a):
        facts = engine.label_facts(scores, 0.8)
        posterior = engine.posterior(scores)
        if golden:
            posterior[gold >= 0] = np.eye(a.n_classes)[1]
        codes = choose_labels(posterior, engine.label_counts().sum(axis=0))
        confidence = posterior[np.arange(a.n_items), codes]
        assert facts.items.tolist() == np.bincount(codes, minlength=a.n_classes).tolist()
        np.testing.assert_allclose(facts.mass, posterior.sum(axis=0), rtol=1e-9)
        assert facts.uncertain == (confidence < 0.8).sum()
        best = posterior.max(axis=1, keepdims=True)
        assert facts.tied == ((posterior >= best - 1e-9).sum(axis=1) > 1).sum()
        assert facts.single == 0
        assert facts.confidence == pytest.approx(confidence.sum())


def test_numba_still_finds_blas_for_others():
    numba = pytest.importorskip("numba")
    import covote.kernels  # noqa: F401

    product = numba.njit(lambda a, b: np.dot(a, b) + 0.0)
    np.testing.assert_allclose(product(np.eye(3) * 2, np.ones((3, 3))), 2 * np.ones((3, 3)))
