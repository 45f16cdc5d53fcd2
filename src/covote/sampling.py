"""Numbers drawn by item: ids of items in, keys that depend on the id alone out, and from keys what the bootstrap draws.

An item gets the same draw wherever it is held and in whatever order items come.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations.native import to_list

Floats = NDArray[np.float64]
Keys = NDArray[np.uint64]


@dataclass(frozen=True)
class Draw:
    """One replicate of the bootstrap."""

    seed: int
    replicate: int


def item_keys(items: Any) -> Keys:
    """A key of 64 bits for every id of a column of any library: of integers by value, of all else by its text.

    >>> bool((item_keys([7, 8]) == item_keys(np.array([7, 8], np.int32))).all()), len(set(item_keys(["a", "b", "ab"])))
    (True, 3)
    """
    kind = getattr(getattr(items, "dtype", None), "kind", "")
    if isinstance(items, range) or (isinstance(items, np.ndarray) and kind in "iu"):
        return _mixed(np.asarray(items).astype(np.uint64))
    values = to_list(items)
    if all(type(value) is int and -(2**63) <= value < 2**64 for value in values):
        return _mixed(np.array([value % 2**64 for value in values], np.uint64))
    texts = [str(value).encode() for value in values]
    return text_keys(np.frombuffer(b"".join(texts), np.uint8), np.cumsum([0, *map(len, texts)]))


def text_keys(data: NDArray[np.uint8], offsets: NDArray[Any]) -> Keys:
    """Keys of texts that stand one after the other in `data`; text n is data[offsets[n]:offsets[n + 1]]."""
    begin, size = offsets[:-1], np.diff(offsets)
    keys = np.full(len(size), 0xCBF29CE484222325, np.uint64)  # the hash is FNV-1a
    live = np.arange(len(size))
    for position in range(int(size.max(initial=0))):
        live = live[size[live] > position]
        keys[live] = (keys[live] ^ data[begin[live] + position]) * np.uint64(0x100000001B3)
    return _mixed(keys)


def uniforms(keys: Keys, draw: Draw, stream: int = 1) -> Floats:
    """Numbers in [0, 1), independent over items, replicates, seeds and streams."""
    start = _mixed(np.array([draw.seed % 2**64], np.uint64))
    for number in (draw.replicate, stream):
        start = _mixed(start ^ np.uint64(number))
    return np.asarray((_mixed(keys ^ start) >> np.uint64(11)) * 2.0**-53)


_POISSON = np.cumsum(np.exp(-1.0) / np.cumprod([1.0, *range(1, 19)]))  # distribution function of Poisson(1)


def poisson_weights(keys: Keys, draw: Draw) -> Floats:
    """How often each item counts in a replicate: Poisson(1).

    >>> weight = poisson_weights(item_keys(range(100_000)), Draw(0, 0))
    >>> bool(abs(weight.mean() - 1) < 0.01 and abs(weight.var() - 1) < 0.02)
    True
    """
    return np.searchsorted(_POISSON, uniforms(keys, draw, 0), side="right").astype(np.float64)


def _mixed(keys: Keys) -> Keys:
    """Every bit of the result depends on every bit of the key (the finaliser of SplitMix64)."""
    keys = keys + np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))
