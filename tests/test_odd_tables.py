"""Small odd tables: whatever the crowd, every method ends with probabilities that sum to 1, and the same ones again."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covote.errors import NotApplicableError
from covote.estimators.registry import METHODS, make
from covote.estimators.summary import summarise

CORE = ("majority-vote", "multispa", "multispa-kl", "multispa-ds", "mv-ds")

tables = st.dictionaries(
    st.tuples(st.integers(0, 5), st.sampled_from("abcd")), st.sampled_from(["x", "y", "z"]), min_size=1, max_size=20
)

ODD = {
    "one answer": {("i", "a"): "x"},
    "one item": {("i", "a"): "x", ("i", "b"): "y"},
    "one annotator": {(i, "a"): "xy"[i % 2] for i in range(5)},
    "one class": {(i, a): "x" for i in range(4) for a in "abc"},
    "all ties": {(i, a): "xy"[a == "b"] for i in range(6) for a in "ab"},
    "disconnected": {(i, a): "xy"[i % 2] for i in range(8) for a in ("ab" if i < 4 else "cd")},
    "always the same": {**{(i, a): "xy"[i % 2] for i in range(8) for a in "abc"}, **{(i, "s"): "x" for i in range(8)}},
}


def rows(table):
    return [(item, who, label) for (item, who), label in table.items()]


def check(name, table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fit = make(name).fit(rows(table))
        except NotApplicableError:
            assert name not in CORE
            return
    posterior = fit.posterior_
    assert np.all(np.isfinite(posterior))
    assert np.all(posterior >= 0)
    np.testing.assert_allclose(posterior.sum(axis=1), 1, atol=1e-9)
    assert set(fit.labels_) == {item for item, _ in table}
    assert set(fit.labels_.values()) <= set(table.values())
    if fit.fit_.model is not None:
        np.testing.assert_allclose(fit.model_.confusion.sum(axis=1), 1, atol=1e-9)
        assert fit.model_.prior.sum() == pytest.approx(1)
    summary = summarise(fit, name)
    assert summary.n_labels == len(table)


@pytest.mark.parametrize("name", list(METHODS))
@pytest.mark.parametrize("kind", ODD)
def test_odd_crowds_end_well(name, kind):
    check(name, ODD[kind])


@pytest.mark.parametrize("name", CORE)
@settings(max_examples=30, deadline=None)
@given(table=tables)
def test_random_small_crowds_end_well(name, table):
    check(name, table)


@settings(max_examples=30, deadline=None)
@given(table=tables, seed=st.integers(0, 100))
def test_shuffled_rows_change_nothing_for_votes(table, seed):
    shuffled = rows(table)
    np.random.default_rng(seed).shuffle(shuffled)
    shuffled = [(int(i), str(a), str(x)) for i, a, x in shuffled]
    assert make("majority-vote").fit(rows(table)).labels_ == make("majority-vote").fit(shuffled).labels_


def test_unanimous_crowds_are_believed():
    table = ODD["disconnected"]
    for name in CORE:
        labels = make(name).fit(rows(table)).labels_
        assert all(labels[item] == label for (item, _), label in table.items()), name


def test_ties_stay_visible_and_are_broken_by_the_votes_of_the_whole_crowd():
    votes = [("t", "a", "x"), ("t", "b", "y"), ("u", "a", "y"), ("u", "b", "y")]
    fit = make("majority-vote").fit(votes)
    assert fit.probas_["t"] == {"x": 0.5, "y": 0.5}
    assert fit.labels_ == {"t": "y", "u": "y"}
