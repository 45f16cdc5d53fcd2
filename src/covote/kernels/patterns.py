"""Items with the same answers: answers in, the number of each item's pattern out."""

from __future__ import annotations

from numba import njit

_MASK = 2**31 - 1
_FACTOR = 0x5BD1E995


@njit(cache=True, nogil=True)
def pattern_hash(offsets, answer, n, start):
    """A number below 2^31 that depends on the answers of item n and on `start`."""
    h = int(start)
    for a in range(offsets[n], offsets[n + 1]):
        h = (h * _FACTOR + int(answer[a])) & _MASK
    h = ((h ^ (h >> 15)) * _FACTOR) & _MASK
    return h ^ (h >> 13)


@njit(cache=True, nogil=True)
def same_answers(offsets, answer, n, m):
    """Whether items n and m have the same answers."""
    size = offsets[n + 1] - offsets[n]
    if offsets[m + 1] - offsets[m] != size:
        return False
    for i in range(size):  # noqa: SIM110  Numba compiles loops, not generators
        if answer[offsets[n] + i] != answer[offsets[m] + i]:
            return False
    return True


@njit(cache=True, nogil=True)
def number_patterns(offsets, answer, gold, items, slots, first, index):  # slots, first, index  # OUT
    """Number the patterns of `items` (begin, end, stride) by first appearance; -1 when `first` cannot hold them.

    `slots` is an open hash table, all -1, of a size that is a power of 2; `first` receives the first item of each
    pattern, `index` (items visited,) the pattern of each item. Items of different gold differ. Returns their number.
    """
    found = 0
    place = len(slots) - 1
    for i in range(len(index)):
        n = items[0] + i * items[2]
        known = gold[n] if len(gold) else -1
        slot = pattern_hash(offsets, answer, n, 7 + known) & place
        while True:
            pattern = slots[slot]
            if pattern < 0:
                if found == len(first):
                    return -1
                slots[slot] = found
                first[found] = n
                index[i] = found
                found += 1
                break
            m = first[pattern]
            if same_answers(offsets, answer, n, m) and (len(gold) == 0 or gold[m] == known):
                index[i] = pattern
                break
            slot = (slot + 1) & place
    return found
