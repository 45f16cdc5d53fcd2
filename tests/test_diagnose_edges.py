"""The diagnosis at the edges: crowds with nothing to compare get a verdict all the same, many classes get it soon."""

from __future__ import annotations

import json

import numpy as np
import pytest

from covote.annotations import Annotations
from covote.cli.app import run
from covote.diagnosis.annotators import Kind
from covote.diagnosis.flatness import flat_space
from covote.diagnosis.freedom import freedom
from covote.diagnosis.identifiability import Verdict
from covote.diagnosis.rotations import rotation_space, too_many_classes
from covote.engines.memory import MemoryEngine
from covote.estimators.diagnosed import diagnose
from covote.model import Model, columns
from covote.simulate import draw

ONE_LABEL = "every answer is the same label, so nothing tells classes or annotators apart"
EDGES = {
    "one annotator": (
        [(i, "a", "xy"[i % 2]) for i in range(30)],
        "one annotator answered, and there is nobody to compare it with",
    ),
    "two annotators": (
        [(i, a, "xy"[i % 2]) for i in range(30) for a in "ab"],
        "two annotators can disagree, and nobody can say who is right",
    ),
    "every item once": (
        [(i, i % 7, "xyz"[i * i % 3]) for i in range(70)],
        "no two annotators share an item, so nobody can be compared with anybody",
    ),
    "one item": ([(0, a, "xy"[a % 2]) for a in range(5)], "one item is too few to learn 2 classes from"),
    "one label": ([(i, a, "x") for i in range(20) for a in range(4)], ONE_LABEL),
    "one answer": ([(0, "a", "x")], ONE_LABEL),
    "camps": (
        [(i, a, "xy"[i % 2]) for i in range(40) for a in ("b", "a" if i < 20 else "c")],
        "the annotators form two camps, and no two of the same camp share an item",
    ),
    "a slip": (
        [(i, a, "z" if i == a == 0 else "xy"[i % 2]) for i in range(30) for a in range(5)],
        "the fit leaves a class without items",
    ),
}


@pytest.mark.parametrize("name", EDGES)
@pytest.mark.parametrize("source", ["answers", "counts", "intervals"])
def test_every_crowd_gets_a_verdict_that_says_why(name, source):
    votes, reason = EDGES[name]
    if source == "counts":
        item, annotator, label = (np.unique(column, return_inverse=True)[1] for column in zip(*votes, strict=True))
        found = diagnose(MemoryEngine(Annotations.from_codes(item, annotator, label)).pair_counts())
    else:
        found = diagnose(votes, intervals=source == "intervals", replicates=6)
    assert found.verdict is Verdict.NOT
    if source != "counts" or name != "a slip":  # MultiSPA-KL may keep the class of a slip
        assert found.explanation == f"No model can be trusted as it stands: {reason}."
    assert found.findings[0].severity.value == "critical"
    assert found.dependence.groups == ()
    json.dumps(found.as_dict(), allow_nan=False)
    assert found.summary().startswith("Verdict: not identified. ")


def test_who_was_compared_with_nobody_is_not_called_random():
    votes = [(i, a, "xy"[i % 2]) for i in range(60) for a in range(4)]
    votes += [(100 + i, "alone", "xy"[i % 2]) for i in range(30)]
    found = diagnose(votes)
    kind = {row.annotator: row.kind for row in found.annotators}
    assert kind["alone"] is Kind.ALONE
    assert kind[0] is Kind.GOOD
    told = next(f for f in found.findings if f.title == "1 annotator was compared with nobody")
    assert told.evidence.startswith("alone: ")


def crowd_of(n_classes, n_annotators, n_items, labels, seed=0, right=0.7):
    rng = np.random.default_rng(seed)
    confusion = columns(rng.random((n_annotators, n_classes, n_classes)) + n_classes * right * np.eye(n_classes))
    model = Model(
        rng.dirichlet(np.full(n_classes, 20.0)), confusion, tuple(range(n_classes)), tuple(range(n_annotators))
    )
    return model, draw(model, n_items, answering=labels / n_annotators, seed=seed).annotations


def as_rows(space, n):
    return np.concatenate([space.prior, space.confusion.reshape(len(space.prior), -1)], axis=1)[:n]


def test_turns_of_two_classes_span_the_flat_directions_of_the_jacobian():
    model, annotations = crowd_of(4, 8, 3000, 6)
    counts = MemoryEngine(annotations).pair_counts()
    answers = counts.label_counts.sum(axis=1)
    by_jacobian, by_turns = flat_space(counts, model), rotation_space(counts, model, answers)
    assert by_turns.n_flat == by_jacobian.n_flat == 6
    assert np.array_equal(by_turns.core, by_jacobian.core)
    null, turns = as_rows(by_jacobian, 6), as_rows(by_turns, 6)
    outside = turns - turns @ np.linalg.pinv(null) @ null
    assert np.linalg.norm(outside, axis=1).max() < 1e-5
    assert np.linalg.matrix_rank(turns, tol=1e-6) == 6
    # and the shares are found free alike: exactly by linear programmes in both
    wide = [freedom(space, model, answers).prior_width for space in (by_jacobian, by_turns)]
    assert wide[1] == pytest.approx(wide[0], abs=0.02)


def test_the_turns_that_go_furthest_are_followed():
    model, annotations = crowd_of(12, 10, 800, 5)
    blurred = model.confusion.copy()
    blurred[:, :, 1] = 0.6 * blurred[:, :, 1] + 0.4 * blurred[:, :, 0]  # classes 0 and 1 are easily mixed up
    model = Model(model.prior, columns(blurred), model.classes, model.annotators)
    counts = MemoryEngine(annotations).pair_counts()
    space = rotation_space(counts, model, np.full(10, 1e9), most=5)
    assert len(space.prior) == 5
    pairs = [tuple(np.flatnonzero(np.abs(row) > 1e-9)) for row in space.prior]
    assert (0, 1) in pairs
    assert np.allclose((as_rows(space, 5) ** 2).sum(axis=1), 1)


def test_thirty_classes_are_diagnosed_and_what_is_left_out_is_said():
    assert [too_many_classes(k) for k in (2, 12, 13, 30)] == [False, False, True, True]
    _, annotations = crowd_of(30, 40, 400, 5, right=3.0)
    found = diagnose(annotations)
    i = found.identifiability
    assert i.broken == ""
    assert i.flat_directions == i.unavoidable == 435
    assert i.core == 40
    assert i.left_out == (
        "with 30 classes only the 40 pairs of classes that blend most easily were followed, for all annotators; "
        "other flat directions were not looked for"
    )
    assert "Left out: with 30 classes" in found.summary()
    assert found.dependence.groups == ()  # few answers a class are no sign of copying


def test_a_diagnosis_is_written_to_a_file(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "votes.csv").write_text("item,annotator,label\n1,a,x\n1,b,x\n2,a,y\n")
    assert run(["diagnose", "votes.csv", "-o", "out.json"]) == 0
    assert capsys.readouterr().out.endswith("Written: out.json\n")
    assert json.loads((tmp_path / "out.json").read_text())["verdict"] == "not identified"
    assert run(["diagnose", "votes.csv", "-o", "out.txt"]) == 0
    assert (tmp_path / "out.txt").read_text().startswith("Verdict: not identified. ")
    capsys.readouterr()
    assert run(["diagnose", "votes.csv", "--counts", "c.npz"]) == 2
    assert capsys.readouterr().err == "Error: Both --counts c.npz and votes.csv were given. Pass one of them.\n"
    assert run(["diagnose", "--what-if", "--classes", "3", "--answering", "0"]) == 2
    assert capsys.readouterr().err == "Error: answering is 0, and must be above 0 and at most 1.\n"
