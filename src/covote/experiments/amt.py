"""The Mechanical Turk table: error and time of all methods on five sets, and the same with all annotators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from covote.experiments.crowds import CrowdSetting
from covote.experiments.experiment import Experiment, GridLayout
from covote.experiments.rows import Row, tidy
from covote.experiments.run import Measured, Unit
from covote.experiments.settings import METHODS

SETS = ("trec", "bluebird", "rte", "web", "dog")
PAPER, EVERYBODY, DEFAULT = "paper", "everybody", "default"


def amt(**options: Any) -> list[Row]:
    """Error (percent, with its 90 % interval) and seconds; options are those of `Experiment.run`.

    The panel "paper" is the paper's protocol, "everybody" the same settings with all annotators, "default" all
    annotators and the library's own settings, run to convergence.
    """
    return EXPERIMENT.run(**options)


def _plan(seed: int, trials: int) -> list[Unit]:
    del seed, trials  # nothing here is random
    return [
        Unit(panel, CrowdSetting("amt", name, protocol="paper" if panel == PAPER else "all"), preset, METHODS)
        for panel, preset in ((PAPER, "paper"), (EVERYBODY, "paper"), (DEFAULT, "default"))
        for name in SETS
    ]


def _table(measured: Sequence[Measured]) -> list[Row]:
    paper = [m for m in measured if m.unit.panel == PAPER]
    others = [m for m in measured if m.unit.panel != PAPER]
    return tidy("amt", paper, ("error", "seconds")) + tidy("amt", others, ("error", "seconds"), paper=False)


EXPERIMENT = Experiment(
    name="amt",
    title="Mechanical Turk: five crowds of people",
    trials=1,
    datasets=SETS,
    plan=_plan,
    table=_table,
    grids=(
        GridLayout("Error in percent, the paper's protocol", PAPER, "error", 2),
        GridLayout("Processor seconds, the paper's protocol", PAPER, "seconds", 3),
        GridLayout(
            "Error in percent, all annotators, the same settings",
            EVERYBODY,
            "error",
            2,
            "The paper keeps 30 of 39 annotators on bluebird and 52 of 109 on dog; the other columns are as above.",
        ),
        GridLayout(
            "Error in percent, all annotators, covote's defaults run to convergence",
            DEFAULT,
            "error",
            2,
            "With the 90 % interval of each error.",
        ),
        GridLayout("Processor seconds, all annotators, covote's defaults", DEFAULT, "seconds", 3),
    ),
    same=(
        "The five sets, the annotators kept (30 on bluebird, the 52 with at least 45 labels on dog, all on the "
        "others), errors over the items with truth, a tie counted as the fraction of tied classes that is right, "
        "vertices from co-occurrence blocks of full rank only. Our three methods run as they are called by their "
        "names, without any option; mv-ds runs ten rounds without a class prior, as in the paper."
    ),
    other=(
        "Where the defaults differ from the letter of the algorithms, and what each difference is worth, is in "
        "paper-methods.md. Labels use the estimated class prior; the paper's threshold is 1e-6 (1e-5 on trec), ours "
        "1e-6 everywhere. Times are of different machines and languages, and ours are those of one thread."
    ),
)
