"""Models on disk: a round trip changes nothing; what is damaged, foreign or newer is one clear sentence."""

from __future__ import annotations

import datetime
import json

import numpy as np
import pytest

import covote
from covote.errors import FileError, InputError
from covote.estimators.summary import model_of
from covote.model import Model
from covote.model_file import load_model, save_model
from covote.report.saved import relabelled
from crowds import draw_triples


def model(classes=("x", "y"), annotators=("ann", "01", 7)):
    rng = np.random.default_rng(0)
    confusion = rng.dirichlet(np.ones(len(classes)), (len(annotators), len(classes))).transpose(0, 2, 1)
    return Model(rng.dirichlet(np.ones(len(classes))), confusion, classes, annotators)


@pytest.mark.parametrize(
    "classes", [("x", "y"), (0, 1), (True, False), (1.5, 2.5), ("1", 1), ((1, "a"), datetime.date(2020, 1, 2))]
)
def test_a_round_trip_changes_nothing(tmp_path, classes):
    one = model(classes)
    covote.save_model(one, tmp_path / "m.npz")
    two = covote.load_model(tmp_path / "m.npz")
    assert np.array_equal(one.prior, two.prior)
    assert np.array_equal(one.confusion, two.confusion)
    assert two.classes == one.classes
    assert [type(c) for c in two.classes] == [type(c) for c in one.classes]
    assert two.annotators == one.annotators
    assert [p.name for p in tmp_path.iterdir()] == ["m.npz"]


def test_damaged_foreign_newer_and_missing_files(tmp_path):
    path = tmp_path / "m.npz"
    with pytest.raises(FileError, match=r"m.npz does not exist. Check the path."):
        covote.load_model(path)
    path.write_bytes(b"not a model")
    with pytest.raises(FileError, match="cannot be read as a covote model: it is damaged or of another kind."):
        covote.load_model(path)
    covote.save_model(model(), path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(FileError, match="cannot be read as a covote model"):
        covote.load_model(path)
    header = np.array(json.dumps({"format": 99, "kind": "model"}))
    np.savez(path, header=header)
    with pytest.raises(FileError, match=r"has format 99, newer than \d+. Install a newer covote."):
        covote.load_model(path)


def test_nothing_is_left_behind_where_writing_fails(tmp_path):
    with pytest.raises(FileError, match="Cannot write"):
        covote.save_model(model(), tmp_path / "no" / "m.npz")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["auto", "majority-vote", "multispa", "multispa-kl", "multispa-ds", "mv-ds", "wawa", "ibcc"]
)
def test_a_saved_model_labels_as_the_fit_did(name, tmp_path):
    votes = draw_triples(5, n_items=80)
    fit = covote.aggregate(votes, name)
    save_model(model_of(fit), tmp_path / "model.npz")
    again = relabelled(load_model(tmp_path / "model.npz"), votes)
    assert again.labels_ == fit.labels_
    assert again.posterior_ == pytest.approx(fit.posterior_, abs=1e-12)
    assert covote.diagnose(votes, again).labels.expected_error == covote.diagnose(votes, fit).labels.expected_error


def test_an_estimator_is_no_model(tmp_path):
    fit = covote.aggregate([("x", "a", 0), ("x", "b", 0), ("y", "a", 1), ("y", "b", 0)])
    with pytest.raises(InputError, match=r"^save_model takes a model, got Auto. Pass fit.model_.$"):
        covote.save_model(fit, tmp_path / "m.npz")
    assert not list(tmp_path.iterdir())
