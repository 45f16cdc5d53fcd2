"""A model's numbers as one flat vector and back, with the way to its nearest legal neighbour, for the loop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covote.model import Model, columns, normalised

Floats = NDArray[np.float64]

_INSIDE = 1e-12
"""Extrapolated states are pulled this far inside the simplex: a zero would stay zero for ever."""


@dataclass(frozen=True)
class Parameters:
    """Layout of (prior, confusion) in one vector."""

    n_annotators: int
    n_classes: int

    @property
    def size(self) -> int:
        """Numbers in the vector."""
        return self.n_classes + self.n_annotators * self.n_classes**2

    def pack(self, prior: Floats, confusion: Floats) -> Floats:
        return np.concatenate([prior, confusion.ravel()])

    def unpack(self, x: Floats) -> tuple[Floats, Floats]:
        K = self.n_classes
        return x[:K], x[K:].reshape(self.n_annotators, K, K)

    def project(self, x: Floats, plain: Floats) -> Floats:
        """Back to probabilities; one thrown to zero could only creep back, so none falls under a tenth of `plain`."""
        prior, confusion = self.unpack(np.maximum(x, 0.1 * plain))
        return self.pack(normalised(np.maximum(prior, _INSIDE)), columns(np.maximum(confusion, _INSIDE)))

    def model(self, x: Floats, like: Model) -> Model:
        prior, confusion = self.unpack(x)
        return Model(normalised(prior), columns(confusion), like.classes, like.annotators)
