"""BWA, Bayesian weighted average: answers in; averages of "is it class k?" weighted by precision out.

Y. Li, B. Rubinstein, T. Cohn, "Truth inference at scale: a Bayesian model for adjudicating highly redundant
crowd annotations", WWW 2019.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from covote.engines.base import Engine
from covote.methods.majority_vote import majority_vote
from covote.model import Fit, Scores, Status, normalised

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def bwa(engine: Engine, *, precision: float = 15.0, pull: float = 1.0, max_iter: int = 500, tol: float = 1e-3) -> Fit:
    """For each class k on its own: z_i = (pull * mean z + sum_j v_j y_ij) / (pull + sum_j v_j), y_ij = 1 for k, else 0.

    The precision of annotator j is v_j = (a + answers) / (b + sum of (y_ij - z_i)^2), with a = `precision` and b so
    that the prior variance is that of the votes, times 4 (1 - 1/K). Repeated until no z moves by more than `tol` of
    its size. Scores of the classes, divided by their sum, are the probabilities.
    """
    engine = engine.in_memory()
    a = engine.annotations
    K = a.n_classes
    if K < 2 or a.n_labels == 0:
        return majority_vote(engine)
    weight = np.ones(a.n_items) if engine.weight is None else np.asarray(engine.weight, np.float64)
    z, v, mean = np.empty((a.n_items, K)), np.empty((a.n_annotators, K)), np.empty(K)
    most = 0
    for k in range(K):
        known = np.full(a.n_items, np.nan)
        if engine.gold is not None:
            known[engine.gold >= 0] = engine.gold[engine.gold >= 0] == k
        one = (a.label == k).astype(np.float64)
        correction = 4 * (1 - 1 / K)
        z[:, k], v[:, k], mean[k], used = _one_class(
            a.item, a.annotator, one, weight, known, (precision, pull, correction), max_iter, tol
        )
        most = max(most, used)
    total = z.sum(axis=1, keepdims=True)
    posterior = np.where(total > 0, z / np.where(total > 0, total, 1.0), normalised(mean))
    scores = Scores(v[:, None, :] * np.eye(K), pull * mean, "linear")
    status = Status.CONVERGED if most < max_iter else Status.LIMIT
    return Fit(scores, None, status, details={"skill": v.mean(axis=1), "precision": v}, posterior=posterior)


def _one_class(
    item: Ints,
    annotator: Ints,
    one: Floats,
    weight: Floats,
    known: Floats,
    settings: tuple[float, float, float],
    max_iter: int,
    tol: float,
) -> tuple[Floats, Floats, float, int]:
    """Averages of items, precisions of annotators, the mean and the rounds used, for one class against the rest."""
    precision, pull, correction = settings
    N, M, count = len(weight), int(annotator.max()) + 1, weight[item]
    size = np.bincount(item, minlength=N)
    z = np.where(size > 0, np.bincount(item, one, minlength=N) / np.maximum(size, 1), one.mean())
    z = np.where(np.isnan(known), z, known)
    answers = np.bincount(annotator, count, minlength=M)
    b = precision * float((weight * size) @ (z * (1 - z))) / max(float(count.sum()), 1e-300) * correction
    used = 0
    while used < max_iter:
        used += 1
        mean = float((weight @ z) / max(weight.sum(), 1e-300))
        misfit = np.bincount(annotator, count * (z[item] - one) ** 2, minlength=M)
        v = (precision + answers) / np.maximum(b + misfit, 1e-9)
        own = v[annotator]
        new = (pull * mean + np.bincount(item, own * one, minlength=N)) / (pull + np.bincount(item, own, minlength=N))
        new = np.where(np.isnan(known), new, known)
        still = np.allclose(z, new, rtol=tol)
        z = new
        if still:
            break
    return z, v, mean, used
