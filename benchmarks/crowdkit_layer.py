"""`python -m benchmarks.crowdkit_layer`: crowd-kit and `covote.crowdkit` with one import changed, on the same frames.

Dawid-Skene on a million answers, GLAD and MACE on trec: seconds of each, how many labels differ. Needs crowd-kit.
"""

from __future__ import annotations

import importlib
import time
import warnings

import pandas as pd

from benchmarks.crowds import Crowd
from covote.datasets import dataset_path


def timed(package, name, frame):
    """Seconds of one fit from frame to labels, and the labels."""
    made = getattr(importlib.import_module(f"{package}.aggregation"), name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if package != "crowdkit":
            made().fit_predict(frame.head(20_000))  # compile
        begin = time.perf_counter()
        labels = made().fit_predict(frame)
        return time.perf_counter() - begin, labels.sort_index()


def frames():
    path = dataset_path("trec") / "crowd.txt"
    trec = pd.read_csv(path, sep=r"\s+", header=None, names=["task", "worker", "label"])
    trec = pd.DataFrame({column: pd.factorize(trec[column])[0] for column in trec})
    return {"DawidSkene": Crowd(200_000).frame()[0], "GLAD": trec, "MACE": trec}


def main():
    print("| method | answers | crowd-kit s | covote.crowdkit s | times faster | labels that differ |")
    print("|---|---|---|---|---|---|")
    for name, frame in frames().items():
        theirs, expected = timed("crowdkit", name, frame)
        ours, found = timed("covote.crowdkit", name, frame)
        differ = int((expected != found).sum())
        print(
            f"| {name} | {len(frame):,} | {theirs:.2f} | {ours:.3f} | {theirs / ours:.0f} | {differ} of {len(found)} |"
        )


if __name__ == "__main__":
    main()
