"""The tables of synthetic crowds: error for a uniform and a skewed prior, with the Bayes rule nobody can pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from covote.experiments.crowds import CrowdSetting
from covote.experiments.experiment import Experiment, GridLayout
from covote.experiments.rows import Row, tidy
from covote.experiments.run import Measured, Unit
from covote.experiments.settings import BAYES, BINARY_ONLY, METHODS

SETS = ("case2-uniform", "case2-skewed")
LEVELS = (0.2, 0.3, 0.5)
APPLICABLE = tuple(m for m in METHODS if m not in BINARY_ONLY)


def synthetic(**options: Any) -> list[Row]:
    """Error (percent) at each p, and mean seconds over p; options are those of `Experiment.run`."""
    return EXPERIMENT.run(**options)


def _plan(seed: int, trials: int) -> list[Unit]:
    return [
        Unit("", CrowdSetting("synthetic", name, level, trial=t, seed=seed), "recovery", (*APPLICABLE, BAYES))
        for name in SETS
        for level in LEVELS
        for t in range(trials)
    ]


def _table(measured: Sequence[Measured]) -> list[Row]:
    timed = [m for m in measured if m.method != BAYES]
    return tidy("synthetic", measured, ("error", "error_named")) + tidy(
        "synthetic", timed, ("seconds",), over_levels=True
    )


EXPERIMENT = Experiment(
    name="synthetic",
    title="Drawn crowds: error against the Bayes rule",
    trials=10,
    datasets=(),
    plan=_plan,
    table=_table,
    grids=(
        GridLayout(
            "Error in percent",
            "",
            "error",
            2,
            "The Bayes rule knows the true model: the limit no method can pass. Classes in the order that matches "
            "the true model best, as in the paper, for methods that find a model.",
        ),
        GridLayout(
            "Error in percent with the class names the method itself gives",
            "",
            "error_named",
            2,
            "Half of these annotators are worse than chance, and the names of the classes can only come from what "
            "annotators say.",
        ),
        GridLayout("Processor seconds, mean over p", "", "seconds", 3, averaged=True),
    ),
    same=(
        "N = 10,000 items, M = 25 annotators, K = 3 classes, matrices drawn as in case 2, prior uniform or (1/6, "
        "2/3, 1/6), MAP labels, ten trials."
    ),
    other=(
        "Settings as in the MSE tables. The crowds of the uniform prior are those of its case 2. The paper's "
        "draws are not known, and the error of the Bayes rule differs by several points from draw to draw, so "
        "differences to the paper say little; the distance to the Bayes rule on the same crowds says more."
    ),
)
