"""METHODS: the names users type -> estimators ready to fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from covote.errors import InputError
from covote.estimators.base import Aggregator
from covote.estimators.checks import check_options
from covote.estimators.dawid_skene import DawidSkene, MajorityVote, MultiSPA, MultiSPAKL

Maker = Callable[..., Aggregator]


def _later(module: str, name: str) -> Maker:
    """An estimator class whose module is imported when it is first made."""

    def made(**options: Any) -> Aggregator:
        estimator: Aggregator = getattr(import_module(f"covote.estimators.{module}"), name)(**options)
        return estimator

    return made


_MAKERS: dict[str, Maker] = {
    "auto": _later("auto", "Auto"),
    "majority-vote": MajorityVote,
    "multispa": MultiSPA,
    "multispa-kl": MultiSPAKL,
    "multispa-ds": lambda **options: DawidSkene(**{"init": "multispa", **options}),
    "mv-ds": lambda **options: DawidSkene(**{"init": "majority", "smoothing": 1.0, **options}),
    "spectral-ds": _later("baselines", "SpectralDS"),
    "tensor-admm": _later("baselines", "TensorADMM"),
    "kos": _later("baselines", "KOS"),
    "eigen-ratio": _later("baselines", "EigenRatio"),
    "ghosh-svd": _later("baselines", "GhoshSVD"),
    "minmax-entropy": _later("baselines", "MinmaxEntropy"),
    "weighted-vote": _later("field_votes", "WeightedVote"),
    "gold-majority-vote": _later("field_votes", "GoldMajorityVote"),
    "wawa": _later("field_votes", "Wawa"),
    "zero-based-skill": _later("field_votes", "ZeroBasedSkill"),
    "iwmv": _later("field_votes", "IterativeWeightedVote"),
    "mmsr": _later("field_votes", "MMSR"),
    "one-coin-ds": _later("field_models", "OneCoinDawidSkene"),
    "glad": _later("field_models", "GLAD"),
    "mace": _later("field_models", "MACE"),
    "bwa": _later("field_models", "BWA"),
    "ibcc": _later("field_models", "IBCC"),
    "ebcc": _later("field_models", "EBCC"),
}

DEFAULT = "auto"


class _Methods(Mapping[str, Aggregator]):
    """Names to fresh estimators with their default options."""

    def __getitem__(self, name: str) -> Aggregator:
        return make(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_MAKERS)

    def __len__(self) -> int:
        return len(_MAKERS)


METHODS: Mapping[str, Aggregator] = _Methods()


def make(name: str, **options: Any) -> Aggregator:
    """A new estimator by the name of its method; options that it does not have or that make no sense are an error.

    >>> make("multispa-ds", tol=1e-6).tol
    1e-06
    """
    if name not in _MAKERS:
        likely = get_close_matches(name, _MAKERS, 1)
        hint = f" Did you mean '{likely[0]}'?" if likely else ""
        msg = f"There is no method '{name}'.{hint} Methods are: {', '.join(_MAKERS)}."
        raise InputError(msg)
    known = _MAKERS[name]().get_params()
    if unknown := [option for option in options if option not in known]:
        msg = f"Method '{name}' does not take these options: {', '.join(unknown)}. Its options are: {', '.join(known)}."
        raise InputError(msg)
    estimator = _MAKERS[name](**options)
    check_options(estimator)
    estimator.method_name = name
    return estimator


def aggregate(
    table: Any,
    method: str = DEFAULT,
    *,
    options: Mapping[str, Any] | None = None,
    groups: Any = None,
    **fitting: Any,
) -> Any:
    """Fit the method on the table and return the fitted estimator.

    `options` are those of the method; `groups` lets annotators share one vote (an option of the default). All other
    keyword arguments are those of `fit`.

    >>> fit = aggregate([("x", "ann", "cat"), ("x", "bob", "cat"), ("y", "ann", "dog"), ("y", "bob", "dog")])
    >>> fit.labels_
    {'x': 'cat', 'y': 'dog'}
    """
    given = {} if groups is None else {"groups": groups}
    return make(method, **given, **(options or {})).fit(table, **fitting)
