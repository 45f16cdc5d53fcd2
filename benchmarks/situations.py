"""What suits which crowd: results of all methods and the data sets in, the tables of docs/how-to-choose.md out."""

from __future__ import annotations

import numpy as np

from covote.estimators.auto import Auto
from covote.estimators.dawid_skene import DawidSkene, MajorityVote
from covote.score import error_rate

ORDERED = ("web", "adult2")  # sets whose labels are grades; their names sort from the lowest to the highest


def answers_an_item(data):
    a = data.annotations.annotations
    return a.n_labels / a.n_items


def largest_share(data):
    """Share of the commonest true class, times the number of classes: 1 where classes are equally common."""
    truth = data.truth_codes[data.truth_codes >= 0]
    return np.bincount(truth).max() / len(truth) * data.annotations.annotations.n_classes


def situations(data, rules):
    """Names of the sets in each situation."""
    several = {n: d for n, d in data.items() if n not in rules}
    return {
        "fewer than 5 answers an item": [n for n, d in several.items() if answers_an_item(d) < 5],
        "5 to 10 answers an item": [n for n, d in several.items() if 5 <= answers_an_item(d) <= 10],
        "more than 10 answers an item": [n for n, d in several.items() if answers_an_item(d) > 10],
        "two classes": [n for n, d in several.items() if d.annotations.annotations.n_classes == 2],
        "more classes": [n for n, d in several.items() if d.annotations.annotations.n_classes > 2],
        "one class of two has over 70 %": [
            n for n, d in several.items() if d.annotations.annotations.n_classes == 2 and largest_share(d) > 1.4
        ],
        "language models as judges": [n for n in several if n.startswith("llm")],
        "labelling functions": [n for n in data if n in rules],
    }


def by_situation(results, data, rules, methods):
    """Mean error of every method that runs on all sets of a situation."""
    rows = []
    for name, sets in situations(data, rules).items():
        if not sets:
            continue
        means = [
            np.mean([results[m, s].error for s in sets]) if all(results[m, s] for s in sets) else np.nan
            for m in methods
        ]
        best = np.nanmin(means)
        cells = ["-" if np.isnan(v) else f"**{v:.1f}**" if round(v, 1) <= round(best, 1) else f"{v:.1f}" for v in means]
        rows.append([f"{name} ({len(sets)})", *cells])
    return _table(["situation (sets)", *methods], rows)


def reweighted(posterior, old, new):
    """Posteriors under other class shares: exact for a model, and near enough for an average of softened ones."""
    odds = posterior * new / np.maximum(old, 1e-12)
    return odds / odds.sum(axis=1, keepdims=True)


def shares_table(data, rules):
    """Mean error with class shares estimated, taken for equal, and known."""
    found = []
    for name, d in data.items():
        if name in rules:
            continue
        truth, K = d.truth_codes, d.annotations.annotations.n_classes
        known = np.bincount(truth[truth >= 0], minlength=K) + 0.5
        known /= known.sum()
        row = []
        for fit in (DawidSkene(init="majority").fit(d.annotations), Auto().fit(d.annotations)):
            row += [fit.posterior_, reweighted(fit.posterior_, fit.model_.prior, known)]
        equal = DawidSkene(init="majority", prior="uniform").fit(d.annotations).posterior_
        found.append([100 * error_rate(p, truth) for p in (row[0], equal, row[1], row[2], row[3])])
    mean = np.mean(found, axis=0)
    rows = [["mv-ds", *(f"{v:.2f}" for v in mean[:3])], ["auto", f"{mean[3]:.2f}", "-", f"{mean[4]:.2f}"]]
    return _table(["mean error over the 17", "shares estimated", "taken for equal", "known"], rows)


def ordered_table(data):
    """Mean distance in grades between the truth and the label, and the median of the probabilities."""
    rows = []
    for name in (n for n in ORDERED if n in data):
        d = data[name]
        known = d.truth_codes >= 0
        order = np.argsort([str(c) for c in d.annotations.annotations.classes])
        grade = np.argsort(order)
        row = [name]
        for fit in (MajorityVote(), Auto()):
            p = fit.fit(d.annotations).posterior_[known]
            median = (np.cumsum(p[:, order], axis=1) < 0.5 - 1e-9).sum(axis=1)
            true, chosen = grade[d.truth_codes[known]], (grade[p.argmax(axis=1)], median)
            row += [f"{np.abs(one - true).mean():.3f}" for one in chosen]
        rows.append(row)
    return _table(["mean distance in grades", "most votes", "median vote", "label of auto", "median of auto"], rows)


def page(results, data, rules, methods):
    """The measured part of docs/how-to-choose.md."""
    return "\n\n".join(
        [
            "### Error in percent, by situation", by_situation(results, data, rules, methods),
            "### Class shares", shares_table(data, rules),
            "### Grades", ordered_table(data),
        ]
    )  # fmt: skip


def _table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])
