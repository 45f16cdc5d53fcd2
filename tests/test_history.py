"""Past answers enter the fit as counts; label quality is what the posterior says of labels, answers and annotators."""

from __future__ import annotations

import numpy as np
import pytest
from tests.crowds import draw_triples

from covote import METHODS, DawidSkene, GoldMajorityVote, MajorityVote, OneCoinDawidSkene, label_quality
from covote.errors import InputError

PAST = [("judge0", "ape", "ape", 300), ("judge0", "bee", "ape", 300), ("judge0", "cow", "ape", 300)]


@pytest.mark.parametrize("name", ["mv-ds", "ibcc", "one-coin-ds"])
def test_history_is_as_gold_items_that_only_one_annotator_answered(name):
    """But for the class prior, which is that of the items at hand."""
    triples = draw_triples(0)
    fitted = METHODS[name].fit(triples, history=[(a, k, x, 0) for a, k, x, _ in PAST])
    plain = METHODS[name].fit(triples)
    np.testing.assert_allclose(fitted.posterior_, plain.posterior_, atol=1e-9)
    told = METHODS[name].fit(triples, history=PAST)
    column = told.model_.confusion[told.annotators_.index("judge0")]
    assert column[0].min() > 0.9 or name == "one-coin-ds"
    assert told.model_.accuracy[told.annotators_.index("judge0")] < 0.5
    assert np.all(np.diff(told.fit_.history) >= -1e-8 * abs(told.fit_.history[0]))


def test_history_decides_where_the_answers_cannot():
    votes = [(i, a, "x" if a == "ann" else "y") for i in range(20) for a in ("ann", "bob")]
    votes += [(i + 20, a, "y" if a == "ann" else "x") for i in range(20) for a in ("ann", "bob")]
    for right, wrong in (("ann", "bob"), ("bob", "ann")):
        past = {(right, "x", "x"): 50, (right, "y", "y"): 50, (wrong, "x", "y"): 50, (wrong, "y", "x"): 50}
        labels = DawidSkene(init="majority").fit(votes, history=past).labels_
        assert labels == {i: said for i, a, said in votes if a == right}


def test_history_of_frames_new_classes_and_strangers():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(
        [("judge1", "emu", "ape", 4), ("nobody", "ape", "ape", 9)], columns=["worker", "class", "label", "count"]
    )
    fitted = DawidSkene(init="majority").fit(draw_triples(0), history=table)
    assert fitted.classes_ == ("ape", "bee", "cow", "emu")
    weights = GoldMajorityVote().fit(draw_triples(0), history=PAST).skills_
    assert weights["judge0"] == pytest.approx(1 / 3)
    assert OneCoinDawidSkene().fit(draw_triples(0), history=PAST).skills_["judge0"] == pytest.approx(1 / 3, abs=0.02)


def test_history_that_cannot_be_used():
    triples = draw_triples(0)
    with pytest.raises(InputError, match="MajorityVote cannot use history"):
        MajorityVote().fit(triples, history=PAST)
    with pytest.raises(InputError, match="A row of history has 3 values"):
        DawidSkene().fit(triples, history=[("judge0", "ape", "ape")])
    with pytest.raises(InputError, match="A count of history is -1, expected a number from 0 on"):
        DawidSkene().fit(triples, history=[("judge0", "ape", "ape", -1)])
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InputError, match="History has no column 'class'. Its columns are: annotator, label, count"):
        DawidSkene().fit(triples, history=pandas.DataFrame(columns=["annotator", "label", "count"]))


def test_quality_is_the_posterior_of_what_was_said():
    triples = draw_triples(3)
    fitted = DawidSkene().fit(triples)
    quality = label_quality(fitted)
    chance = fitted.probas_
    for item, label, score in zip(
        *(quality.items[c] for c in ("item", "consensus_label", "consensus_quality_score")), strict=True
    ):
        assert score == pytest.approx(max(chance[item].values()))
        assert label == fitted.labels_[item]
    own = {}
    for item, annotator, label in triples:
        own.setdefault(annotator, []).append((chance[item][label], label))
    found = dict(zip(quality.annotators["annotator"], quality.annotators["annotator_quality"], strict=True))
    assert found == pytest.approx({a: np.mean([p for p, _ in said]) for a, said in own.items()})
    worst = dict(zip(quality.annotators["annotator"], quality.annotators["worst_class"], strict=True))
    for annotator, said in own.items():
        means = {x: np.mean([p for p, label in said if label == x]) for x in {label for _, label in said}}
        assert means[worst[annotator]] == pytest.approx(min(means.values()))
    assert len(quality.answers["label_quality"]) == len(triples)


def test_quality_of_a_lone_annotator_has_no_agreement():
    quality = label_quality(MajorityVote().fit([("x", "ann", "cat"), ("y", "ann", "dog")]))
    assert quality.annotators["agreement_with_consensus"] == [None]
    assert quality.annotators["num_examples_labeled"] == [2]
