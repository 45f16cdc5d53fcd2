"""Options of the estimators: what they allow runs, everything else is one sentence that names the option."""

from __future__ import annotations

import numpy as np
import pytest

import covote
from covote.errors import InputError
from covote.estimators.baselines import KOS, GhoshSVD, MinmaxEntropy, SpectralDS, TensorADMM
from covote.estimators.checks import check_options
from covote.estimators.dawid_skene import DawidSkene, MajorityVote, MultiSPA, MultiSPAKL
from covote.estimators.registry import METHODS, make

VOTES = [(i, a, "xy"[(i + (a == 3 and i % 5 == 0)) % 2]) for i in range(20) for a in range(4)]


@pytest.mark.parametrize("name", METHODS)
def test_defaults_are_allowed_and_survive_a_round_trip(name):
    estimator = make(name)
    check_options(estimator)
    assert make(name, **estimator.get_params()).get_params() == estimator.get_params()


ALLOWED = [
    DawidSkene(init="majority", smoothing=0, diagonal=0, tol=0, prior="uniform"),
    DawidSkene(init="multispa-kl", max_iter=np.int64(3), tol=np.float32(1e-3), smoothing=np.float64(2)),
    DawidSkene(max_iter=0, accelerate=0, intervals=np.False_, threads=2, engine="memory"),
    MultiSPAKL(smoothing=None, weighting="shared"),
    MultiSPAKL(smoothing=0.5),
    MultiSPA(align="diagonal", floor=0, solve_again=False),
    TensorADMM(starts=0, triples=None),
    KOS(seed=None, max_iter=1),
    KOS(seed=7),
]


@pytest.mark.parametrize("estimator", ALLOWED, ids=repr)
def test_valid_options_stay_valid(estimator):
    check_options(estimator)


@pytest.mark.parametrize("kind", [DawidSkene, MultiSPAKL])
def test_a_model_is_a_start(kind):
    model = DawidSkene().fit(VOTES).model_
    assert kind(init=model).fit(VOTES).labels_ == DawidSkene().fit(VOTES).labels_


REFUSED = [
    (DawidSkene, "init", "foo", "'majority', 'multispa', 'multispa-kl' or a Model"),
    (DawidSkene, "prior", "foo", "'estimated' or 'uniform'"),
    (DawidSkene, "engine", "foo", "'auto', 'memory' or 'disk'"),
    (DawidSkene, "tol", "abc", "a finite number from 0 on"),
    (DawidSkene, "tol", -1, "a finite number from 0 on"),
    (DawidSkene, "tol", float("nan"), "a finite number from 0 on"),
    (DawidSkene, "tol", None, "a finite number from 0 on"),
    (DawidSkene, "smoothing", -5, "a finite number from 0 on or None"),
    (DawidSkene, "diagonal", "abc", "a finite number from 0 on"),
    (DawidSkene, "max_iter", "abc", "a whole number from 0 on"),
    (DawidSkene, "max_iter", -1, "a whole number from 0 on"),
    (DawidSkene, "max_iter", 2.5, "a whole number from 0 on"),
    (DawidSkene, "max_iter", True, "a whole number from 0 on"),
    (DawidSkene, "accelerate", "false", "True or False"),
    (MajorityVote, "threads", "foo", "a whole number from 1 on or None"),
    (covote.Auto, "threads", 0, "a whole number from 1 on or None"),
    (covote.Auto, "threads", -3, "a whole number from 1 on or None"),
    (covote.Auto, "intervals", "yes", "True or False"),
    (MultiSPA, "align", "foo", "'pairs' or 'diagonal'"),
    (MultiSPA, "floor", -0.1, "a finite number from 0 on"),
    (MultiSPAKL, "init", "majority", "'multispa' or a Model"),
    (MultiSPAKL, "weighting", "foo", "'equal' or 'shared'"),
    (MultiSPAKL, "smoothing", -1, "a finite number from 0 on or None"),
    (KOS, "max_iter", 0, "a whole number from 1 on"),
    (KOS, "seed", -1, "a whole number from 0 on or None"),
    (SpectralDS, "seed", None, "a whole number from 0 on"),
    (SpectralDS, "groupings", 1.5, "a whole number from 0 on"),
    (TensorADMM, "starts", -1, "a whole number from 0 on"),
    (GhoshSVD, "scale", "foo", "'unit' or 'none'"),
    (MinmaxEntropy, "kind", "foo", "'categorical' or 'ordinal'"),
    (MinmaxEntropy, "gamma", "abc", "a finite number"),
]


@pytest.mark.parametrize(("kind", "option", "value", "expected"), REFUSED)
def test_what_makes_no_sense_is_named_before_the_table_is_read(kind, option, value, expected):
    with pytest.raises(InputError) as error:
        kind(**{option: value}).fit("no such table")
    assert str(error.value) == f"Option {option} of {kind.__name__} is {value!r}, expected {expected}."


def test_what_is_long_is_shown_by_its_type():
    for value, shown in ((np.ones(3), "ndarray"), ("x" * 99, "str"), (DawidSkene().fit(VOTES), "DawidSkene")):
        with pytest.raises(InputError, match=f"Option init of DawidSkene is of type {shown}, expected"):
            DawidSkene(init=value).fit(VOTES)


def test_counts_are_checked_too():
    counts = MultiSPA().fit(VOTES).counts_
    with pytest.raises(InputError, match="Option align of MultiSPA is 'foo'"):
        MultiSPA(align="foo").fit_counts(counts)
    with pytest.raises(InputError, match="Option prior of MultiSPA is 'foo'"):
        MultiSPA().set_params(prior="foo").partial_fit(VOTES)


def test_make_names_the_options_a_method_has():
    with pytest.raises(InputError) as error:
        make("auto", nope=1, threads=1)
    assert str(error.value) == (
        "Method 'auto' does not take these options: nope. Its options are: engine, memory_limit, threads, intervals, groups."
    )
    with pytest.raises(InputError, match="Option max_iter of DawidSkene is -1"):
        make("mv-ds", max_iter=-1)
