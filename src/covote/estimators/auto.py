"""The default estimator: labels by whatever suits the crowd, and an account of it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from covote.annotations import load_truth
from covote.default.explanation import Explanation
from covote.default.fit_default import fit_default
from covote.engines.base import Engine
from covote.estimators.base import Aggregator
from covote.model import Fit, Progress


@dataclass(kw_only=True, eq=False)
class Auto(Aggregator):
    """A hierarchical Dawid-Skene model, joined with votes as far as held-out answers ask for it.

    Where no model of answers fits (labelling functions, items of one answer), it counts votes and says so.

    >>> fit = Auto().fit([("x", "ann", "cat"), ("x", "bob", "cat"), ("y", "ann", "dog"), ("y", "bob", "cat")])
    >>> fit.labels_["x"], fit.explanation_.start
    ('cat', 'votes')
    """

    groups: Any = None
    """Group of an annotator, such as the vendor of a judge: annotators of one group share one vote. A mapping, or a
    table or file with the columns annotator and group."""

    def _run(self, engine: Engine, progress: Progress | None) -> Fit:
        return fit_default(engine, groups=_read_groups(self.groups), progress=progress)

    @property
    def explanation_(self) -> Explanation:
        """What was found and why; `explanation_.explain()` tells all of it in sentences."""
        explanation: Explanation = self._fitted.fit_.details["explanation"]
        return explanation


def _read_groups(groups: Any) -> Mapping[Hashable, Hashable] | None:
    if groups is None or isinstance(groups, Mapping):
        return groups
    read = load_truth(groups, item="annotator", label="group")
    return dict(zip(read.items, read.labels, strict=True))
