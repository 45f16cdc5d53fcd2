"""Data sets by name: where they are looked for, what they hold, the paper's part of them, machine annotators."""

from __future__ import annotations

import numpy as np
import pytest

from covote.datasets import KNOWN, data_folders, dataset_names, dataset_path, load_dataset
from covote.datasets.features import read_features
from covote.errors import FileError, InputError
from covote.estimators.dawid_skene import MajorityVote
from covote.score import error_rate
from covote.simulate_classifiers import classifier_crowd, ten_classifiers

SMALL = "1\t1\t1\n1\t2\t1\n2\t1\t2\n2\t2\t2\n2\t3\t1\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A data folder of one's own, and none of the others."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("COVOTE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("covote.datasets.folders.__file__", str(tmp_path / "a/b/c/d/e/folders.py"))
    return tmp_path


def put(place, crowd="crowd.txt", truth="truth.txt", answers=SMALL, truths="1\t1\n2\t2\n"):
    place.mkdir(parents=True)
    (place / crowd).write_text(answers)
    (place / truth).write_text(truths)


def test_folders_in_order(folder):
    assert data_folders() == [folder / "data", folder / "shared" / "data", folder / "cache" / "covote" / "data"]


def test_the_first_folder_wins(folder):
    put(folder / "cache" / "covote" / "data" / "amt" / "web")
    assert dataset_path("web") == folder / "cache" / "covote" / "data" / "amt" / "web"
    put(folder / "shared" / "data" / "amt" / "web")
    assert dataset_path("web") == folder / "shared" / "data" / "amt" / "web"
    put(folder / "data" / "amt" / "web")
    assert dataset_path("web") == folder / "data" / "amt" / "web"


def test_half_a_set_is_not_found(folder):
    put(folder / "data" / "amt" / "web")
    (folder / "data" / "amt" / "web" / "truth.txt").unlink()
    with pytest.raises(FileError, match="Download it with: covote datasets fetch web"):
        dataset_path("web")


def test_anything_in_a_data_folder_is_a_data_set(folder):
    put(folder / "data" / "mine")
    put(
        folder / "data" / "dev" / "yours",
        "labels.csv",
        "truth.csv",
        "item,annotator,label\ni1,a1,cat\ni1,a2,cat\ni2,a1,dog\n",
        "item,label\ni1,cat\n",
    )
    assert dataset_names() == [*KNOWN, "mine", "yours"]
    data = load_dataset("yours")
    assert MajorityVote().fit(data.annotations).codes_.tolist() == [0, 1]
    assert data.truth_codes.tolist() == [0, -1]
    assert load_dataset("mine").annotations.annotations.n_labels == 5


def test_conflicting_answers_are_settled(folder):
    put(folder / "data" / "mine", answers="1\t1\t1\n1\t1\t2\n1\t1\t2\n2\t1\t1\n")
    assert load_dataset("mine").annotations.annotations.label.tolist() == [1, 0]
    with pytest.raises(InputError, match="labels item"):
        load_dataset("mine", duplicates="error")


def test_unknown_names(folder):
    with pytest.raises(InputError, match=r"There is no data set 'webb' in .* Did you mean 'web'\?"):
        load_dataset("webb")
    with pytest.raises(InputError, match="There is no data set"):
        load_dataset("../web")
    with pytest.raises(InputError, match="not one of the paper's"):
        load_dataset("mine", "paper")
    with pytest.raises(InputError, match="Protocol must be 'all' or 'paper', got 'some'"):
        load_dataset("web", "some")


def test_damaged_features(folder):
    place = folder / "data" / "uci" / "nursery"
    place.mkdir(parents=True)
    (place / "nursery.data").write_text("usual,proper\n")
    with pytest.raises(FileError, match=r"nursery.data must have 9 columns in every row"):
        load_dataset("nursery")


# what the files hold

SIZES = {
    "bluebird": (108, 39, 4212, 30, 3240),
    "rte": (800, 164, 8000, 164, 8000),
    "trec": (19033, 762, 88385, 762, 88385),
    "dog": (807, 109, 8070, 52, 7354),
    "web": (2665, 177, 15567, 177, 15567),
}
VOTE_ERRORS = {"bluebird": 21.296, "rte": 10.313, "trec": 34.857, "dog": 17.906, "web": 26.935}


@pytest.mark.data
@pytest.mark.parametrize("name", SIZES)
def test_the_papers_crowds(name):
    n_items, n_annotators, n_labels, kept, kept_labels = SIZES[name]
    everybody, paper = load_dataset(name), load_dataset(name, "paper")
    a, b = everybody.annotations.annotations, paper.annotations.annotations
    assert (a.n_items, a.n_annotators, a.n_labels) == (n_items, n_annotators, n_labels)
    assert (b.n_items, b.n_annotators, b.n_labels) == (n_items, kept, kept_labels)
    assert (KNOWN[name].n_classes, KNOWN[name].n_items, KNOWN[name].n_annotators) == (b.n_classes, n_items, kept)
    votes = MajorityVote().fit(paper.annotations)
    assert 100 * error_rate(votes.posterior_, paper.truth_codes) == pytest.approx(VOTE_ERRORS[name], abs=1e-3)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "rows", "columns", "classes"),
    [
        ("adult", 48842, 14, {"<=50K": 37155, ">50K": 11687}),
        ("mushroom", 8124, 22, {"e": 4208, "p": 3916}),
        ("nursery", 12958, 8, {"not_recom": 4320, "priority": 4266, "spec_prior": 4044, "very_recom": 328}),
    ],
)
def test_the_uci_tables(name, rows, columns, classes):
    table = read_features(name, dataset_path(name))
    assert len(table.rows) == rows
    assert {len(row) for row in table.rows} == {columns}
    assert dict(zip(*np.unique(table.classes, return_counts=True), strict=True)) == classes


@pytest.mark.data
def test_a_uci_set_is_labelled_by_ten_classifiers():
    data = load_dataset("nursery", "paper", answering=0.5)
    a = data.annotations.annotations
    assert (a.n_items, a.n_annotators, a.n_classes) == (3575, 10, 4)
    assert a.n_labels / (3575 * 10) == pytest.approx(0.5, abs=0.01)
    assert len(data.truth.items) == 3575
    assert error_rate(MajorityVote().fit(data.annotations).posterior_, data.truth_codes) < 0.12


# machine annotators on any table


def blobs(seed=0, n=400):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    return rng.normal(size=(n, 5)) + 2 * np.eye(3, 5)[y], np.array(["ape", "bee", "cow"])[y]


def test_training_rows_are_not_labelled_and_sizes_are_as_asked():
    X, y = blobs()
    crowd = classifier_crowd(X, y, n_items=200, training=0.2)
    assert crowd.annotations.n_items == len(crowd.truth) == 200
    # a classifier that knows only its training rows by heart: none of them may come back
    memory = {"memory": Memory()}
    answers = classifier_crowd(X, np.arange(400) % 2, classifiers=memory, training=0.25).answers
    assert answers.shape == (300, 1)
    assert not answers.any()


class Memory:
    """Answers 1 for rows it was trained on."""

    def get_params(self, deep=True):  # noqa: ARG002 - scikit-learn's signature
        return {}

    def set_params(self):
        return self

    def fit(self, X, _):
        self.seen = {row.tobytes() for row in np.asarray(X)}
        return self

    def predict(self, X):
        return np.array([int(row.tobytes() in self.seen) for row in np.asarray(X)])


def test_truth_and_items_belong_together():
    X, y = blobs()
    crowd = classifier_crowd(X, y)
    a = crowd.annotations
    assert [y[item] for item in a.items] == [a.classes[code] for code in crowd.truth]


def test_the_same_seed_gives_the_same_crowd_and_another_seed_another():
    X, y = blobs()
    one, same, other = (classifier_crowd(X, y, seed=s, answering=0.5).annotations for s in (1, 1, 2))
    assert np.array_equal(one.answer, same.answer)
    assert not np.array_equal(one.answer, other.answer)


def test_thinning_takes_answers_away_and_changes_none():
    X, y = blobs()
    whole = classifier_crowd(X, y)
    thin = whole.thinned(0.2, seed=3)
    a = thin.annotations
    assert np.array_equal(a.label, whole.answers[a.item, a.annotator])
    assert a.n_labels / whole.annotations.n_labels == pytest.approx(0.2, abs=0.03)
    assert thin.errors == whole.errors


def test_classifiers_do_better_than_guessing():
    X, y = blobs(n=1500)
    errors = classifier_crowd(X, y).errors
    assert list(errors) == list(ten_classifiers())
    assert max(errors.values()) < 0.4


def test_categories_and_numbers_in_one_table():
    rng = np.random.default_rng(0)
    colour, size = rng.choice(["red", "blue", "green"], 300), rng.normal(size=300)
    y = np.where((colour == "red") ^ (size > 0), "yes", "no")
    crowd = classifier_crowd([[c, s] for c, s in zip(colour, size, strict=True)], y)
    assert crowd.errors["tree-100"] < 0.1  # needs both columns


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"y": ["ape"]}, "There are 400 rows of features and 1 classes. Give one class a row."),
        ({"training": 1.0}, "The share of rows to train on must be between 0 and 1, got 1.0."),
        ({"answering": 0.0}, "The probability of answering must be above 0 and at most 1, got 0.0."),
        ({"n_items": 390}, "390 rows to label and 98 to train on need more than the 400 given. Lower n_items."),
        ({"X": np.zeros(3)}, "Features must be a table of rows and columns, got shape (3,)."),
    ],
)
def test_bad_input(changes, sentence):
    X, y = blobs()
    given = {"X": X, "y": y, **changes}
    with pytest.raises(InputError) as caught:
        classifier_crowd(given.pop("X"), given.pop("y"), **given)
    assert str(caught.value) == sentence


def test_a_class_with_one_row_is_a_clear_error():
    X, y = blobs(n=60)
    y[:] = "ape"
    y[:2] = "bee"
    with pytest.raises(InputError, match=r"Classifier '.*' cannot be trained on these rows .* leave it out\."):
        classifier_crowd(X, y, training=0.5, seed=1)
