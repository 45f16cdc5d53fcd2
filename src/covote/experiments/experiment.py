"""Experiment: what a table or figure of the paper needs to be run again and shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from covote.experiments.cache import ResultCache
from covote.experiments.rows import Row
from covote.experiments.run import Measured, Progress, Unit, run_units


@dataclass(frozen=True)
class GridLayout:
    """How rows of one panel and metric are laid out: methods down, data sets and levels across."""

    title: str
    panel: str
    metric: str
    digits: int
    about: str = ""  # a sentence or two below the title
    averaged: bool = False  # rows without level (runtimes)
    scale: float = 1.0
    variable: str = "p"  # what the level is called


@dataclass(frozen=True)
class Experiment:
    """A part of the paper: which crowds and methods (`plan`), and which rows they give (`table`)."""

    name: str
    title: str
    trials: int  # by default
    datasets: tuple[str, ...]  # data sets that must be on this computer
    plan: Callable[[int, int], list[Unit]]  # (seed, trials) -> units
    table: Callable[[Sequence[Measured]], list[Row]]
    grids: tuple[GridLayout, ...]
    same: str  # what is as in the paper
    other: str  # what is not, and why

    def run(
        self,
        *,
        seed: int = 0,
        trials: int | None = None,
        jobs: int = 1,
        cache: ResultCache | None = None,
        progress: Progress | None = None,
    ) -> list[Row]:
        """Run it, or what of it is not in the cache, and return the tidy table."""
        units = self.plan(seed, self.trials if trials is None else trials)
        return self.table(run_units(units, jobs=jobs, cache=cache, progress=progress))
