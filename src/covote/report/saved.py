"""A saved model and a table in, an estimator out that labels the table by the model and learns nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from covote.annotations import load
from covote.engines.base import Engine
from covote.estimators.base import Aggregator
from covote.estimators.tables import match_whole_table
from covote.model import Fit, Model, Progress


@dataclass(kw_only=True, eq=False)
class SavedModel(Aggregator):
    """Labels by a model fitted before; the table must be in the model's codes, see `relabelled`."""

    model: Model
    """The model to label by."""

    def _run(self, engine: Engine, progress: Progress | None) -> Fit:
        del engine, progress
        return Fit(self.model.labels_with(), self.model)


def relabelled(model: Model, table: Any, **reading: Any) -> SavedModel:
    """The table labelled by the model; annotators and labels that the model does not know are named and ignored.

    >>> import numpy as np
    >>> model = Model(np.array([0.5, 0.5]), np.array([[[0.9, 0.2], [0.1, 0.8]]]), ("cat", "dog"), ("ann",))
    >>> relabelled(model, [("x", "ann", "dog")]).labels_
    {'x': 'dog'}
    """
    loaded = load(table, **reading)
    matched = match_whole_table(loaded.annotations, model.annotators, model.classes)
    return SavedModel(model=model).fit(replace(loaded, annotations=matched))
