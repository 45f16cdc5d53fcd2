"""Experiments in, everything to be shown out: rows, grids, plots, checks, and how it was made."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version

from covote import __version__
from covote.experiments.cache import ResultCache
from covote.experiments.catalogue import EXPERIMENTS
from covote.experiments.checks import Check, all_checks
from covote.experiments.experiment import Experiment
from covote.experiments.grid import Grid, build_grid
from covote.experiments.plots import Plot, plots
from covote.experiments.rows import Row
from covote.experiments.run import Progress

SOURCE = "Ibrahim, Fu, Kargas and Huang, Crowdsourcing via Pairwise Co-occurrences (NeurIPS 2019)"


def _software() -> str:
    found = []
    for package in ("numpy", "scipy", "numba", "scikit-learn"):
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return (
        f"covote {__version__}, Python {platform.python_version()}, {', '.join(found)}, "
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores; every method on one thread."
    )


@dataclass(frozen=True)
class Part:
    """One experiment that was run."""

    experiment: Experiment
    trials: int
    rows: tuple[Row, ...]
    grids: tuple[Grid, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader must know about this run."""
        if self.trials == self.experiment.trials:
            return ()
        return (f"This run had {self.trials} trials, not the usual {self.experiment.trials}.",)


@dataclass(frozen=True)
class Results:
    """All that was run."""

    parts: tuple[Part, ...]
    checks: tuple[Check, ...]
    plots: dict[str, list[Plot]]
    command: str
    version: str = __version__
    source: str = SOURCE
    software: str = field(default_factory=_software)

    @property
    def made(self) -> str:
        """The command line and the versions, in a sentence."""
        return f"Made by: {self.command}. {self.software}"


def reproduce(
    names: Sequence[str],
    *,
    seed: int = 0,
    trials: int | None = None,
    jobs: int = 1,
    cache: ResultCache | None = None,
    progress: Callable[[str], Progress] | None = None,
    command: str = "covote.experiments.results.reproduce",
) -> Results:
    """Run the experiments named and collect what is to be shown; `progress(name)` gives the callback of each."""
    parts = []
    for name in names:
        experiment = EXPERIMENTS[name]
        move = progress(name) if progress is not None else None
        rows = experiment.run(seed=seed, trials=trials, jobs=jobs, cache=cache, progress=move)
        grids = tuple(build_grid(rows, layout) for layout in experiment.grids)
        once = experiment.trials == 1 or trials is None
        parts.append(Part(experiment, experiment.trials if once else trials or 1, tuple(rows), grids))
    tables = {part.experiment.name: part.rows for part in parts}
    return Results(tuple(parts), tuple(all_checks(tables)), plots(tables), command)
