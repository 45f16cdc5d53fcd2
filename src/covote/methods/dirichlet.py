"""Dirichlet posteriors of variational Bayes: counts and a prior in, geometric means and evidence out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

Floats = NDArray[np.float64]


def log_means(posterior: Floats, axis: int = -1) -> Floats:
    """E log p of Dirichlet distributions with these parameters along `axis`.

    >>> log_means(np.array([1.0, 1.0])).round(6).tolist()
    [-1.0, -1.0]
    """
    return np.asarray(digamma(posterior) - digamma(posterior.sum(axis=axis, keepdims=True)))


def gain(counts: Floats, prior: Floats, log_mean: Floats, axis: int = -1) -> float:
    """- KL(q || prior) of q = Dirichlet(counts + prior) along `axis`, summed over all others.

    Added to the log-likelihood of the geometric means exp(log_mean) it is the evidence lower bound.
    """
    posterior = counts + prior
    whole = np.broadcast_to(prior, posterior.shape)
    evidence = gammaln(posterior).sum() - gammaln(posterior.sum(axis=axis)).sum()
    evidence -= gammaln(whole).sum() - gammaln(whole.sum(axis=axis)).sum()
    return float(evidence - (counts * log_mean).sum())
