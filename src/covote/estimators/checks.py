"""The options of an estimator in; one sentence about the first that makes no sense out."""

from __future__ import annotations

from dataclasses import fields
from math import isfinite
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from covote.errors import InputError

_LEAST: dict[str, float] = {
    "threads": 1,
    "max_iter": 0,
    "KOS.max_iter": 1,  # labels come from messages, and there are none before the first round
    "groupings": 0,
    "triples": 0,
    "starts": 0,
    "seed": 0,
    "tol": 0,
    "smoothing": 0,
    "diagonal": 0,
    "floor": 0,
    "right": 0,
    "wrong": 0,
    "precision": 0,
    "pull": 0,
    "subtypes": 1,
    "halve_every": 1,
}
"""Smallest value of an option, by its name or by class and name."""


def check_options(estimator: Any) -> None:
    """Raise for an option of the wrong type or out of range; types are those of the estimator's annotations.

    >>> from covote import DawidSkene
    >>> check_options(DawidSkene(tol=1e-3, init="majority"))
    >>> check_options(DawidSkene(max_iter=2.5))
    Traceback (most recent call last):
    covote.errors.InputError: Option max_iter of DawidSkene is 2.5, expected a whole number from 0 on.
    """
    kind = type(estimator)
    types = _types(kind)
    for name in (f.name for f in fields(kind) if f.init and f.name in types):
        value, allowed = getattr(estimator, name), _alternatives(types[name])
        least = _LEAST.get(f"{kind.__name__}.{name}", _LEAST.get(name))
        if not any(_fits(value, one, least) for one in allowed):
            expected = _either([words for one in allowed for words in _words(one, least)])
            msg = f"Option {name} of {kind.__name__} is {_shown(value)}, expected {expected}."
            raise InputError(msg)


def _types(kind: type) -> dict[str, Any]:
    try:
        return get_type_hints(kind)
    except NameError:  # a user's own estimator may name types that exist for its type checker alone
        return {}


def _alternatives(annotated: Any) -> tuple[Any, ...]:
    """`int | None` is two types, everything else one."""
    return get_args(annotated) if get_origin(annotated) in (Union, UnionType) else (annotated,)


def _fits(value: Any, kind: Any, least: float | None) -> bool:
    if kind is Any:
        return True
    if get_origin(kind) is Literal:
        return isinstance(value, str) and value in get_args(kind)
    if kind is bool:
        return isinstance(value, (bool, np.bool_)) or (isinstance(value, Integral) and value in (0, 1))
    if kind in (int, float):
        right = isinstance(value, Integral if kind is int else Real) and not isinstance(value, bool)
        return right and isfinite(value) and (least is None or value >= least)
    return not isinstance(kind, type) or isinstance(value, kind)  # what is no class cannot be checked


def _words(kind: Any, least: float | None) -> list[str]:
    if get_origin(kind) is Literal:
        return [repr(choice) for choice in get_args(kind)]
    if kind in (int, float):
        number = "a whole number" if kind is int else "a finite number"
        return [number if least is None else f"{number} from {least:g} on"]
    return ["True", "False"] if kind is bool else ["None"] if kind is NoneType else [f"a {kind.__name__}"]


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _shown(value: Any) -> str:
    """Numbers and text as they are, anything else by its type: arrays and models are no part of a sentence."""
    plain = isinstance(value, (str, Real, NoneType)) and len(text := repr(value)) <= 60
    return text if plain else f"of type {type(value).__name__}"
