"""Names for classes found in an unknown order: soft counts in, the order of columns out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from covote.methods.align import class_names
from covote.methods.shrinkage import Shrinkage
from covote.model import columns

Floats = NDArray[np.float64]


def name_order(soft: Floats) -> NDArray[np.intp]:
    """The order that names the classes by the annotators who know them; apply as `soft[:, :, order]`.

    `soft` (annotators, labels, classes) are expected counts. They are first joined by (K - 1)^2 uninformative
    pseudo-answers: an annotator of two answers has a near-singular matrix then, and no say in what things are called.

    >>> name_order(np.array([[[1.0, 9.0], [9.0, 1.0]]])).tolist()
    [1, 0]
    """
    K = soft.shape[1]
    pseudo = Shrinkage(own=float(max((K - 1) ** 2, 1))).counts(soft.sum(axis=2))
    return class_names(columns(soft + pseudo), np.sqrt(soft.sum(axis=(1, 2))))
