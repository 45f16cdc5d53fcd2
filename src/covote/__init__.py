"""covote: labels one can trust from many imperfect annotators.

>>> import covote
>>> votes = [("x", "ann", "cat"), ("x", "bob", "cat"), ("y", "ann", "dog"), ("y", "bob", "dog")]
>>> covote.aggregate(votes).labels_
{'x': 'cat', 'y': 'dog'}
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PLACES = {
    "aggregate": "covote.estimators.registry",
    "METHODS": "covote.estimators.registry",
    "compare": "covote.estimators.compare",
    "Auto": "covote.estimators.auto",
    "MajorityVote": "covote.estimators.dawid_skene",
    "MultiSPA": "covote.estimators.dawid_skene",
    "MultiSPAKL": "covote.estimators.dawid_skene",
    "DawidSkene": "covote.estimators.dawid_skene",
    "SpectralDS": "covote.estimators.baselines",
    "TensorADMM": "covote.estimators.baselines",
    "KOS": "covote.estimators.baselines",
    "EigenRatio": "covote.estimators.baselines",
    "GhoshSVD": "covote.estimators.baselines",
    "MinmaxEntropy": "covote.estimators.baselines",
    "agreement": "covote.verbs.agreement",
    "rate": "covote.verbs.rate",
    "WeightedVote": "covote.estimators.field_votes",
    "GoldMajorityVote": "covote.estimators.field_votes",
    "Wawa": "covote.estimators.field_votes",
    "ZeroBasedSkill": "covote.estimators.field_votes",
    "IterativeWeightedVote": "covote.estimators.field_votes",
    "MMSR": "covote.estimators.field_votes",
    "OneCoinDawidSkene": "covote.estimators.field_models",
    "GLAD": "covote.estimators.field_models",
    "MACE": "covote.estimators.field_models",
    "BWA": "covote.estimators.field_models",
    "IBCC": "covote.estimators.field_models",
    "EBCC": "covote.estimators.field_models",
    "diagnose": "covote.estimators.diagnosed",
    "label_quality": "covote.estimators.quality",
    "plan": "covote.estimators.planned",
    "count_pairs": "covote.estimators.streams",
    "load_dataset": "covote.datasets",
    "Annotations": "covote.annotations",
    "load": "covote.annotations",
    "load_truth": "covote.annotations",
    "read": "covote.annotations.looked",
    "Model": "covote.model",
    "PairCounts": "covote.counts",
    "load_model": "covote.model_file",
    "save_model": "covote.model_file",
}

__all__ = ["__version__", *_PLACES]

if TYPE_CHECKING:
    from covote.annotations import Annotations, load, load_truth
    from covote.annotations.looked import read
    from covote.counts import PairCounts
    from covote.datasets import load_dataset
    from covote.estimators.auto import Auto
    from covote.estimators.baselines import KOS, EigenRatio, GhoshSVD, MinmaxEntropy, SpectralDS, TensorADMM
    from covote.estimators.compare import compare
    from covote.estimators.dawid_skene import DawidSkene, MajorityVote, MultiSPA, MultiSPAKL
    from covote.estimators.diagnosed import diagnose
    from covote.estimators.field_models import BWA, EBCC, GLAD, IBCC, MACE, OneCoinDawidSkene
    from covote.estimators.field_votes import (
        MMSR,
        GoldMajorityVote,
        IterativeWeightedVote,
        Wawa,
        WeightedVote,
        ZeroBasedSkill,
    )
    from covote.estimators.planned import plan
    from covote.estimators.quality import label_quality
    from covote.estimators.registry import METHODS, aggregate
    from covote.estimators.streams import count_pairs
    from covote.model import Model
    from covote.model_file import load_model, save_model
    from covote.verbs.agreement import agreement
    from covote.verbs.rate import rate


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        msg = f"module 'covote' has no attribute '{name}'"
        raise AttributeError(msg)
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
