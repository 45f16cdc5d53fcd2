"""UnsupervisedVotingClassifier: classifiers in, one that weighs them by their answers on unlabelled data out.

In scikit-learn's manners, and needs scikit-learn. The weights are the confusion matrices of a Bayesian Dawid-Skene
model (`covote.methods.ibcc`), whose annotators are the classifiers.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from covote.annotations.value import Annotations, Vocabulary
from covote.engines.memory import MemoryEngine
from covote.errors import InputError
from covote.methods.ibcc import ibcc

try:
    from sklearn.base import ClassifierMixin, clone
    from sklearn.exceptions import NotFittedError as SklearnNotFitted
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier
    from sklearn.utils import _safe_indexing
    from sklearn.utils.metaestimators import _BaseComposition
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import _num_samples, check_is_fitted, column_or_1d, validate_data
except ImportError as error:  # pragma: no cover - scikit-learn is there in tests
    msg = "covote.ensemble needs scikit-learn 1.6 or newer. Install it with: pip install 'covote[classifiers]'"
    raise ImportError(msg) from error

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

UNLABELLED = -1
"""Stands in `y` for an item without a label, as in scikit-learn's semi-supervised estimators."""


class UnsupervisedVotingClassifier(ClassifierMixin, _BaseComposition):  # type: ignore[misc]
    """Weighs classifiers by how they answer, on unlabelled data as well as on labelled.

    `fit(X)` takes members that are fitted already and learns their confusion matrices from their answers alone.
    `fit(X, y)` trains copies of the members on the labelled rows and weighs them on all: labelled rows by answers of
    members that did not see them (cross-validation), the others by Dawid-Skene. -1 in `y` stands for no label, unless
    there is only one other value: then y is coded -1 and 1.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> some = np.where(np.arange(150) % 5 == 0, y, -1)
    >>> bool(UnsupervisedVotingClassifier().fit(X, some).score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        estimators: Any = None,
        *,
        voting: Literal["hard", "soft"] = "hard",
        prefit: bool = False,
        cv: int = 5,
        smoothing: float = 1.0,
        diagonal: float = 3.0,
        random_state: int = 0,
    ) -> None:
        """`estimators`: (name, classifier) pairs or classifiers, four usual ones when None.

        `voting`: members answer with a label, or ("soft") with their probabilities, which all must then have. `prefit`
        keeps members as they are where `y` is given too. `cv`: most folds for labelled rows. `smoothing` and
        `diagonal`: pseudo-answers in every cell of a confusion matrix, and more on its diagonal. `random_state`: seed
        of the folds.
        """
        self.estimators = estimators
        self.voting = voting
        self.prefit = prefit
        self.cv = cv
        self.smoothing = smoothing
        self.diagonal = diagonal
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train members where labels are given, and learn their confusion matrices."""
        self._check_options()
        X = self._checked(X, reset=True)
        named = _named(self.estimators)
        label = None if y is None else _labels(y, _num_samples(X))
        known = np.zeros(_num_samples(X), bool) if label is None else _known(label)
        trained = bool(known.any()) and not self.prefit
        if not trained:
            self._check_fitted(named)
        self.names_ = [name for name, _ in named]
        self.classes_ = np.unique(label[known]) if label is not None and trained else _member_classes(named, X)
        gold = np.full(len(known), -1)
        if label is not None and known.any():
            gold[known] = _codes(label[known], self.classes_)
        rows = np.flatnonzero(known)
        self.estimators_ = [_trained(m, X, label, rows) for _, m in named] if trained else [m for _, m in named]
        answers = self._answers(X, label, rows if trained else rows[:0])
        self._weigh(answers, gold, rows if trained else rows[:0])
        return self

    def _answers(self, X: Any, label: Any, rows: Ints) -> Ints:
        """Label code of every member (columns) for every row, -1 for none; training rows by members blind to them."""
        answers = np.column_stack([_codes(m.predict(X), self.classes_) for m in self.estimators_])
        self.folds_ = 0
        if not len(rows):
            return answers
        counts = np.bincount(_codes(label[rows], self.classes_))
        self.folds_ = int(min(self.cv, counts.min()))
        if self.folds_ < 2:
            return answers
        folds = StratifiedKFold(self.folds_, shuffle=True, random_state=self.random_state)
        for seen, blind in folds.split(rows, label[rows]):
            for m, (_, member) in enumerate(_named(self.estimators)):
                fitted = _trained(member, X, label, rows[seen])
                answers[rows[blind], m] = _codes(fitted.predict(_safe_indexing(X, rows[blind])), self.classes_)
        return answers

    def _weigh(self, answers: Ints, gold: Ints, rows: Ints) -> None:
        K = len(self.classes_)
        if len(rows) and self.folds_ < 2 and len(rows) < len(gold):  # what members learnt by heart tells nothing
            answers[rows] = -1
        item, member = np.nonzero(answers >= 0)
        crowd = Annotations.from_codes(
            item,
            member,
            answers[item, member],
            items=Vocabulary(np.arange(len(gold))),
            annotators=Vocabulary(np.arange(len(self.names_))),
            classes=Vocabulary(np.arange(K)),
        )
        if K < 2 or not len(item):
            self.scores_, self.prior_ = np.zeros((len(self.names_), K, K)), np.full(K, 1 / max(K, 1))
            self.confusion_ = {name: np.ones((K, K)) / max(K, 1) for name in self.names_}
            return
        fit = ibcc(MemoryEngine(crowd, gold=gold, threads=1), smoothing=self.smoothing, diagonal=self.diagonal)
        assert fit.model is not None
        self.scores_, self.prior_ = fit.scores.table, fit.model.prior
        self.confusion_ = dict(zip(self.names_, fit.model.confusion, strict=True))

    def predict_proba(self, X: Any) -> Floats:
        """Probability of every class in `classes_`."""
        check_is_fitted(self, "estimators_")
        X = self._checked(X, reset=False)
        total = np.log(self.prior_) + np.zeros((_num_samples(X), 1))
        for member, table in zip(self.estimators_, self.scores_, strict=True):
            total += self._votes(member, X) @ table
        total = np.exp(total - total.max(axis=1, keepdims=True))
        return np.asarray(total / total.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class."""
        probability = self.predict_proba(X)
        return np.asarray(self.classes_[probability.argmax(axis=1)])

    def _votes(self, member: Any, X: Any) -> Floats:
        """What a member answers, (rows, labels): one label each, or probabilities."""
        K = len(self.classes_)
        if self.voting == "hard":
            codes = _codes(member.predict(X), self.classes_)
            return np.asarray(np.vstack([np.eye(K), np.zeros(K)])[codes])
        votes = np.zeros((_num_samples(X), K))
        place = _codes(member.classes_, self.classes_)
        votes[:, place[place >= 0]] = member.predict_proba(X)[:, place >= 0]
        return votes

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Options, and with `deep` those of the members as name__option."""
        pairs = isinstance(self.estimators, list) and all(isinstance(e, tuple) for e in self.estimators)
        own: dict[str, Any] = self._get_params("estimators", deep=deep and pairs)
        return own

    def set_params(self, **params: Any) -> Self:
        """Change options, members by name, or options of members."""
        self._set_params("estimators", **params)
        return self

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """Frames and sparse matrices as they are, anything else as an array of two dimensions."""
        if issparse(X) and not self.__sklearn_tags__().input_tags.sparse:
            msg = "Sparse input is not supported by all members. Use dense data, or members that take sparse data."
            raise InputError(msg)
        if issparse(X):
            X = X.tocsr()  # other kinds have no rows to choose from
        elif not hasattr(X, "iloc"):
            X = np.asarray(X)
            if X.ndim == 1:
                msg = "Expected a table of two dimensions, got one. Reshape your data with X.reshape(-1, 1)."
                raise InputError(msg)
        validate_data(self, X, reset=reset, skip_check_array=True)
        return X

    def _check_options(self) -> None:
        if self.voting not in ("hard", "soft"):
            msg = f"Option voting is {self.voting!r}, expected 'hard' or 'soft'."
            raise InputError(msg)

    def _check_fitted(self, named: list[tuple[str, Any]]) -> None:
        for name, member in named:
            try:
                check_is_fitted(member) if hasattr(member, "fit") else None
            except SklearnNotFitted:
                msg = (
                    f"{type(self).__name__} requires y to be passed, but the target y is None or holds no label, and "
                    f"member '{name}' is not fitted. Pass labels of some rows, or fitted members."
                )
                raise InputError(msg) from None

    def __sklearn_tags__(self) -> Any:
        """Sparse input where all members take it."""
        tags = super().__sklearn_tags__()
        members = [m for _, m in _named(self.estimators)]
        found = [m.__sklearn_tags__().input_tags for m in members if hasattr(m, "__sklearn_tags__")]
        tags.input_tags.sparse = len(found) == len(members) and all(t.sparse for t in found)
        tags.input_tags.allow_nan = len(found) == len(members) and all(t.allow_nan for t in found)
        return tags


def _named(estimators: Any) -> list[tuple[str, Any]]:
    """Members with names; the usual ones when None."""
    if estimators is None:
        members = [
            LogisticRegression(max_iter=500),
            GaussianNB(),
            KNeighborsClassifier(),
            DecisionTreeClassifier(random_state=0),
        ]
        return [(type(m).__name__.lower(), m) for m in members]
    pairs = [e if isinstance(e, tuple) else (f"{type(e).__name__.lower()}-{i}", e) for i, e in enumerate(estimators)]
    pairs = [(name, member) for name, member in pairs if not (isinstance(member, str) and member == "drop")]
    if not pairs or len({name for name, _ in pairs}) < len(pairs):
        msg = "Members need different names, and at least one is needed. Pass estimators=[('a', ...), ('b', ...)]."
        raise InputError(msg)
    return pairs


def _labels(y: Any, rows: int) -> NDArray[Any]:
    label = column_or_1d(y, warn=True)
    check_classification_targets(label)
    if len(label) != rows:
        msg = f"X has {rows} rows and y {len(label)}. Pass one label for each row, {UNLABELLED} for those without."
        raise InputError(msg)
    return np.asarray(label)


def _known(label: NDArray[Any]) -> NDArray[np.bool_]:
    """Which rows have a label; where all others share one, -1 is a label too."""
    given = np.asarray(label != UNLABELLED)
    return given if len(np.unique(label[given])) != 1 else np.ones(len(label), bool)


def _codes(label: Any, classes: NDArray[Any]) -> Ints:
    """Place of every label among the sorted classes, -1 for others."""
    label = np.asarray(label)
    place = np.minimum(np.searchsorted(classes, label), max(len(classes) - 1, 0))
    return np.asarray(np.where(classes[place] == label, place, -1), np.int64)


def _trained(member: Any, X: Any, label: Any, rows: Ints) -> Any:
    copy = clone(member) if hasattr(member, "get_params") else deepcopy(member)
    return copy.fit(_safe_indexing(X, rows), label[rows])


def _member_classes(named: list[tuple[str, Any]], X: Any) -> NDArray[Any]:
    """Classes that fitted members know, or answer."""
    found = [np.asarray(m.classes_ if hasattr(m, "classes_") else m.predict(X)) for _, m in named]
    return np.unique(np.concatenate(found))
