"""Laws of the frame engine: DuckDB, Polars and pandas give what the in-memory engine and the plain loops give."""

from __future__ import annotations

import re

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from covote.annotations import load
from covote.annotations.truth import Truth
from covote.engines.frame import FrameEngine
from covote.engines.memory import MemoryEngine
from covote.errors import ConflictError, InputError
from covote.labels import choose_labels
from covote.methods.dawid_skene import dawid_skene, majority_start
from covote.methods.majority_vote import vote_scores
from covote.methods.multispa import multispa
from covote.model import Scores
from crowds import draw_model, draw_triples
from naive_moments import naive_group_moments, naive_triple_moments

NAMES = ["item", "annotator", "label"]


CONNECTION = duckdb.connect()


def as_duckdb(triples, names=NAMES):
    return CONNECTION.from_df(pd.DataFrame(triples, columns=names))


def as_polars(triples, names=NAMES):
    return pl.LazyFrame(triples, schema=names, orient="row")


def as_pandas(triples, names=NAMES):
    return pd.DataFrame(triples, columns=names)


MAKERS = [as_duckdb, as_polars, as_pandas]


@pytest.fixture(params=MAKERS)
def make(request):
    return request.param


def sorted_memory(triples, gold=None):
    """The in-memory engine with annotators in sorted order, as frames have them."""
    annotations = load(sorted(triples, key=lambda t: t[1])).annotations
    codes = None if gold is None else Truth(list(gold), list(gold.values())).codes(annotations)
    return MemoryEngine(annotations, gold=codes)


def rows_of(frame):
    """{item: (label, confidence, probabilities...)} of a native frame."""
    frame = nw.from_native(frame)
    frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    rows = {row[0]: row[1:] for row in frame.iter_rows()}
    assert len(rows) == len(frame)
    return rows


def check_against_memory(frame, triples, known=None, passes=3, **options):
    memory = sorted_memory(triples, known)
    engine = FrameEngine(frame, **options)
    assert engine.annotators == memory.annotators
    assert engine.classes == memory.classes
    assert engine.n_items == memory.n_items
    a, b = engine.pair_counts(), memory.pair_counts()
    for name in ("first", "second", "blocks", "label_counts", "n_items"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    for scores in every_scores(engine)[-passes:]:
        check_pass(engine, memory, scores)
        check_posterior(engine, memory, scores)


def every_scores(engine):
    annotators, classes = engine.annotators, engine.classes
    return [
        draw_model(1, annotators, classes).scores(),
        vote_scores(len(annotators), len(classes)),
        draw_model(2, annotators, classes, zeros=True).scores(),
    ]


def check_pass(engine, memory, scores):
    a, b = engine.expected_counts(scores), memory.expected_counts(scores)
    np.testing.assert_allclose(a.confusion, b.confusion, atol=1e-9)
    np.testing.assert_allclose(a.prior, b.prior, atol=1e-9)
    np.testing.assert_allclose(a.log_likelihood, b.log_likelihood, rtol=1e-12)


def check_posterior(engine, memory, scores):
    posterior = memory.posterior(scores)
    if memory.gold is not None:
        posterior[memory.gold >= 0] = np.eye(len(memory.classes))[memory.gold[memory.gold >= 0]]
    codes = choose_labels(posterior, memory.label_counts().sum(axis=0))
    rows = rows_of(engine.posterior(scores))
    assert len(rows) == memory.n_items
    for n, item in enumerate(memory.annotations.items):
        label, confidence, *shares = rows[item]
        assert label == memory.classes[codes[n]]
        assert confidence == pytest.approx(posterior[n, codes[n]], abs=1e-9)
        np.testing.assert_allclose(shares, posterior[n], atol=1e-9)


class TestEquality:
    @pytest.mark.parametrize("seed", range(3))
    def test_counts_passes_and_labels_equal_those_in_memory(self, make, seed):
        triples = draw_triples(seed)
        check_against_memory(make(triples), triples)

    def test_numbers_as_ids_and_labels_come_back_as_numbers(self, make):
        triples = [(int(i[4:]) + 2**40, int(a[5:]), ord(x[0])) for i, a, x in draw_triples(4)]
        check_against_memory(make(triples), triples)
        engine = FrameEngine(make(triples))
        rows = rows_of(engine.posterior(vote_scores(6, 3)))
        assert set(rows) == {t[0] for t in triples}
        assert {row[0] for row in rows.values()} <= {97, 98, 99}

    def test_gold_items_are_certain(self, make):
        triples = draw_triples(5)
        gold = {"item3": "bee", "item7": "ape", "item9": "cow"}
        table = make([(i, "", x) for i, x in gold.items()])
        check_against_memory(make(triples), triples, gold, gold=table)
        check_against_memory(make(triples), triples, gold, gold=Truth(list(gold), list(gold.values())))

    def test_the_plain_loops_agree(self, make):
        triples = draw_triples(6)
        gold = {"item1": "bee"}
        engine = FrameEngine(make(triples), gold=make([("item1", "", "bee")]))
        annotators, classes = list(engine.annotators), list(engine.classes)
        counts = engine.pair_counts()
        truth = naive.naive_pair_counts(triples)
        assert counts.n_pairs == len(truth)
        for m, q, block in zip(counts.first, counts.second, counts.blocks, strict=True):
            for i, j in np.ndindex(3, 3):
                assert block[i, j] == truth[annotators[m], annotators[q]][classes[i], classes[j]]
        for scores in every_scores(engine):
            soft = engine.expected_counts(scores)
            expected = naive.naive_expected_counts(triples, scores, annotators, classes, gold)
            np.testing.assert_allclose(soft.confusion, expected[0], atol=1e-9)
            np.testing.assert_allclose(soft.prior, expected[1], atol=1e-9)
            np.testing.assert_allclose(soft.log_likelihood, expected[2], rtol=1e-12)
            posterior, _ = naive.naive_posterior(triples, scores, annotators, classes, gold)
            labels = naive.naive_labels(triples, posterior, classes)
            assert {item: row[0] for item, row in rows_of(engine.posterior(scores)).items()} == labels

    def test_moments_equal_the_plain_loops(self, make):
        triples = draw_triples(7, n_annotators=8)
        memory, engine = sorted_memory(triples), FrameEngine(make(triples))
        groups = np.array([0, 1, 2, -1, 0, 1, 2, 0])
        found = engine.group_moments(groups)
        pairs, triple = naive_group_moments(memory.annotations, groups)
        np.testing.assert_allclose(found.pairs, pairs, atol=1e-12)
        np.testing.assert_allclose(found.triple, triple, atol=1e-12)
        chosen = np.array([[0, 1, 2], [5, 3, 7], [0, 1, 6]])
        np.testing.assert_array_equal(
            engine.triple_moments(chosen), naive_triple_moments(memory.annotations, chosen.tolist())
        )

    def test_models_agree(self, make):
        triples = draw_triples(8, n_items=120, n_annotators=9)
        memory, engine = sorted_memory(triples), FrameEngine(make(triples))
        a, b = multispa(engine.pair_counts()).model, multispa(memory.pair_counts()).model
        np.testing.assert_allclose(a.confusion, b.confusion, atol=1e-9)
        a = dawid_skene(engine, majority_start(engine), max_iter=8).model
        b = dawid_skene(memory, majority_start(memory), max_iter=8).model
        np.testing.assert_allclose(a.confusion, b.confusion, atol=1e-9)
        np.testing.assert_allclose(a.prior, b.prior, atol=1e-9)


class TestLaws:
    def test_ties_go_to_the_class_with_most_votes_then_to_the_first(self, make):
        triples = [("x", "a", "p"), ("x", "b", "q"), ("y", "a", "q"), ("y", "b", "q"), ("z", "a", "r"), ("z", "b", "s")]
        rows = rows_of(FrameEngine(make(triples)).posterior(vote_scores(2, 4)))
        assert {item: row[0] for item, row in rows.items()} == {"x": "q", "y": "q", "z": "r"}

    def test_repeats_that_agree_are_one_answer(self, make):
        triples = draw_triples(9)
        check_against_memory(make(triples + triples[:7]), triples)

    def test_rows_without_a_label_are_no_answers(self, make):
        triples = draw_triples(10)
        check_against_memory(make([*triples, ("item1", "nobody", None), ("item2", "judge1", "")]), triples)

    def test_order_of_rows_does_not_matter(self, make):
        triples = draw_triples(11)
        a, b = (FrameEngine(make(t)).pair_counts() for t in (triples, triples[::-1]))
        np.testing.assert_array_equal(a.blocks, b.blocks)

    def test_an_item_no_class_explains_gets_the_prior(self, make):
        engine = FrameEngine(make([("x", "a", "p"), ("x", "b", "q")]))
        table = np.full((2, 2, 2), -np.inf)
        scores = Scores(table, np.log([0.3, 0.7]))
        assert rows_of(engine.posterior(scores))["x"] == pytest.approx(("q", 0.7, 0.3, 0.7))
        assert engine.expected_counts(scores).log_likelihood == -np.inf

    def test_an_item_with_thousands_of_answers_does_not_underflow(self, make):
        triples = [("x", f"judge{m:04}", "p" if m % 3 else "q") for m in range(3000)]
        engine, memory = FrameEngine(make(triples)), sorted_memory(triples)
        scores = draw_model(3, engine.annotators, engine.classes).scores()
        check_pass(engine, memory, scores)

    def test_the_strongest_partners_are_those_kept_in_memory(self, make):
        triples = draw_triples(12, n_annotators=9, share=0.4)
        engine, memory = FrameEngine(make(triples)), sorted_memory(triples)
        a, b = engine.pair_counts(max_partners=2), memory.pair_counts(max_partners=2)
        np.testing.assert_array_equal(a.first, b.first)
        np.testing.assert_array_equal(a.blocks, b.blocks)
        assert a.n_pairs < engine.pair_counts().n_pairs

    @settings(max_examples=8, deadline=None)
    @given(
        st.dictionaries(
            st.tuples(st.integers(0, 5), st.integers(0, 3)), st.sampled_from("pqr"), min_size=1, max_size=20
        )
    )
    def test_any_crowd_counts_as_in_memory(self, answers):
        triples = [(item, annotator, label) for (item, annotator), label in answers.items()]
        for make in (as_duckdb, as_polars):
            check_against_memory(make(triples), triples)


class TestFrames:
    def test_the_same_kind_of_frame_comes_back(self, make):
        frame = make(draw_triples(13))
        assert type(FrameEngine(frame).posterior(vote_scores(6, 3))) is type(frame)

    def test_columns_keep_the_names_they_had(self, make):
        frame = make(draw_triples(13), ["task", "worker", "answer"])
        out = FrameEngine(frame).posterior(vote_scores(6, 3))
        assert list(nw.from_native(out).lazy().collect_schema().names()) == [
            "task", "answer", "confidence", "ape", "bee", "cow",
        ]  # fmt: skip

    def test_columns_whose_names_look_like_ours_do_no_harm(self, make):
        triples = draw_triples(14)
        frame = make(triples, ["row", "who", "n"])
        check_against_memory(frame, triples, item="row", annotator="who", label="n")

    def test_classes_in_the_order_given(self, make):
        engine = FrameEngine(make(draw_triples(13)), classes_first=["cow", "dog"])
        assert engine.classes == ("cow", "dog", "ape", "bee")

    def test_dates_serve_as_labels_as_text(self):
        triples = [("x", "a", "2020-01-01"), ("x", "b", "2020-01-02")]
        frame = as_polars(triples).with_columns(pl.col("label").str.to_date())
        assert FrameEngine(frame).classes == ("2020-01-01", "2020-01-02")
        assert FrameEngine(frame.cast({"annotator": pl.Categorical})).annotators == ("a", "b")

    def test_explain_shows_every_plan(self, make):
        engine = FrameEngine(make(draw_triples(13)))
        text = engine.explain(vote_scores(6, 3))
        for name in ("survey", "pair counts", "expected counts", "posterior"):
            assert f"{name}\n---" in text
        if make is not as_pandas:
            assert "JOIN" in text.upper()

    def test_duckdb_works_on_the_users_connection_and_leaves_nothing_there(self):
        connection = duckdb.connect()
        connection.execute("create table votes (item int, annotator text, label bool)")
        connection.execute("insert into votes values (1, 'a', true), (1, 'b', false), (2, 'b', false)")
        engine = FrameEngine(connection.table("votes"))
        out = engine.posterior(vote_scores(2, 2))
        assert out.order("item").fetchall() == [
            (1, False, 0.5, 0.5, 0.5),
            (2, False, 1.0, 1.0, 0.0),
        ]
        views = "select view_name from duckdb_views() where not internal"
        assert connection.sql(views).fetchall() == []


class TestBadInput:
    def test_answers_that_conflict(self, make):
        triples = [("x", "ann", "p"), ("x", "ann", "q"), ("x", "bob", "q")]
        expected = (
            "Annotator 'ann' labels item 'x' both 'p' and 'q'. Keep one answer an item and annotator in the frame."
        )
        with pytest.raises(ConflictError, match=re.escape(expected)):
            FrameEngine(make(triples)).pair_counts()

    @pytest.mark.parametrize("lost", [None, ""])
    def test_a_label_without_its_item(self, make, lost):
        triples = [*draw_triples(1), (lost, "judge1", "ape")]
        expected = "1 rows have a label but no item. Give every label its item and its annotator, or remove the rows."
        with pytest.raises(InputError, match=re.escape(expected)):
            _ = FrameEngine(make(triples)).annotators

    def test_a_label_without_its_annotator(self, make):
        expected = "1 rows have a label but no annotator."
        with pytest.raises(InputError, match=re.escape(expected)):
            _ = FrameEngine(make([*draw_triples(1), ("item1", None, "ape")])).annotators

    def test_no_answers(self, make):
        with pytest.raises(InputError, match="The table holds no answers"):
            _ = FrameEngine(make([("x", "ann", "")])).annotators

    def test_a_column_that_does_not_exist(self, make):
        with pytest.raises(InputError, match="Column 'worker' not found"):
            _ = FrameEngine(make(draw_triples(1)), annotator="worker").annotators

    def test_truth_that_contradicts_itself(self, make):
        gold = make([("item1", "", "ape"), ("item1", "", "bee")])
        expected = "The truth gives item 'item1' both 'ape' and 'bee'. Keep one true label an item."
        with pytest.raises(InputError, match=re.escape(expected)):
            FrameEngine(make(draw_triples(1)), gold=gold).posterior(vote_scores(6, 3))
