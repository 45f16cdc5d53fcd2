"""The figure: MSE of the confusion matrices against the number of annotators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from covote.experiments.crowds import CrowdSetting
from covote.experiments.experiment import Experiment, GridLayout
from covote.experiments.rows import Row, tidy
from covote.experiments.run import Measured, Unit

SIZES = (5, 10, 15, 20, 25, 30, 40, 50)
SHOWN = ("multispa", "multispa-kl", "multispa-ds")


def annotators(**options: Any) -> list[Row]:
    """Confusion MSE at each number of annotators; options are those of `Experiment.run`."""
    return EXPERIMENT.run(**options)


def _plan(seed: int, trials: int) -> list[Unit]:
    return [
        Unit("", CrowdSetting("growing", "case2-skewed", size, trial=t, seed=seed), "recovery", SHOWN)
        for size in SIZES
        for t in range(trials)
    ]


def _table(measured: Sequence[Measured]) -> list[Row]:
    return tidy("annotators", measured, ("mse",))


EXPERIMENT = Experiment(
    name="annotators",
    title="More annotators",
    trials=20,
    datasets=(),
    plan=_plan,
    table=_table,
    grids=(GridLayout("MSE of the confusion matrices, times 1000", "", "mse", 3, scale=1000.0, variable="M"),),
    same="N = 10,000 items, K = 3 classes, prior (1/6, 2/3, 1/6), p = 0.5, matrices drawn as in case 2.",
    other=(
        "The paper gives the figure without numbers. Here the crowd of a trial grows: the smaller ones are the "
        "first annotators of the larger, the good one always among them, so that a curve shows more annotators "
        "and not other annotators. Twenty trials, since MSEs differ widely between draws. Settings as in the MSE "
        "tables."
    ),
)
