"""`covote.crowdkit` behaves as crowd-kit's documentation says: arguments, shapes, ties, errors, metrics."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from covote.crowdkit.aggregation import (
    GLAD,
    KOS,
    MACE,
    MMSR,
    BinaryRelevance,
    DawidSkene,
    GoldMajorityVote,
    MajorityVote,
    OneCoinDawidSkene,
    SegmentationMajorityVote,
    Wawa,
    ZeroBasedSkill,
)
from covote.crowdkit.aggregation.utils import clone_aggregator, evaluate, evaluate_equal, get_accuracy, normalize_rows
from covote.crowdkit.metrics.data import alpha_krippendorff, consistency, uncertainty
from covote.crowdkit.metrics.workers import accuracy_on_aggregates
from covote.crowdkit.postprocessing import entropy_threshold
from covote.errors import CrowdWarning

ALL = [MajorityVote, Wawa, ZeroBasedSkill, DawidSkene, OneCoinDawidSkene, MMSR, GLAD, MACE]


@pytest.fixture
def data():
    rows = {"a": "xxyy", "b": "xxyx", "c": "yxyy", "d": "xyyy"}
    return pd.DataFrame(
        [(f"t{i}", w, x) for w, said in rows.items() for i, x in enumerate(said)], columns=["task", "worker", "label"]
    )


def test_every_aggregator_gives_a_series_by_task(data):
    for kind in ALL:
        labels = kind().fit_predict(data).sort_index()
        assert labels.name == "agg_label", kind
        assert labels.index.name == "task", kind
        assert labels.tolist() == ["x", "x", "y", "y"], kind
        for member in dir(made := kind().fit(data)):
            value = getattr(made, member)
            if member.endswith("_") and isinstance(value, pd.Series) and member != "labels_":
                assert value.name == member[:-2], (kind, member)


def test_ties_go_to_the_first_label_and_rows_may_repeat():
    tied = pd.DataFrame({"task": [1, 1], "worker": ["a", "b"], "label": ["z", "b"]})
    assert MajorityVote().fit_predict(tied).tolist() == ["b"]
    twice = pd.concat([tied, tied.head(1)])
    assert MajorityVote().fit_predict(twice).tolist() == ["z"]
    assert DawidSkene(0).fit_predict_proba(twice).loc[1].tolist() == pytest.approx([1 / 3, 2 / 3])


def test_skills_of_majority_vote(data):
    heavy = pd.Series({"a": 0.1, "b": 5.0, "c": 0.1, "d": 0.1})
    made = MajorityVote().fit(data, skills=heavy)
    assert made.labels_["t3"] == "x"
    assert made.probas_.loc["t3", "x"] == pytest.approx(5 / 5.3)
    some = heavy.drop("b")
    with pytest.raises(ValueError, match="4 answers are of workers without a skill"):
        MajorityVote().fit(data, skills=some)
    assert "b" not in MajorityVote(on_missing_skill="ignore").fit(data, skills=some).skills_.index
    assert MajorityVote(on_missing_skill="value", default_skill=9).fit(data, skills=some).labels_["t3"] == "x"
    for options in ({"on_missing_skill": "value"}, {"default_skill": 1}, {"on_missing_skill": "what"}):
        with pytest.raises(ValueError, match="skill"):
            MajorityVote(**options).fit(data, skills=some)
    with pytest.raises(ValueError, match="4 tasks have no worker"):
        MajorityVote(on_missing_skill="ignore").fit(data, skills=pd.Series([], dtype=float))


def test_dawid_skene_step_by_step(data):
    start = DawidSkene(0).fit(data)
    assert start.probas_.loc["t0"].tolist() == [0.75, 0.25]
    assert start.priors_.tolist() == pytest.approx([0.4375, 0.5625])
    errors = start.errors_
    assert errors.index.names == ["worker", "label"]
    assert errors.loc[("a", "x"), "x"] == pytest.approx(1.5 / 1.75)
    assert errors.groupby("worker").sum().to_numpy() == pytest.approx(np.ones((4, 2)))
    one = DawidSkene(1).fit(data)
    weight = {
        k: start.priors_[k] * math.prod(errors.loc[(w, x), k] for w, x in zip("abcd", "xxyx", strict=True))
        for k in "xy"
    }
    assert one.probas_.loc["t0", "x"] == pytest.approx(weight["x"] / sum(weight.values()))
    assert len(one.loss_history_) == 1
    assert DawidSkene(100).fit(data).loss_history_ == pytest.approx(DawidSkene(n_iter=100).fit(data).loss_history_)


def test_gold_and_a_label_that_only_the_gold_has(data):
    for rounds in (0, 1, 5):
        made = DawidSkene(rounds).fit(data, pd.Series({"t0": "z", "t1": "y", "elsewhere": "x"}))
        assert made.labels_[["t0", "t1"]].tolist() == ["z", "y"]
        np.testing.assert_allclose(made.probas_.sum(axis=1), 1)


def test_initial_error(data):
    rows = pd.MultiIndex.from_product([list("abcd"), ["x", "y"]], names=["worker", "label"])
    zeros = pd.DataFrame(0.0, index=rows, columns=["x", "y"])
    plain = DawidSkene(3, 0).fit(data)
    same = DawidSkene(3, 0, "addition").fit(data, initial_error=zeros)
    pd.testing.assert_frame_equal(plain.probas_, same.probas_)
    given = zeros + 10 * np.tile(np.eye(2), (4, 1))
    added = DawidSkene(0, 0, "addition").fit(data, initial_error=given)
    assert added.errors_.loc[("a", "x"), "x"] == pytest.approx(11.5 / 11.75)
    assert given.to_numpy().sum() == 80  # the caller's table stays as it was
    with pytest.raises(ValueError, match="The sum of each worker's error matrix in initial_error should be 1.0"):
        DawidSkene(3, 0, "assign").fit(data, initial_error=zeros)
    with pytest.raises(ValueError, match="All workers in the data should be in initial_error"):
        DawidSkene(3, 0, "assign").fit(data, initial_error=given.head(3))
    with pytest.raises(ValueError, match="named worker and label"):
        DawidSkene(3, 0, "assign").fit(data, initial_error=given.rename_axis(["p", "q"]))
    with pytest.raises(ValueError, match="expected 'assign' or 'addition'"):
        DawidSkene(3, 0, "what").fit(data, initial_error=given)


def test_gold_majority_vote_with_several_truths(data):
    truth = pd.concat([pd.Series({"t0": "x", "t1": "x"}), pd.Series({"t1": "y"})])
    made = GoldMajorityVote().fit(data, truth)
    assert made.skills_.to_dict() == {"a": 1.0, "b": 1.0, "c": 0.5, "d": 1.0}
    assert made.predict(data).tolist() == ["x", "x", "y", "y"]
    assert made.predict_proba(data).loc["t0", "x"] == pytest.approx(3 / 3.5)


def test_two_labels_only_for_kos(data):
    assert KOS().fit_predict(data).tolist() == ["x", "x", "y", "y"]
    with pytest.raises(ValueError, match="KOS works on two labels"):
        KOS().fit(data.assign(label=[str(i % 3) for i in range(16)]))


def test_lists_of_labels():
    said = [("t1", "a", ["cat", "dog"]), ("t1", "b", ["cat"]), ("t1", "c", ["cat"]), ("t2", "a", []), ("t2", "b", [])]
    frame = pd.DataFrame(said, columns=["task", "worker", "label"])
    for base in (MajorityVote(), DawidSkene(), Wawa()):
        assert BinaryRelevance(base).fit_predict(frame).to_dict() == {"t1": ["cat"], "t2": []}
    with pytest.raises(AssertionError, match="classification aggregator"):
        BinaryRelevance("vote")


@pytest.mark.parametrize("kind", [MajorityVote, DawidSkene, OneCoinDawidSkene, Wawa, KOS, GLAD])
def test_empty_frames_give_empty_results_and_missing_columns_a_key_error(kind, data):
    empty = pd.DataFrame([], columns=["task", "worker", "label"])
    assert kind().fit_predict(empty).empty
    for column in data:
        with pytest.raises(KeyError, match=column):
            kind().fit_predict(data.drop(columns=column))


def test_metrics_by_hand(data):
    assert get_accuracy(data, MajorityVote().fit_predict(data)) == 13 / 16
    assert accuracy_on_aggregates(data, by="worker").to_dict() == {"a": 1.0, "b": 0.75, "c": 0.75, "d": 0.75}
    skills = pd.Series(0.8, index=list("abcd"))
    expected = np.mean([0.8**3 * 0.2 / (0.8**3 * 0.2 + 0.8 * 0.2**3)] * 3 + [0.8**4 / (0.8**4 + 0.2**4)])
    assert consistency(data, skills) == pytest.approx(expected)
    sure = uncertainty(data, compute_by="task", aggregate=False)
    assert sure["t2"] == pytest.approx(0.0, abs=1e-6)
    assert sure["t0"] == pytest.approx(-(0.75 * math.log(0.75) + 0.25 * math.log(0.25)), abs=1e-5)
    with pytest.raises(AssertionError, match="There are no skills for the workers d"):
        uncertainty(data, skills.drop("d"))
    with pytest.raises(AssertionError, match="DawidSkene learns no skills"):
        consistency(data, aggregator=DawidSkene())
    halves = data[data["worker"].isin(["a", "b"])]
    assert alpha_krippendorff(halves) == pytest.approx(1 - (2 / 8) / (2 * 5 * 3 / 56))
    assert alpha_krippendorff(halves, lambda p, q: 3.0 * (p != q)) == pytest.approx(alpha_krippendorff(halves))
    frame = MajorityVote().fit_predict(data).to_frame("label")
    assert evaluate(frame, frame, evaluate_func=evaluate_equal) == 1.0
    assert normalize_rows(pd.DataFrame({"x": [1, 2], "y": [3, 2]})).loc[0].tolist() == [0.25, 0.75]


def test_entropy_threshold_drops_those_who_always_say_the_same(data):
    bot = pd.DataFrame({"task": [f"t{i}" for i in range(4)], "worker": "bot", "label": "x"})
    kept = entropy_threshold(pd.concat([data, bot]))
    assert "bot" not in set(kept["worker"])
    assert len(kept) == 16
    with pytest.warns(CrowdWarning, match="At least half of the answers were removed"):
        entropy_threshold(data, percentile=80)


def test_what_is_not_here_says_so():
    with pytest.raises(NotImplementedError, match="Install crowd-kit and import it from crowdkit.aggregation.image"):
        SegmentationMajorityVote()
    with pytest.raises(ImportError, match="does not provide ROVER. Install crowd-kit"):
        from covote.crowdkit.aggregation.texts import ROVER  # noqa: F401


def test_clones_forget(data):
    made = DawidSkene(7, 0.1).fit(data)
    copy = clone_aggregator(made)
    assert (copy.n_iter, copy.tol, copy.labels_) == (7, 0.1, None)
