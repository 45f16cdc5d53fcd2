"""`python -m benchmarks.ensemble`: the ensemble beside scikit-learn's on ten tables that it ships or makes.

Each table is cut into two thirds to learn from and a third to test on; of the first a share has labels. Members are the
same for all and are trained on the labelled rows. The ensemble also reads the unlabelled rows; stacking has labelled ones
only. Nothing was chosen on these tables: the settings come from others, made with other numbers. Error in percent, mean
over the cuts; "best member" is the member with least error on the test rows, which nobody knows beforehand.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from sklearn import datasets
from sklearn.ensemble import RandomForestClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from covote.ensemble import UnsupervisedVotingClassifier

SHARES = (0.05, 0.1, 0.2, 0.29, 0.5)
RULES = ("covote hard", "covote soft", "hard voting", "soft voting", "stacking", "best member")


def tables():
    """Name to (X, y)."""
    made = {"n_samples": 900, "n_features": 20, "random_state": 7}
    return {
        "iris": datasets.load_iris(return_X_y=True),
        "wine": datasets.load_wine(return_X_y=True),
        "breast cancer": datasets.load_breast_cancer(return_X_y=True),
        "digits": datasets.load_digits(return_X_y=True),
        "two classes": datasets.make_classification(**made, n_informative=6),
        "three classes": datasets.make_classification(**made, n_informative=8, n_classes=3),
        "six classes": datasets.make_classification(**made, n_informative=10, n_classes=6, n_clusters_per_class=1),
        "circles": datasets.make_circles(800, noise=0.2, factor=0.5, random_state=7),
        "hastie": datasets.make_hastie_10_2(1200, random_state=7),
        "quantiles": datasets.make_gaussian_quantiles(n_samples=900, n_features=8, n_classes=4, random_state=7),
    }


def members():
    return [
        ("linear", make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))),
        ("bayes", GaussianNB()),
        ("neighbours", make_pipeline(StandardScaler(), KNeighborsClassifier(3))),
        ("tree", DecisionTreeClassifier(random_state=0)),
        ("forest", RandomForestClassifier(30, random_state=0)),
    ]


def errors(X, y, share, seed):
    """Error of every rule on one cut."""
    y = np.unique(y, return_inverse=True)[1]
    order = np.random.default_rng(seed).permutation(len(y))
    test, learn = order[: len(y) // 3], order[len(y) // 3 :]
    some = labelled(y[learn], share, seed)
    partial = np.where(some, y[learn], -1)
    own = learn[some]
    fitted = {
        "covote hard": UnsupervisedVotingClassifier(members()).fit(X[learn], partial),
        "covote soft": UnsupervisedVotingClassifier(members(), voting="soft").fit(X[learn], partial),
        "hard voting": VotingClassifier(members()).fit(X[own], y[own]),
        "soft voting": VotingClassifier(members(), voting="soft").fit(X[own], y[own]),
        "stacking": StackingClassifier(members(), cv=2).fit(X[own], y[own]),
    }
    found = {name: float(np.mean(rule.predict(X[test]) != y[test])) for name, rule in fitted.items()}
    alone = fitted["soft voting"].estimators_
    found["best member"] = min(float(np.mean(m.predict(X[test]) != y[test])) for m in alone)
    return found


def labelled(y, share, seed):
    """Which rows have labels: a random share, at least four of each class."""
    rank = np.random.default_rng(seed + 1).permutation(len(y))
    chosen = np.zeros(len(y), bool)
    chosen[rank[: round(share * len(y))]] = True
    for k in np.unique(y):
        chosen[[i for i in rank if y[i] == k][:4]] = True
    return chosen


def measure(cuts=3, shares=SHARES):
    """{share: {table: {rule: mean error}}}."""
    out = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for share in shares:
            out[share] = {}
            for name, (X, y) in tables().items():
                runs = [errors(X, y, share, seed) for seed in range(cuts)]
                out[share][name] = {rule: float(np.mean([r[rule] for r in runs])) for rule in RULES}
    return out


def mean(by_table):
    return {rule: float(np.mean([found[rule] for found in by_table.values()])) for rule in RULES}


def text(measured, each=False):
    """The table in Markdown."""
    lines = ["| labelled | table | " + " | ".join(RULES) + " |", "|---" * (len(RULES) + 2) + "|"]
    for share, by_table in measured.items():
        rows = {**(by_table if each else {}), "mean of ten": mean(by_table)}
        for name, found in rows.items():
            cells = " | ".join(f"{100 * found[rule]:.2f}" for rule in RULES)
            lines.append(f"| {100 * share:.0f} % | {name} | {cells} |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ensemble", description=__doc__)
    parser.add_argument("--cuts", type=int, default=3)
    parser.add_argument("--each", action="store_true", help="every table too, not the mean alone")
    options = parser.parse_args()
    print(text(measure(options.cuts), options.each))
