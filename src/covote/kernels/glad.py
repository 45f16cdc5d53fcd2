"""GLAD: answers, abilities and log-eases in; posteriors of items, the expected log-likelihood and its slope out."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def posterior_pass(offsets, answer, gold, ability, ease, log_prior, out):  # out: (items, classes)  # OUT
    """Posterior of every item: an answer is right with chance sigmoid(ability * exp(ease)), else evenly wrong."""
    K = len(log_prior)
    for n in range(len(offsets) - 1):
        scale = np.exp(ease[n])
        for k in range(K):
            out[n, k] = log_prior[k]
        for a in range(offsets[n], offsets[n + 1]):
            row = np.int64(answer[a])
            x = ability[row // K] * scale
            out[n, row % K] += x + np.log(K - 1.0)  # log right - log wrong; what all classes share cancels
        largest = out[n].max()
        total = 0.0
        for k in range(K):
            out[n, k] = np.exp(out[n, k] - largest)
            total += out[n, k]
        for k in range(K):
            out[n, k] /= total
        if len(gold) and gold[n] >= 0:
            out[n] = 0.0
            out[n, gold[n]] = 1.0


@njit(cache=True, nogil=True)
def value_pass(offsets, answer, weight, right, mean, K, x, slope):  # slope: (annotators + items,)  # OUT
    """Expected log-likelihood given Pr(answer is right), minus half the squared distance of x from its prior mean.

    `x` holds abilities, then log-eases.
    """
    M = len(x) - len(offsets) + 1
    value = 0.0
    others = np.log(K - 1.0)
    for i in range(len(x)):
        value -= 0.5 * (x[i] - mean[i]) ** 2
        slope[i] = mean[i] - x[i]
    for n in range(len(offsets) - 1):
        w = weight[n] if len(weight) else 1.0
        scale = np.exp(x[M + n])
        own = 0.0
        for a in range(offsets[n], offsets[n + 1]):
            m = np.int64(answer[a]) // K
            z = x[m] * scale
            p = right[a]
            tail = np.exp(-abs(z))
            # log sigmoid(z) = min(z, 0) - log(1 + exp(-|z|)), log sigmoid(-z) the same minus z
            value += w * (min(z, 0.0) - np.log1p(tail) - (1.0 - p) * (z + others))
            sigmoid = 1.0 / (1.0 + tail) if z >= 0 else tail / (1.0 + tail)
            part = w * (p - sigmoid) * scale
            slope[m] += part
            own += part * x[m]
        slope[M + n] += own
    return value


@njit(cache=True, nogil=True)
def climb(offsets, answer, weight, right, mean, K, steps, tol, x):  # x: (annotators + items,)  # IN and OUT
    """Conjugate gradients (Polak-Ribiere) up the expected log-posterior; returns its value at the new x.

    Ends after `steps` steps, or where no slope is above `tol`.
    """
    slope = np.empty_like(x)
    new_x = np.empty_like(x)
    new_slope = np.empty_like(x)
    value = value_pass(offsets, answer, weight, right, mean, K, x, slope)
    along = slope.copy()
    step = 1.0 / max(np.sqrt((slope * slope).sum()), 1e-300)
    for _ in range(steps):
        if np.abs(slope).max() <= tol:
            break
        rise = (slope * along).sum()
        if rise <= 0.0:  # no way up: begin again from the slope
            along[:] = slope
            rise = (slope * slope).sum()
        low, high = 0.0, np.inf
        low_rise, high_rise = rise, 0.0
        new_value = value
        for _ in range(20):
            for i in range(len(x)):
                new_x[i] = x[i] + step * along[i]
            new_value = value_pass(offsets, answer, weight, right, mean, K, new_x, new_slope)
            new_rise = (new_slope * along).sum()
            if not new_value >= value + 1e-4 * step * rise:
                high, high_rise = step, -np.inf
            elif new_rise < -0.4 * rise:
                high, high_rise = step, new_rise
            elif new_rise > 0.4 * rise:
                low, low_rise = step, new_rise
            else:
                break
            step = next_step(low, high, low_rise, high_rise)
        if not new_value > value:
            break
        beta = max((new_slope * (new_slope - slope)).sum() / (slope * slope).sum(), 0.0)
        gained = new_value - value
        value = new_value
        for i in range(len(x)):
            x[i] = new_x[i]
            slope[i] = new_slope[i]
            along[i] = new_slope[i] + beta * along[i]
        step = min(1.0, 2.02 * gained / max((slope * along).sum(), 1e-300))
    return value


@njit(cache=True, nogil=True)
def next_step(low, high, low_rise, high_rise):
    """A step between the bounds, where the slope along the line should be near 0; four times as far without a bound."""
    if not np.isfinite(high):
        return 4.0 * low
    width = high - low
    if not np.isfinite(high_rise):
        return low + 0.3 * width
    share = low_rise / (low_rise - high_rise)
    return low + width * min(max(share, 0.1), 0.9)
