"""crowd-kit's aggregators of categorical answers; the names of others are here to say that they are not provided."""

from __future__ import annotations

from typing import Any

from covote.crowdkit.absent import absent_class
from covote.crowdkit.aggregation.classification import (
    GLAD,
    KOS,
    MACE,
    MMSR,
    DawidSkene,
    GoldMajorityVote,
    MajorityVote,
    OneCoinDawidSkene,
    Wawa,
    ZeroBasedSkill,
)
from covote.crowdkit.aggregation.multilabel import BinaryRelevance

__all__ = [
    "GLAD",
    "KOS",
    "MACE",
    "MMSR",
    "BinaryRelevance",
    "DawidSkene",
    "GoldMajorityVote",
    "MajorityVote",
    "OneCoinDawidSkene",
    "Wawa",
    "ZeroBasedSkill",
]

_ABSENT = {
    "pairwise": ("BradleyTerry", "NoisyBradleyTerry"),
    "texts": ("ROVER", "TextRASA", "TextHRRASA", "TextSummarization"),
    "embeddings": ("RASA", "HRRASA", "ClosestToAverage"),
    "image_segmentation": ("SegmentationEM", "SegmentationMajorityVote", "SegmentationRASA"),
}


def __getattr__(name: str) -> Any:
    for place, names in _ABSENT.items():
        if name in names:
            return absent_class(name, f"crowdkit.aggregation.{place}")
    msg = f"module 'covote.crowdkit.aggregation' has no attribute '{name}'"
    raise AttributeError(msg)
