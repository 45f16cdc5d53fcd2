"""The ensemble keeps scikit-learn's rules, learns from unlabelled rows, and beats voting where labels are few."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from covote.ensemble import UnsupervisedVotingClassifier
from covote.errors import InputError

EXPECTED_FAILURES: dict[str, str] = {}
LINEAR, TREE = ("linear", LogisticRegression()), ("tree", DecisionTreeClassifier(random_state=0))


@pytest.mark.slow
@pytest.mark.parametrize(
    "made",
    [UnsupervisedVotingClassifier(), UnsupervisedVotingClassifier([LINEAR, TREE], voting="soft")],
    ids=["default", "soft"],
)
def test_scikit_learns_own_checks(made):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(made, expected_failed_checks=EXPECTED_FAILURES, on_skip=None)


class Answers:
    """No estimator: an object with predict, right on a share of the rows."""

    def __init__(self, truth, share, seed):
        rng = np.random.default_rng(seed)
        self.said = np.where(rng.random(len(truth)) < share, truth, rng.integers(3, size=len(truth)))

    def predict(self, X):
        return self.said[np.asarray(X)[:, 0].astype(int)]


@pytest.mark.parametrize("seed", range(3))
def test_without_any_label_the_good_are_told_from_the_bad(seed):
    truth = np.random.default_rng(seed).integers(3, size=600)
    X = np.arange(600)[:, None]
    members = [
        ("good", Answers(truth, 0.9, 1)),
        ("fair", Answers(truth, 0.7, 2)),
        ("bad", Answers(truth, 0.05, 3)),
        ("poor", Answers(truth, 0.3, 4)),
        ("odd", Answers(truth, 0.2, 5)),
    ]
    made = UnsupervisedVotingClassifier(members).fit(X)
    accuracy = {name: np.trace(c) / 3 for name, c in made.confusion_.items()}
    assert accuracy["good"] > accuracy["fair"] > accuracy["poor"] > accuracy["bad"] - 0.05
    votes = np.array(
        [np.bincount(row, minlength=3).argmax() for row in np.column_stack([m.predict(X) for _, m in members])]
    )
    assert np.mean(made.predict(X) == truth) > np.mean(votes == truth) + 0.1


def test_partial_labels_pipelines_frames_and_sparse():
    X, y = load_breast_cancer(return_X_y=True)
    some = np.where(np.arange(len(y)) % 10 == 0, y + 5, -1)
    piped = make_pipeline(StandardScaler(), UnsupervisedVotingClassifier()).fit(X, some)
    assert set(piped.predict(X)) == {5, 6}
    assert np.mean(piped.predict(X) == y + 5) > 0.93
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    scaled = pandas.DataFrame(StandardScaler().fit_transform(frame), columns=frame.columns)
    framed = UnsupervisedVotingClassifier().fit(scaled, some)
    np.testing.assert_array_equal(framed.predict(scaled), piped.predict(X))
    assert list(framed.feature_names_in_) == list(frame.columns)
    sparse = UnsupervisedVotingClassifier([LINEAR, TREE]).fit(csr_matrix(scaled.to_numpy()), some)
    assert sparse.predict(csr_matrix(scaled.to_numpy())).shape == y.shape
    with pytest.raises(InputError, match="Sparse input is not supported by all members"):
        UnsupervisedVotingClassifier().fit(csr_matrix(X), some)


def test_grid_search_reaches_members_and_own_options():
    X, y = load_iris(return_X_y=True)
    members = [LINEAR, TREE, ("bayes", GaussianNB())]
    grid = {"voting": ["hard", "soft"], "tree__max_depth": [1, 3]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = GridSearchCV(UnsupervisedVotingClassifier(members), grid, cv=3).fit(X, y)
    assert set(found.best_params_) == set(grid)
    assert found.best_score_ > 0.9


def test_fitted_members_stay_as_they_are():
    X, y = load_iris(return_X_y=True)
    fitted = [GaussianNB().fit(X[::2], y[::2]), DecisionTreeClassifier(random_state=0).fit(X[::2], y[::2])]
    made = UnsupervisedVotingClassifier(fitted).fit(X)
    assert made.estimators_[0] is fitted[0]
    assert np.mean(made.predict(X) == y) > 0.9
    with pytest.raises(InputError, match="member 'gaussiannb-0' is not fitted. Pass labels of some rows, or fitted"):
        UnsupervisedVotingClassifier([GaussianNB()]).fit(X)
    kept = UnsupervisedVotingClassifier(fitted, prefit=True).fit(X, np.where(np.arange(150) < 90, -1, y))
    assert kept.estimators_[1] is fitted[1]


def test_strings_and_minus_one_as_a_class():
    X, y = make_classification(120, random_state=3)
    names = np.array(["no", "yes"])[y]
    assert set(UnsupervisedVotingClassifier().fit(X, names).predict(X)) == {"no", "yes"}
    assert set(UnsupervisedVotingClassifier().fit(X, 2 * y - 1).predict(X)) == {-1, 1}
    with pytest.raises(InputError, match="Option voting is 'loud', expected 'hard' or 'soft'."):
        UnsupervisedVotingClassifier(voting="loud").fit(X, y)
