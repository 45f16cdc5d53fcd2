"""Machine annotators: a table of features and its classes in, the answers of ten trained classifiers out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations import Annotations, Vocabulary
from covote.errors import InputError, MissingExtraError

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ClassifierCrowd:
    """What trained classifiers answered about rows they had not seen."""

    annotations: Annotations  # ids of items are positions in the table given, ids of annotators are names
    truth: Ints  # (items,): true class codes
    answers: Ints  # (items, annotators): what each classifier would answer, whether or not it was asked

    @property
    def errors(self) -> dict[str, float]:
        """Error of each classifier alone, over all items."""
        wrong = (self.answers != self.truth[:, None]).mean(axis=0)
        return dict(zip(map(str, self.annotations.annotators), wrong.tolist(), strict=True))

    def thinned(self, answering: float, *, seed: int | np.random.Generator = 0) -> ClassifierCrowd:
        """The same classifiers, each asked about each item with probability `answering`."""
        asked = _asked(self.answers.shape, answering, np.random.default_rng(seed))
        a = self.annotations
        return ClassifierCrowd(_annotations(self.answers, asked, a.items, a.annotators, a.classes), *self._rest)

    @property
    def _rest(self) -> tuple[Ints, Ints]:
        return self.truth, self.answers


def classifier_crowd(
    X: Any,
    y: Any,
    *,
    n_items: int | None = None,
    training: float = 0.2,
    answering: float = 1.0,
    classifiers: Mapping[str, Any] | None = None,
    seed: int | np.random.Generator = 0,
) -> ClassifierCrowd:
    """Train classifiers on a share `training` of the rows and let them label the others.

    X is a matrix or a sequence of rows; a column that is not numeric is a category. With `n_items`, that many rows
    are labelled and the training rows are drawn in proportion, so that they are the share `training` of both
    together. `classifiers` maps names to scikit-learn classifiers; by default `ten_classifiers()`.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> crowd = classifier_crowd(X, np.where(X.sum(axis=1) > 0, "up", "down"), answering=0.5)
    >>> crowd.annotations.n_items, crowd.annotations.n_annotators, crowd.annotations.classes.to_list()
    (240, 10, ['down', 'up'])
    """
    rng = np.random.default_rng(seed)
    table = _features(X)
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    labelled, trained = _split(len(codes), len(table), n_items, training, rng)
    names = dict(ten_classifiers() if classifiers is None else classifiers)
    answers = _answers(names, table[trained], codes[trained], table[labelled])
    annotations = _annotations(
        answers,
        _asked(answers.shape, answering, rng),
        Vocabulary(labelled.astype(np.int64)),
        Vocabulary(list(names)),
        Vocabulary(classes.tolist()),
    )
    return ClassifierCrowd(annotations, codes[labelled].astype(np.int64), answers)


def ten_classifiers() -> dict[str, Any]:
    """The ten classifiers of the paper's experiments, by name, untrained.

    Decision trees of at most 100, 20 and 4 splits, k nearest neighbours with k = 1, 10, 100 and with k = 10 under the
    cosine distance, logistic regression, linear and quadratic discriminant analysis.
    """
    try:
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
        from sklearn.linear_model import LogisticRegression
        from sklearn.neighbors import KNeighborsClassifier
        from sklearn.tree import DecisionTreeClassifier
    except ImportError as error:
        msg = "Machine annotators need scikit-learn. Install it with: pip install 'covote[classifiers]'"
        raise MissingExtraError(msg) from error
    trees = {f"tree-{n}": DecisionTreeClassifier(max_leaf_nodes=n + 1, random_state=0) for n in (100, 20, 4)}
    neighbours = {f"{k}-neighbours": KNeighborsClassifier(k) for k in (1, 10, 100)}
    return {
        **trees,
        **neighbours,
        "10-neighbours-cosine": KNeighborsClassifier(10, metric="cosine"),
        "logistic-regression": LogisticRegression(max_iter=1000),
        "linear-discriminant": LinearDiscriminantAnalysis(solver="lsqr", shrinkage=1e-3),
        # categories as columns of 0 and 1 are collinear: without some regularisation a covariance has no inverse
        "quadratic-discriminant": QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.1),
    }


def _features(X: Any) -> NDArray[Any]:
    """Rows x columns; object dtype unless everything is numeric."""
    table = X.to_numpy() if hasattr(X, "to_numpy") else X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
    if table.ndim != 2 or not table.size:
        msg = f"Features must be a table of rows and columns, got shape {table.shape}."
        raise InputError(msg)
    return np.asarray(table)


def _split(
    n_classes_given: int, n_rows: int, n_items: int | None, training: float, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    if n_classes_given != n_rows:
        msg = f"There are {n_rows} rows of features and {n_classes_given} classes. Give one class a row."
        raise InputError(msg)
    if not 0 < training < 1:
        msg = f"The share of rows to train on must be between 0 and 1, got {training}."
        raise InputError(msg)
    labelled = n_rows - max(round(training * n_rows), 1) if n_items is None else n_items
    trained = n_rows - labelled if n_items is None else max(round(n_items * training / (1 - training)), 1)
    if labelled < 1 or labelled + trained > n_rows:
        msg = f"{labelled} rows to label and {trained} to train on need more than the {n_rows} given. Lower n_items."
        raise InputError(msg)
    order = rng.permutation(n_rows)
    return order[:labelled], order[labelled : labelled + trained]


def _answers(classifiers: Mapping[str, Any], train: NDArray[Any], classes: Ints, rows: NDArray[Any]) -> Ints:
    """What each classifier answers about `rows`, shape (rows, classifiers)."""
    prepare = _preparation(train)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a category or class with few training rows: the crowd shows what it costs
        seen, unseen = prepare.fit_transform(train), prepare.transform(rows)
        answers = np.empty((len(rows), len(classifiers)), dtype=np.int64)
        for position, (name, classifier) in enumerate(classifiers.items()):
            try:
                answers[:, position] = _trainable(classifier, len(seen)).fit(seen, classes).predict(unseen)
            except ValueError as error:  # numpy's LinAlgError is one
                msg = f"Classifier '{name}' cannot be trained on these rows ({error}). Train on more, or leave it out."
                raise InputError(msg) from error
    return answers


def _preparation(train: NDArray[Any]) -> Any:
    """Numbers to mean 0 and variance 1, categories to columns of 0 and 1."""
    from sklearn.compose import ColumnTransformer
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numeric = [j for j in range(train.shape[1]) if train.dtype != object or _is_numeric(train[:, j])]
    categories = [j for j in range(train.shape[1]) if j not in numeric]
    one_hot = OneHotEncoder(handle_unknown="ignore", drop="if_binary", sparse_output=False)
    return ColumnTransformer([("numbers", StandardScaler(), numeric), ("categories", one_hot, categories)])


def _is_numeric(column: NDArray[Any]) -> bool:
    return all(isinstance(value, (int, float, np.number)) for value in column)


def _trainable(classifier: Any, n_rows: int) -> Any:
    """A fresh copy; no more neighbours are asked than there are training rows."""
    from sklearn.base import clone

    copy = clone(classifier)
    wanted = getattr(copy, "n_neighbors", None)
    return copy.set_params(n_neighbors=min(wanted, n_rows)) if isinstance(wanted, int) else copy


def _asked(shape: tuple[int, ...], answering: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    if not 0 < answering <= 1:
        msg = f"The probability of answering must be above 0 and at most 1, got {answering}."
        raise InputError(msg)
    return np.asarray(rng.random(shape) < answering)


def _annotations(
    answers: Ints, asked: NDArray[np.bool_], items: Vocabulary, annotators: Vocabulary, classes: Vocabulary
) -> Annotations:
    item, annotator = np.nonzero(asked)
    return Annotations.from_codes(item, annotator, answers[asked], items=items, annotators=annotators, classes=classes)
