"""crowd-kit's classification aggregators."""

from covote.crowdkit.aggregation.classification.em import DawidSkene, OneCoinDawidSkene
from covote.crowdkit.aggregation.classification.glad_mace import GLAD, MACE
from covote.crowdkit.aggregation.classification.messages_and_factors import KOS, MMSR
from covote.crowdkit.aggregation.classification.votes import GoldMajorityVote, MajorityVote, Wawa, ZeroBasedSkill

__all__ = [
    "GLAD",
    "KOS",
    "MACE",
    "MMSR",
    "DawidSkene",
    "GoldMajorityVote",
    "MajorityVote",
    "OneCoinDawidSkene",
    "Wawa",
    "ZeroBasedSkill",
]
