"""EXPERIMENTS: every table and figure of the paper by the name to run it under."""

from __future__ import annotations

from covote.experiments import amt, annotators, mse, synthetic, uci
from covote.experiments.experiment import Experiment

EXPERIMENTS: dict[str, Experiment] = {e.name: e for e in (m.EXPERIMENT for m in (amt, uci, mse, synthetic, annotators))}
