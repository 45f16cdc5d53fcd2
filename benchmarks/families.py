"""Which crowds share annotators or items: names of data sets in, names of their families out."""

from __future__ import annotations

PREFIXES = {
    "wrench": "lf",
    "ws": "lf",
    "mediaeval": "mediaeval",
    "llmbar": "llmbar",
    "zc": "zc",
    "css": "css",
    "api": "api",
    "img16": "img16",
    "prelec": "prelec",
    "drift": "drift",
    "sast": "sast",
}
"""Family of the sets whose names begin so; every other set is a family of its own."""

RULES = "lf"
"""The family of labelling functions, which is judged apart."""


def family(name):
    """
    >>> family("wrench_trec"), family("api_yelp"), family("llm_feedback")
    ('lf', 'api', 'llm_feedback')
    """
    return PREFIXES.get(name.split("_", maxsplit=1)[0], name)


def by_family(names):
    """Names of the sets of every family."""
    found = {}
    for name in names:
        found.setdefault(family(name), []).append(name)
    return found
