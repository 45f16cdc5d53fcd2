"""The baselines on the five Mechanical Turk sets and on the paper's synthetic crowds: its numbers are reached."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from conftest import SETS
from covote.engines.memory import MemoryEngine
from covote.errors import NotApplicableError
from covote.estimators.baselines import KOS, EigenRatio, GhoshSVD, MinmaxEntropy, SpectralDS, TensorADMM
from covote.methods.spectral_ds import spectral_ds
from covote.methods.tensor_admm import tensor_admm
from covote.model import Status
from covote.score import error_rate, match_classes
from covote.simulate import draw, paper_model

ESTIMATORS = {
    "spectral-ds": SpectralDS,
    "tensor-admm": TensorADMM,
    "kos": KOS,
    "eigen-ratio": EigenRatio,
    "ghosh-svd": GhoshSVD,
    "minmax-entropy": MinmaxEntropy,
}
PAPER = {  # error in percent, seconds of the paper's Matlab; None where it has no number
    "spectral-ds": {"trec": (29.58, 919.98), "bluebird": (12.03, 1.97), "rte": (7.12, 6.40), "web": (16.88, 179.92), "dog": (17.84, 51.16)},
    "tensor-admm": {"bluebird": (12.03, 2.74), "dog": (17.96, 603.93)},
    "kos": {"trec": (51.95, 9.98), "bluebird": (11.11, 0.01), "rte": (39.75, 0.03), "web": (42.93, 0.31), "dog": (31.84, 0.13)},
    "eigen-ratio": {"trec": (43.95, 1.48), "bluebird": (27.77, 0.02), "rte": (9.01, 0.03)},
    "ghosh-svd": {"trec": (43.03, 11.62), "bluebird": (27.77, 0.01), "rte": (49.12, 0.03)},
    "minmax-entropy": {"trec": (91.61, 352.36), "bluebird": (8.33, 3.43), "rte": (7.50, 9.10), "web": (11.51, 26.61), "dog": (16.23, 7.22)},
}  # fmt: skip
CEILING = {  # where the paper's run failed, or the bar is tighter than its number plus 1.5
    ("minmax-entropy", "trec"): 32.0,
    ("minmax-entropy", "web"): 12.5,
    ("minmax-entropy", "bluebird"): 10.2,
    ("kos", "rte"): 12.0,
    ("kos", "web"): 10.0,
    ("kos", "dog"): 20.0,
    ("ghosh-svd", "rte"): 10.0,
    ("tensor-admm", "trec"): 33.0,  # the paper could not run these three
    ("tensor-admm", "rte"): 9.0,
    ("tensor-admm", "web"): 20.0,
}
RUNS = [(m, s) for m in ESTIMATORS for s in SETS if m not in ("eigen-ratio", "ghosh-svd") or s not in ("web", "dog")]


@pytest.mark.data
@pytest.mark.parametrize(("method", "name"), RUNS)
def test_errors_on_the_turk_sets_are_those_of_the_paper_or_better(amt, method, name):
    a, truth = amt(name, "paper")
    paper, _ = PAPER[method].get(name, (np.inf, np.inf))
    estimator = ESTIMATORS[method]().fit(a)  # warnings are errors here: every fit converges
    probability = estimator.posterior_
    assert 100 * error_rate(probability, truth) <= min(paper + 1.5, CEILING.get((method, name), np.inf))
    assert estimator.fit_.status in (Status.CONVERGED, Status.DIRECT)
    assert estimator.fit_.notes == ()
    assert np.all(np.isfinite(probability))
    assert np.all(np.isfinite(estimator.fit_.scores.table))


@pytest.mark.data
@pytest.mark.parametrize("name", ["web", "dog"])
@pytest.mark.parametrize("method", ["eigen-ratio", "ghosh-svd"])
def test_binary_methods_decline_more_classes(amt, method, name):
    with pytest.raises(NotApplicableError, match="works on two classes"):
        ESTIMATORS[method]().fit(amt(name, "paper")[0])


@pytest.mark.data
def test_the_papers_numbers_here_are_those_of_its_table():
    from conftest import data_folder

    table = data_folder().parent / "paper" / "tables.csv"
    if not table.exists():
        pytest.skip("the paper's tables are not beside the data folder")
    with table.open() as file:
        rows = {
            (r["method"], r["dataset"], r["metric"]): float(r["value"])
            for r in csv.DictReader(file)
            if r["table"] == "amt"
        }
    for method, sets in PAPER.items():
        for name, (error, seconds) in sets.items():
            assert rows[method, name, "error_percent"] == error
            assert rows[method, name, "seconds"] == seconds


@pytest.mark.data
def test_the_ordinal_kind_helps_where_classes_are_ordered(amt):
    a, truth = amt("web", "paper")
    assert 100 * error_rate(MinmaxEntropy(kind="ordinal", tol=1e-4).fit(a).posterior_, truth) < 11.5


@pytest.mark.parametrize("method", [spectral_ds, tensor_admm])
def test_the_tensor_methods_label_case_two_nearly_as_well_as_the_true_model(method):
    excess = []
    for seed in range(10):
        drawn = draw(paper_model("case2", seed=seed), 10_000, answering=0.5, seed=seed)
        engine = MemoryEngine(drawn.annotations)
        best = error_rate(engine.posterior(drawn.model.scores()), drawn.truth)
        found = match_classes(drawn.model, method(engine).model)  # half of this crowd is worse than chance
        excess.append(error_rate(engine.posterior(found.floored().scores()), drawn.truth) - best)
    assert max(excess) < 0.01
