"""What suits which crowd: scores of methods and the data sets in, the tables of docs/how-to-choose.md out."""

from __future__ import annotations

import numpy as np

from benchmarks.families import RULES, family
from benchmarks.markdown import table
from covote.estimators.registry import make

ORDERED = ("web", "adult2")  # sets whose labels are grades; their names sort from the lowest to the highest
MODELS = ("llm", "judgebench", "css_", "drift_")  # beginnings of the names of sets that language models answered


def answers_per_item(data):
    a = data.annotations.annotations
    return a.n_labels / a.n_items


def largest_share(data):
    """Share of the commonest true class."""
    truth = data.truth_codes[data.truth_codes >= 0]
    return np.bincount(truth).max() / len(truth)


def situations(data):
    """Names of the sets in each situation."""
    several = {n: d for n, d in data.items() if family(n) != RULES}
    classes = {n: d.annotations.annotations.n_classes for n, d in several.items()}
    return {
        "fewer than 5 answers per item": [n for n, d in several.items() if answers_per_item(d) < 5],
        "5 to 10 answers per item": [n for n, d in several.items() if 5 <= answers_per_item(d) <= 10],
        "more than 10 answers per item": [n for n, d in several.items() if answers_per_item(d) > 10],
        "two classes": [n for n in several if classes[n] == 2],
        "more classes": [n for n in several if classes[n] > 2],
        "one class of two has over 70 %": [n for n, d in several.items() if classes[n] == 2 and largest_share(d) > 0.7],
        "language models as judges": [n for n in several if n.startswith(MODELS)],
        "labelling functions": [n for n in data if family(n) == RULES],
    }


def by_situation(results, data):
    methods = list(dict.fromkeys(m for m, _ in results))
    rows = []
    for name, sets in situations(data).items():
        if sets:
            means = [round(np.mean([results[m, s].error for s in sets]), 1) for m in methods]
            rows.append([f"{name} ({len(sets)})", *(f"**{v}**" if v == min(means) else f"{v}" for v in means)])
    return table(["situation (sets)", *methods], rows)


def grades(data):
    """Mean distance in grades between the truth and the label, and the median of the probabilities."""
    rows = []
    for name in (n for n in ORDERED if n in data):
        d = data[name]
        known = d.truth_codes >= 0
        order = np.argsort([str(c) for c in d.annotations.annotations.classes])
        grade = np.argsort(order)
        row = [name]
        for method in ("majority-vote", "auto"):
            p = make(method).fit(d.annotations).posterior_[known]
            median = (np.cumsum(p[:, order], axis=1) < 0.5 - 1e-9).sum(axis=1)
            true, chosen = grade[d.truth_codes[known]], (grade[p.argmax(axis=1)], median)
            row += [f"{np.abs(one - true).mean():.3f}" for one in chosen]
        rows.append(row)
    return table(["mean distance in grades", "most votes", "median vote", "label of auto", "median of auto"], rows)


def tables(results, data):
    parts = ["### Error in percent, by situation", by_situation(results, data)]
    return [*parts, "### Grades", grades(data)]
