"""Shared pieces of the tests: the data folder, and a last word on what was skipped."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from covote.annotations import load, load_truth

SETS = ("trec", "bluebird", "rte", "web", "dog")
ROOT = Path(__file__).parent.parent


def data_folder() -> Path | None:
    for place in (os.environ.get("COVOTE_DATA"), ROOT.parent / "shared" / "data"):
        if place and Path(place).is_dir():
            return Path(place)
    return None


def pytest_collection_modifyitems(items):
    if data_folder() is None:
        for item in items:
            if "data" in item.keywords:
                item.add_marker(pytest.mark.skip(reason="the data folder is not here (set COVOTE_DATA)"))


def load_amt(name: str, *, protocol: str = "all"):
    """Annotations and class codes of the truth, in the paper's protocol or with all annotators."""
    folder = data_folder() / "amt" / name
    a = load(str(folder / "crowd.txt")).annotations
    truth = load_truth(str(folder / "truth.txt")).codes(a)
    if protocol == "paper":
        answers = np.bincount(a.annotator, minlength=a.n_annotators)
        keep = {
            "bluebird": [m for m in range(a.n_annotators) if int(a.annotators[m]) <= 30],
            "dog": np.flatnonzero(answers >= 45),
        }.get(name, range(a.n_annotators))
        a = a.select(np.asarray(keep))
    return a, truth


@pytest.fixture(scope="session")
def amt():
    cache = {}

    def get(name, protocol="all"):
        if (name, protocol) not in cache:
            cache[name, protocol] = load_amt(name, protocol=protocol)
        return cache[name, protocol]

    return get
