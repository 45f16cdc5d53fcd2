"""The MSE tables: how well the confusion matrices of a drawn model are found again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from covote.experiments.crowds import CrowdSetting
from covote.experiments.experiment import Experiment, GridLayout
from covote.experiments.rows import Row, tidy
from covote.experiments.run import Measured, Unit
from covote.experiments.settings import COUNTED, MODEL_METHODS

CASES = ("case1", "case2")
LEVELS = (0.2, 0.3, 0.5, 1.0)
SHOWN = (*MODEL_METHODS, COUNTED)


def mse(**options: Any) -> list[Row]:
    """Confusion MSE of the methods that identify the model; options are those of `Experiment.run`."""
    return EXPERIMENT.run(**options)


def _plan(seed: int, trials: int) -> list[Unit]:
    return [
        Unit("", CrowdSetting("synthetic", f"{case}-uniform", level, trial=t, seed=seed), "recovery", SHOWN)
        for case in CASES
        for level in LEVELS
        for t in range(trials)
    ]


def _table(measured: Sequence[Measured]) -> list[Row]:
    return tidy("mse", measured, ("mse",), name=lambda m: m.unit.crowd.dataset.split("-")[0])


EXPERIMENT = Experiment(
    name="mse",
    title="Drawn crowds: are the confusion matrices found?",
    trials=10,
    datasets=(),
    plan=_plan,
    table=_table,
    grids=(
        GridLayout(
            "MSE of the confusion matrices, times 1000",
            "",
            "mse",
            3,
            "Truth-known counts the matrices from the true class of every item: about the least MSE that this "
            "many answers allow.",
            scale=1000.0,
        ),
    ),
    same=(
        "N = 10,000 items, M = 25 annotators, K = 3 classes, uniform prior, matrices drawn as in cases 1 and 2, "
        "MSE in the best class order, ten trials."
    ),
    other=(
        "The paper has no row for multispa-ds. All iterations run to convergence. Half of the drawn annotators "
        "are worse than chance, so nothing is believed of them beforehand: multispa-kl minimises the paper's "
        "criterion and tensor-admm fits its moments without smoothing, and the EM of multispa-ds, spectral-ds and "
        "mv-ds adds 0.1 pseudo-answers to each cell and nothing to the diagonal. The class order is common to all "
        "annotators; the paper's formula may be read as one order for each. On case 2 multispa-kl has a larger "
        "MSE than in the paper although it reaches the minimum of the criterion: the criterion is flat there. On "
        "one of the crowds of p = 1 the runs from MultiSPA and from the true model end at the same value to eight "
        "decimals (0.00016096) with MSEs of 0.0054 and 0.0002. Started from the true model it has the MSEs that "
        "the paper reports; started from answers alone it stays where its start puts it in the valley. EM, which "
        "sees whole items and not pairs only, is not flat there."
    ),
)
