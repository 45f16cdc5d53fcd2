"""Make the example data: votes of ten classifiers on scikit-learn's digits, each trained on 20 %, each answering 30 %.

Writes digits_votes.csv and digits_truth.csv beside this file. Run it again to get the same files:

    python examples/make_digits.py
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, FunctionTransformer
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

HERE = Path(__file__).parent
TRAINED_ON, ANSWERING = 0.2, 0.3


def left_half(x: np.ndarray) -> np.ndarray:
    """The left four columns of the 8 x 8 pixels."""
    return x.reshape(-1, 8, 8)[:, :, :4].reshape(len(x), -1)


def classifiers() -> dict[str, ClassifierMixin]:
    """Ten classifiers, from good to poor."""
    return {
        "svm": SVC(),
        "knn-3": KNeighborsClassifier(3),
        "logistic": LogisticRegression(max_iter=2000),
        "lda": LinearDiscriminantAnalysis(),
        "gauss": GaussianNB(),
        "pixels": make_pipeline(Binarizer(threshold=8), BernoulliNB()),
        "left-half": make_pipeline(FunctionTransformer(left_half), KNeighborsClassifier(5)),
        "forest": RandomForestClassifier(3, max_depth=3, random_state=0),
        "tree-4": DecisionTreeClassifier(max_depth=4, random_state=0),
        "tree-3": DecisionTreeClassifier(max_depth=3, random_state=0),
    }


def main() -> None:
    """Train, answer, write."""
    rng = np.random.default_rng(7)
    x, y = load_digits(return_X_y=True)
    votes = []
    for name, model in classifiers().items():
        taught = rng.random(len(y)) < TRAINED_ON  # every classifier is taught on its own fifth
        answers = model.fit(x[taught], y[taught]).predict(x)
        answered = rng.choice(np.flatnonzero(~taught), size=round(ANSWERING * len(y)), replace=False)
        votes += [(f"digit{item:04d}", name, int(answers[item])) for item in answered]
    votes.sort()
    _write("digits_votes.csv", ("item", "annotator", "label"), votes)
    _write("digits_truth.csv", ("item", "label"), [(f"digit{i:04d}", int(k)) for i, k in enumerate(y)])


def _write(name: str, header: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    with (HERE / name).open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


if __name__ == "__main__":
    main()
