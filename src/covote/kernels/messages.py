"""Message passing between items and annotators: signed answers in, converged messages out."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def message_rounds(offsets, annotator, signed, weight, known, scale, tol, message, change):  # message, change  # OUT
    """Rounds of x_{i->j} = sum over j' != j of A_ij' y_{j'->i}, then y_{j->i} = scale_j sum over i' != i of A_i'j x.

    `signed` (answers,) holds A, `message` (answers,) the start of y and then its end, `change` (limit,) the
    sine-like distance between successive messages. `known[n]` is +1 or -1 where the class of item n is certain, and
    0 elsewhere; `weight` counts items several times. Messages keep mean square 1. Returns the rounds used; where no
    item connects two annotators there is nothing to pass, and `message` stays as it was.
    """
    E = len(signed)
    x = np.empty(E)
    new = np.empty(E)
    total = np.empty(len(scale))
    for r in range(len(change)):
        if not items_to_annotators(offsets, signed, known, message, x):
            return r
        total[:] = 0.0
        for n in range(len(offsets) - 1):
            w = weight[n] if len(weight) else 1.0
            for a in range(offsets[n], offsets[n + 1]):
                total[annotator[a]] += w * signed[a] * x[a]
        for n in range(len(offsets) - 1):
            own = min(weight[n], 1.0) if len(weight) else 1.0  # of an item counted w times, w - 1 others stay
            for a in range(offsets[n], offsets[n + 1]):
                new[a] = (total[annotator[a]] - own * signed[a] * x[a]) * scale[annotator[a]]
        size = np.sqrt((new * new).mean())
        if size <= 0.0:
            return r
        along = 0.0
        before = 0.0
        for a in range(E):
            new[a] /= size
            along += new[a] * message[a]
            before += message[a] * message[a]
        # the sign of a message may alternate from round to round: the line it spans is what converges
        cosine = abs(along) / np.sqrt(max(before * E, 1e-300))
        change[r] = max(1.0 - cosine, 0.0)
        for a in range(E):
            message[a] = new[a]
        if change[r] < tol:
            return r + 1
    return len(change)


@njit(cache=True, nogil=True)
def items_to_annotators(offsets, signed, known, message, x):  # x: (answers,)  # OUT
    """Messages from items, scaled to mean square 1; false where all are zero."""
    size = 0.0
    for n in range(len(offsets) - 1):
        heard = 0.0
        for a in range(offsets[n], offsets[n + 1]):
            heard += signed[a] * message[a]
        for a in range(offsets[n], offsets[n + 1]):
            x[a] = heard - signed[a] * message[a]
            size += x[a] * x[a]
    if size <= 0.0:
        return False
    size = np.sqrt(size / len(x))
    for n in range(len(offsets) - 1):
        for a in range(offsets[n], offsets[n + 1]):
            x[a] = known[n] if len(known) and known[n] != 0.0 else x[a] / size
    return True
