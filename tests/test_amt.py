"""The five Mechanical Turk sets: the paper's errors are reached, and the default never loses to majority vote."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from conftest import SETS
from covote import METHODS
from covote.engines.memory import MemoryEngine
from covote.errors import ConvergenceWarning
from covote.estimators.dawid_skene import DawidSkene, MajorityVote
from covote.methods.multispa import multispa
from covote.score import error_rate

pytestmark = pytest.mark.data

PAPER_ERRORS = {  # percent: trec, bluebird, rte, web, dog
    "multispa": (31.47, 13.88, 8.75, 15.22, 17.09),
    "multispa-kl": (29.23, 11.11, 7.12, 14.58, 15.48),
    "multispa-ds": (29.84, 12.03, 7.12, 15.11, 16.11),
}


def percent(estimator, a, truth):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return 100 * error_rate(estimator.fit(a).posterior_, truth)


@pytest.mark.parametrize("name", PAPER_ERRORS)
def test_the_papers_errors_are_reached_by_name(amt, name):
    errors = [percent(METHODS[name], *amt(s, "paper")) for s in SETS]
    for s, ours, paper in zip(SETS, errors, PAPER_ERRORS[name], strict=True):
        assert ours <= paper + 1.5, s
    assert np.mean(errors) <= np.mean(PAPER_ERRORS[name])


@pytest.mark.parametrize(("name", "paper"), list(zip(SETS, (34.857, 21.296, 10.313, 26.935, 17.906), strict=True)))
def test_majority_vote_is_the_papers_row(amt, name, paper):
    assert percent(MajorityVote(), *amt(name, "paper")) == pytest.approx(paper, abs=5e-4)


@pytest.mark.parametrize(("name", "paper"), list(zip(SETS, (30.02, 12.03, 7.25, 16.02, 15.86), strict=True)))
def test_em_from_votes_with_the_papers_settings_is_the_papers_row(amt, name, paper):
    plain = DawidSkene(init="majority", smoothing=0, diagonal=0, prior="uniform", max_iter=10, accelerate=False)
    assert percent(plain, *amt(name, "paper")) == pytest.approx(paper, abs=0.05)


@pytest.mark.parametrize("name", SETS)
def test_em_from_co_occurrences_never_errs_more_than_majority_vote(amt, name):
    a, truth = amt(name)
    assert percent(DawidSkene(), a, truth) <= percent(MajorityVote(), a, truth)


def test_trec_is_counted_and_identified_in_memory_proportional_to_its_pairs(amt):
    a, _ = amt("trec")
    engine = MemoryEngine(a)
    counts = engine.pair_counts()
    assert multispa(counts).model is not None
    assert counts.n_pairs < 0.05 * a.n_annotators**2
    assert counts.blocks.nbytes == counts.n_pairs * 4 * 8
