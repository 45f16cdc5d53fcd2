"""M-MSR: agreements of annotators with their partners in, one factor of their rank-one fit out, robust to outliers."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def trimmed_sweep(starts, partner, value, other, trim, least, own):  # own: (annotators,)  # IN and OUT
    """Set own[j] to the mean of value / other[partner] over j's partners, without the outermost.

    Of the ratios above own[j] the `trim` largest are left out, or all where there are fewer, and so below. With a
    negative `trim` only the largest ratio is kept. A single ratio of 0 counts as `least`; where none is left own[j]
    stays.
    """
    for j in range(len(own)):
        begin, end = starts[j], starts[j + 1]
        ratio = np.empty(end - begin)
        known = 0
        for e in range(begin, end):
            if other[partner[e]] != 0.0:  # a partner at chance tells nothing of anybody else
                ratio[known] = value[e] / other[partner[e]]
                known += 1
        ratio = ratio[:known]
        ratio.sort()
        low, high = 0, len(ratio)
        if trim < 0:
            low = max(high - 1, 0)
        else:
            under = 0
            over = 0
            for r in ratio:
                if r < own[j]:
                    under += 1
                if r > own[j]:
                    over += 1
            low = min(under, trim)
            high -= min(over, trim)
        if high - low == 1 and ratio[low] == 0.0:
            own[j] = least
        elif high > low:
            own[j] = ratio[low:high].mean()
