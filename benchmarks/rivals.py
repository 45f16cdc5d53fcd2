"""Ours beside crowd-kit's Dawid-Skene on the same data: an EM pass, a whole fit, and the trec data set."""

from __future__ import annotations

import importlib.util
import warnings

import numpy as np

from benchmarks.crowds import Crowd, annotations
from benchmarks.measure import alternately, in_child, peak, resident, seconds

MILLION = Crowd(200_000)  # one million labels, 1000 annotators, 4 classes
PASSES = 5


def has_crowdkit():
    return importlib.util.find_spec("crowdkit") is not None


def em_pass():
    """Seconds of one EM pass over a million labels, ours with two threads and crowd-kit's."""
    from crowdkit.aggregation import DawidSkene as Rival

    from covote.engines.memory import MemoryEngine
    from covote.methods.dawid_skene import majority_start

    encoded, _ = annotations(MILLION)
    engine = MemoryEngine(encoded, threads=2)
    scores = majority_start(engine).scores()
    frame, _ = MILLION.frame()
    engine.expected_counts(scores)

    def ours():
        for _ in range(PASSES):
            engine.expected_counts(scores)

    def rival(iterations):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Rival(n_iter=iterations, tol=0).fit(frame)

    best = alternately({"ours": ours, "few": lambda: rival(1), "many": lambda: rival(1 + PASSES)}, times=4)
    return {"ours": best["ours"] / PASSES, "crowd-kit": (best["many"] - best["few"]) / PASSES}


def whole_fit():
    """Both from table to labels on a million labels; memory in processes of their own, accuracy beside."""
    parts = {name: in_child(f"benchmarks.rivals:fit_{name}") for name in ("ours", "rival")}
    times = alternately({name: globals()[f"timed_{name}"]() for name in ("ours", "rival")}, times=3)
    for name, part in parts.items():
        part["seconds"] = times[name]
    return parts


def timed_ours():
    frame, _ = MILLION.frame()
    _our_estimator().fit_predict(frame.head(1000))  # compile
    return lambda: _our_estimator().fit_predict(frame)


def timed_rival():
    from crowdkit.aggregation import DawidSkene as Rival

    frame, _ = MILLION.frame()

    def run():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Rival().fit_predict(frame)

    return run


def _our_estimator():
    """Plain maximum likelihood from majority vote, as crowd-kit does it."""
    from covote import DawidSkene

    return DawidSkene(init="majority", smoothing=0.0, diagonal=0.0, tol=2e-5, threads=2)


def fit_ours():
    frame, truth = MILLION.frame()
    _our_estimator().fit_predict(frame.head(1000))  # compile
    before = resident()
    fitted = _our_estimator()
    labels = fitted.fit_predict(frame)
    after = peak()
    right = labels.set_index("task")["label"].reindex(np.arange(MILLION.items)).to_numpy() == truth
    return {
        "memory": after - before,
        "accuracy": float(right.mean()),
        "log_likelihood": fitted.fit_.details["log_likelihood"],
        "iterations": fitted.fit_.n_iter,
    }


def fit_rival():
    from crowdkit.aggregation import DawidSkene as Rival

    frame, truth = MILLION.frame()
    before = resident()
    rival = Rival()
    labels = rival.fit_predict(frame)
    after = peak()
    right = labels.reindex(np.arange(MILLION.items)).to_numpy() == truth
    return {
        "memory": after - before,
        "accuracy": float(right.mean()),
        "log_likelihood": likelihood_of(rival),
        "iterations": len(rival.loss_history_),
    }


def likelihood_of(rival):
    """The exact log-likelihood of crowd-kit's model, by our engine."""
    import pandas as pd

    from covote.engines.memory import MemoryEngine
    from covote.model import Model, columns

    encoded, _ = annotations(MILLION)
    people, classes = np.arange(MILLION.annotators), np.arange(MILLION.classes)
    pairs = pd.MultiIndex.from_product([classes, classes])  # (class, label)
    rows = rival.errors_.unstack("label").reindex(index=people, columns=pairs).fillna(0.0)
    by_class = rows.to_numpy().reshape(len(people), len(classes), len(classes))  # (worker, class, label)
    prior = rival.priors_.reindex(classes).to_numpy()
    names = tuple(classes.tolist()), tuple(people.tolist())
    model = Model(prior / prior.sum(), columns(by_class.transpose(0, 2, 1)), *names)
    return MemoryEngine(encoded).expected_counts(model.scores()).log_likelihood


def trec():
    """Table in to labels out on trec: multispa against crowd-kit's Dawid-Skene and, where installed, cleanlab."""
    import pandas as pd
    from crowdkit.aggregation import DawidSkene as Rival

    from covote import MultiSPA, load_dataset

    data = load_dataset("trec")
    a = data.annotations.annotations
    frame = pd.DataFrame({"task": a.item, "worker": a.annotator, "label": a.label})
    MultiSPA().fit_predict(frame)  # compile

    def ours():
        return MultiSPA().fit_predict(frame).set_index("task")["label"]

    def rival():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Rival().fit_predict(frame)

    works = {"ours": ours, "crowd-kit": rival}
    found = alternately(works, times=3)
    labels = {name: work().reindex(np.arange(a.n_items)).to_numpy() for name, work in works.items()}
    if importlib.util.find_spec("cleanlab") is not None:
        found["cleanlab"], labels["cleanlab"] = seconds(lambda: cleanlab_labels(a), 1)
    truth = data.truth_codes
    errors = {name: float((label != truth)[truth >= 0].mean()) for name, label in labels.items()}
    return {**found, "labels": len(frame), "matlab": 50.68, "errors": errors}


def cleanlab_labels(a):
    """Consensus labels of cleanlab's CROWDLAB; without a classifier, shares of votes stand for its probabilities."""
    import pandas as pd
    from cleanlab.multiannotator import get_label_quality_multiannotator

    table = np.full((a.n_items, a.n_annotators), np.nan)
    table[a.item, a.annotator] = a.label
    votes = np.bincount(a.item * a.n_classes + a.label, minlength=a.n_items * a.n_classes)
    shares = votes.reshape(a.n_items, a.n_classes) + 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = get_label_quality_multiannotator(
            pd.DataFrame(table), shares / shares.sum(axis=1, keepdims=True), verbose=False
        )
    return found["label_quality"]["consensus_label"].to_numpy()


def pair_counts_of_many_annotators():
    """A hundred thousand annotators with ten answers each: seconds and memory of counting and of MultiSPA."""
    return in_child("benchmarks.rivals:many_annotators")


def many_annotators():
    from covote.engines.memory import MemoryEngine
    from covote.methods.multispa import multispa

    encoded, _ = annotations(Crowd(200_000, annotators=100_000))
    engine = MemoryEngine(encoded)
    MemoryEngine(annotations(Crowd(1000, annotators=5000))[0]).pair_counts(8)  # compile
    before = resident()
    all_pairs, counts = seconds(engine.pair_counts, 1)
    limited, few = seconds(lambda: engine.pair_counts(8), 1)
    fitting, _ = seconds(lambda: multispa(few), 1)
    return {
        "all": all_pairs,
        "pairs": counts.n_pairs,
        "limited": limited,
        "limited_pairs": few.n_pairs,
        "multispa": fitting,
        "memory": peak() - before,
    }
