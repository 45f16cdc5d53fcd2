"""What of crowd-kit is not here: names in, one sentence that says where to find them out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def sentence(what: str, place: str) -> str:
    """The sentence to show.

    >>> sentence("ROVER", "crowdkit.aggregation.texts")
    'covote.crowdkit does not provide ROVER. Install crowd-kit and import it from crowdkit.aggregation.texts.'
    """
    return f"covote.crowdkit does not provide {what}. Install crowd-kit and import it from {place}."


def absent_module(place: str) -> Callable[[str], Any]:
    """A module's `__getattr__` that refuses every name."""

    def refuse(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ImportError(sentence(name, place))

    return refuse


def absent_class(name: str, place: str) -> type:
    """A class by this name whose construction says that it is not here, so that lists of imports keep working."""

    def refuse(self: Any, *_: Any, **__: Any) -> None:
        del self
        raise NotImplementedError(sentence(name, place))

    return type(name, (), {"__init__": refuse, "__doc__": sentence(name, place)})
