"""The default estimator: labels by whatever suits the crowd, and an account of the choice."""

from __future__ import annotations

from dataclasses import dataclass

from covote.engines.base import Engine
from covote.estimators.base import Aggregator
from covote.methods.auto import auto
from covote.methods.choice import Choice
from covote.model import Fit, Progress


@dataclass(kw_only=True, eq=False)
class Auto(Aggregator):
    """An average of models from coarse to fine, weighted by how well each predicts answers it was not shown.

    It has no options of its own: the rules are fixed, the same for every crowd, and so is the result. Where no
    model of answers fits (labelling functions, items of one answer), it counts votes and says so.

    `probas_` averages the members' posteriors, each softened item by item. `predict` and `predict_proba` label new
    items by one table of scores: that of the members' averaged model, softened by the one power under which it is as
    sure, on average over the items of the fit, as `probas_` is. Their labels differ on about one item in a hundred.

    >>> fit = Auto().fit([("x", "ann", "cat"), ("x", "bob", "cat"), ("y", "ann", "dog"), ("y", "bob", "cat")])
    >>> fit.labels_["x"], fit.choice_.start
    ('cat', 'votes')
    """

    def _run(self, engine: Engine, progress: Progress | None) -> Fit:
        return auto(engine, progress=progress)

    @property
    def choice_(self) -> Choice:
        """What was chosen and why; `choice_.explain()` tells all of it in sentences."""
        choice: Choice = self._fitted.fit_.details["choice"]
        return choice
