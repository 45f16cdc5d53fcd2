"""Estimators: scikit-learn's manners, the user's own kind of table back, prediction for new items."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import covote
from covote.errors import ConvergenceWarning, CrowdWarning, InputError, NotFittedError
from covote.estimators.registry import METHODS, make
from covote.estimators.summary import summarise

VOTES = [(f"{i:02d}", f"w{m}", f"0{(i + (m == 3)) % 3}") for i in range(30) for m in range(5) if (i + m) % 4]


def frame(kind):
    columns = {name: [row[j] for row in VOTES] for j, name in enumerate(("task", "worker", "label"))}
    make_frame = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "lazy": pl.LazyFrame, "pyarrow": pa.table}
    return make_frame[kind](columns)


@pytest.mark.parametrize(
    ("kind", "type_"),
    [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("lazy", pl.LazyFrame), ("pyarrow", pa.Table)],
)
def test_a_frame_in_gives_the_same_kind_of_frame_out(kind, type_):
    fit = covote.aggregate(frame(kind))
    labels, probabilities = fit.labels_, fit.probas_
    assert isinstance(labels, type_)
    assert isinstance(probabilities, type_)
    plain = labels.collect() if kind == "lazy" else labels
    names = plain.column_names if kind == "pyarrow" else list(plain.columns)
    assert names == ["task", "label"]
    back = plain["task"].to_pylist() if kind == "pyarrow" else list(plain["task"])
    assert back == list(dict.fromkeys(row[0] for row in VOTES))
    values = plain["label"].to_pylist() if kind == "pyarrow" else list(plain["label"])
    assert set(values) <= {"00", "01", "02"}


def test_every_kind_of_table_gives_the_same_answer():
    expected = covote.aggregate(VOTES).labels_
    pandas_labels = covote.aggregate(frame("pandas")).labels_
    assert dict(zip(pandas_labels["task"], pandas_labels["label"], strict=True)) == expected


def test_parameters_are_stored_and_nothing_else():
    fit = covote.DawidSkene(tol=1e-3)
    assert fit.get_params()["tol"] == 1e-3
    assert fit.set_params(tol=1e-4).tol == 1e-4
    with pytest.raises(
        InputError, match="DawidSkene has no option 'tolerance'. Options are: engine, memory_limit, threads"
    ):
        fit.set_params(tolerance=1)


def test_results_before_fit_are_a_clear_error():
    with pytest.raises(NotFittedError, match=r"This MultiSPA is not fitted yet. Call fit\(table\) first."):
        _ = covote.MultiSPA().labels_


def test_scikit_learn_can_clone_it():
    from sklearn.base import clone

    assert clone(covote.MultiSPAKL(tol=1e-5)).tol == 1e-5


def test_prediction_of_the_training_items_is_the_fit():
    fit = covote.aggregate(VOTES, "multispa-ds")
    assert fit.predict(VOTES) == fit.labels_
    new = fit.predict_proba(VOTES)
    for item, shares in fit.probas_.items():
        assert new[item] == pytest.approx(shares)


def test_unknown_annotators_are_named_and_ignored():
    fit = covote.aggregate(VOTES)
    with pytest.warns(
        CrowdWarning, match=r"The model does not know 1 annotators \(stranger\); their answers are ignored."
    ):
        labels = fit.predict([("new", "w0", "01"), ("new", "w1", "01"), ("new", "stranger", "00")])
    assert labels == {"new": "01"}


def test_convergence_is_reported_once():
    with pytest.warns(ConvergenceWarning, match="DawidSkene: Stopped at the iteration limit") as seen:
        covote.DawidSkene(max_iter=1, tol=0).fit(VOTES)
    assert len(seen) == 1


def test_names_of_methods_are_forgiving():
    with pytest.raises(InputError, match="There is no method 'multi-spa'. Did you mean 'multispa'?"):
        make("multi-spa")
    with pytest.raises(InputError, match="Method 'multispa' does not take these options"):
        make("multispa", tolerance=1)
    assert set(METHODS) >= {"majority-vote", "multispa", "multispa-kl", "multispa-ds", "mv-ds"}


def test_any_hashable_ids_and_labels_come_back():
    votes = [((1, "a"), 0, True), ((1, "a"), 1, True), ((2, "b"), 0, False), ((2, "b"), 1, False)]
    labels = covote.aggregate(votes).labels_
    assert labels == {(1, "a"): True, (2, "b"): False}
    assert all(type(v) is bool for v in labels.values())


def test_a_label_matrix_works():
    matrix = np.array([[0, 0, -1], [1, 1, 1], [0, -1, 0], [1, 1, 0]])
    assert covote.aggregate(matrix, "majority-vote").labels_ == {0: 0, 1: 1, 2: 0, 3: 1}


def test_gold_may_name_a_class_that_nobody_voted_for():
    fit = covote.aggregate([("i", "a", "x"), ("j", "a", "y"), ("j", "b", "y")], gold={"i": "z"})
    assert fit.labels_["i"] == "z"
    assert fit.labels_["j"] == "y"


def test_chunks_of_whole_items_in_any_order_are_the_whole():
    chunks = [[row for row in VOTES if int(row[0]) % 3 == r] for r in range(3)]
    whole = covote.MultiSPA().fit(VOTES)
    one, two = covote.MultiSPA(), covote.MultiSPA()
    for chunk in chunks:
        one.partial_fit(chunk)
    for chunk in reversed(chunks):
        two.partial_fit(chunk)
    for part in (one, two):
        assert part.predict(VOTES) == whole.labels_
        order = [part.model_.annotators.index(a) for a in whole.model_.annotators]
        np.testing.assert_allclose(part.model_.confusion[order], whole.model_.confusion, atol=1e-9)


@pytest.mark.parametrize("name", ["majority-vote", "multispa", "multispa-kl", "multispa-ds"])
def test_a_lazy_frame_held_on_disk_gives_the_same_labels(name):
    labels = make(name, engine="disk").fit(frame("lazy")).labels_
    assert dict(labels.fetchall()) == make(name).fit(VOTES).labels_


@pytest.mark.parametrize("kind", ["int8", "Int64", "category", "str"])
def test_new_items_get_labels_of_the_users_type(kind):
    rng = np.random.default_rng(0)
    label = rng.integers(0, 3, 250).astype("int8")
    votes = pd.DataFrame({"item": np.repeat(np.arange(50), 5), "annotator": list("abcde") * 50, "label": label})
    votes["label"] = votes["label"].astype(kind)
    fitted = covote.aggregate(votes, "multispa-ds")
    assert fitted.predict(votes.head(5))["label"].dtype == fitted.labels_["label"].dtype == votes["label"].dtype


def test_a_table_that_the_model_knows_nothing_of_is_refused():
    votes = [(i, a, "xy"[i % 2]) for i in range(8) for a in "abc"]
    fitted = covote.MultiSPA().partial_fit(votes)
    with (
        pytest.warns(CrowdWarning, match="does not know 1 labels"),
        pytest.raises(InputError, match=r"^No answer of this table has an annotator and a label that the model knows"),
    ):
        fitted.label([(1, "a", "other")])


def test_items_without_answers_are_mentioned():
    wide = pd.DataFrame({"item": range(4), "ann": [1, 0, None, 1], "bob": [1, 0, None, 0]})
    notes = summarise(covote.aggregate(wide, "majority-vote"), "majority-vote").notes
    assert notes == ("1 item has no answer: the label is the likeliest class, by how common each is.",)
