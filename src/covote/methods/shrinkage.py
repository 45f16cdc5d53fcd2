"""Shrinkage: what is believed of an annotator before its answers are read, as pseudo-answers added to its counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Shrinkage:
    """Pseudo-answers per class column of a confusion matrix.

    `flat` are added to every cell, `diagonal` further ones to the cell where label and class agree, and `own` are
    spread over the column in proportion to the annotator's own label frequencies: towards "uninformative", since
    the same column for every class tells nothing. With `fade`, an annotator who gave that many answers is shrunk half
    as much, and one who gave far more hardly at all.

    >>> Shrinkage(flat=1, diagonal=3).counts(np.array([[5.0, 5.0]]))[0].tolist()
    [[4.0, 1.0], [1.0, 4.0]]
    """

    flat: float = 0.0
    diagonal: float = 0.0
    own: float = 0.0
    fade: float = np.inf

    def counts(self, label_counts: Floats) -> Floats:
        """Pseudo-answers (annotators, labels, classes) for annotators who gave `label_counts` (annotators, labels)."""
        M, K = label_counts.shape
        total = np.maximum(label_counts.sum(axis=1, keepdims=True), 1e-300)
        frequency = (label_counts + _SEEN_ONCE / K) / (total + _SEEN_ONCE)
        pseudo = np.broadcast_to(self.flat + self.diagonal * np.eye(K), (M, K, K))
        strength = 1 / (1 + total / self.fade)
        return np.asarray((pseudo + self.own * frequency[:, :, None]) * strength[:, :, None])


_SEEN_ONCE = 1e-2
"""A trace of the uniform distribution, so that a label never used keeps a probability above zero."""
