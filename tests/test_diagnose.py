"""The diagnosis as a whole: annotators, held-out fit, findings, JSON, counts alone, real crowds, the command."""

from __future__ import annotations

import json

import numpy as np
import pytest

from covote.annotations import Annotations, Vocabulary
from covote.cli.app import run
from covote.diagnosis import Severity, diagnose_crowd
from covote.diagnosis.annotators import Kind, random_answer_p
from covote.diagnosis.identifiability import Verdict
from covote.diagnosis.model_fit import model_fit
from covote.diagnosis.overlap import overlap, thin_links
from covote.engines.memory import MemoryEngine
from covote.errors import InputError
from covote.estimators.diagnosed import diagnose
from covote.estimators.registry import make
from covote.methods.dawid_skene import dawid_skene
from covote.methods.multispa import multispa
from covote.model import Model
from covote.simulate import draw


def mixed_model(seed=0, n_classes=3):
    """Six able annotators, two who answer at random, one who always says the same, one who misleads."""
    rng = np.random.default_rng(seed)
    K = n_classes
    able = [_coin(rng.uniform(0.65, 0.9), K) for _ in range(6)]
    noise = [np.repeat(rng.dirichlet(np.full(K, 3.0))[:, None], K, axis=1) for _ in range(2)]
    stuck = np.repeat(np.eye(K)[:, :1], K, axis=1)
    contrary = (1 - np.eye(K)) / (K - 1)
    names = ("a1", "a2", "a3", "a4", "a5", "a6", "noise1", "noise2", "stuck", "contrary")
    return Model(np.full(K, 1 / K), np.stack([*able, *noise, stuck, contrary]), tuple("xyz"[:K]), names)


def _coin(accuracy, n_classes):
    wrong = (1 - accuracy) / (n_classes - 1)
    return wrong + (accuracy - wrong) * np.eye(n_classes)


@pytest.fixture(scope="module")
def crowd():
    return draw(mixed_model(), 600, answering=0.6, seed=1)


@pytest.fixture(scope="module")
def found(crowd):
    return diagnose(crowd.annotations, truth=crowd.truth, intervals=True, replicates=40)


def titles(diagnosis):
    return [f.title for f in diagnosis.findings]


def test_annotators_are_told_apart(found):
    kind = {row.annotator: row.kind for row in found.annotators}
    assert {kind[f"a{m}"] for m in range(1, 7)} == {Kind.GOOD}
    assert kind["noise1"] is Kind.RANDOM
    assert kind["noise2"] is Kind.RANDOM
    assert kind["stuck"] is Kind.RANDOM
    assert kind["contrary"] is Kind.CONTRARY
    rows = {row.annotator: row for row in found.annotators}
    assert rows["stuck"].one_label == "x"
    assert rows["a1"].one_label is None
    assert rows["stuck"].spammer_score.value > 0.9 > rows["a1"].spammer_score.value
    for row in rows.values():
        assert row.accuracy.low <= row.accuracy.value <= row.accuracy.high
        assert row.bits.low <= row.bits.value <= row.bits.high
    assert "1 annotator always gives the same label" in titles(found)
    assert "1 annotator is worse than random" in titles(found)


def test_the_random_answer_test_keeps_its_level():
    values = []
    for seed in range(30):
        drawn = draw(mixed_model(seed), 300, answering=0.5, seed=seed)
        engine = MemoryEngine(drawn.annotations)
        model = dawid_skene(engine, multispa(engine.pair_counts()).model, tol=1e-6).model
        p = random_answer_p(drawn.annotations, model, engine.posterior(model.scores()))
        values += p[6:8].tolist()
        assert np.all(p[:6] < 0.01)
        assert p[8] == 0.5  # one label only: no order of its answers is better than another
        assert p[9] > 0.99
    assert 0.0 <= np.mean(np.array(values) < 0.1) <= 0.25
    assert 0.3 < np.mean(values) < 0.7


def test_dawid_skene_wins_where_it_should_and_only_there():
    # matrices that differ by class: an accuracy each is not enough
    rng = np.random.default_rng(0)
    confusion = np.stack([np.array([[1 - b, c], [b, 1 - c]]) for b, c in rng.uniform(0.02, 0.5, (10, 2))])
    model = Model(np.array([0.5, 0.5]), confusion, (0, 1), tuple(range(10)))
    rich = model_fit(draw(model, 800, answering=0.6, seed=1).annotations)
    assert rich.models[0].model == "dawid-skene"
    assert rich.of("one-coin").behind > 3 * rich.of("one-coin").behind_error
    assert rich.of("label frequencies").behind > rich.of("one-coin").behind
    # everybody alike: nothing is gained
    alike = Model(np.array([0.5, 0.5]), np.stack([_coin(0.7, 2)] * 10), (0, 1), tuple(range(10)))
    poor = model_fit(draw(alike, 800, answering=0.6, seed=1).annotations)
    assert abs(poor.of("majority vote").behind) < 0.03
    assert poor.of("label frequencies").behind > 0.02


def test_held_out_answers_need_items_with_two():
    single = Annotations.from_codes(np.arange(50), np.arange(50) % 3, np.arange(50) % 2)
    assert model_fit(single) is None


def test_the_value_is_plain_and_readable(found, crowd):
    text = json.dumps(found.as_dict())
    back = json.loads(text)
    assert back["verdict"] == found.verdict.value
    assert back["identifiability"]["verdict"] == found.verdict.value
    assert len(back["annotators"]) == 10
    assert back["interval_level"] == 0.9
    assert {f["severity"] for f in back["findings"]} <= {s.value for s in Severity}
    summary = found.summary()
    assert summary.startswith(f"Verdict: {found.verdict.value}. ")
    for f in found.findings:
        assert f.title in summary
    order = [("critical", "warning", "note", "good").index(f.severity.value) for f in found.findings]
    assert order == sorted(order)
    assert found.labels.true_error == pytest.approx(0.1, abs=0.1)
    assert found.labels.low <= found.labels.expected_error <= found.labels.high
    assert found.labels.items_with_truth == crowd.annotations.n_items


def test_the_same_seed_gives_the_same_diagnosis(crowd):
    one, two = (diagnose(crowd.annotations, seed=3).as_dict() for _ in range(2))
    assert one == two


def test_names_and_order_of_annotators_do_not_matter(crowd):
    a = crowd.annotations
    shuffled = a.select(np.random.default_rng(0).permutation(a.n_annotators))
    one, two = diagnose(a), diagnose(shuffled)
    assert one.verdict is two.verdict
    assert one.identifiability.flat_directions == two.identifiability.flat_directions
    assert one.identifiability.from_pairs.prior_width == pytest.approx(
        two.identifiability.from_pairs.prior_width, rel=0.02
    )
    kinds = {r.annotator: r.kind for r in one.annotators}
    assert kinds == {r.annotator: r.kind for r in two.annotators}


def test_counts_alone_are_enough_for_a_diagnosis(crowd):
    counts = MemoryEngine(crowd.annotations).pair_counts()
    found = diagnose(counts)
    assert found.model_fit is None
    assert found.labels is None
    assert found.identifiability.from_answers is None
    assert not found.dependence.calibrated
    assert len(found.annotators) == 10
    assert any(t.endswith("by pair counts alone") for t in titles(found))
    json.dumps(found.as_dict())
    with pytest.raises(InputError, match=r"^Pair counts know no items, so a truth says nothing about them\."):
        diagnose(counts, truth={0: "x"})


def test_fits_of_every_kind_are_taken(crowd):
    estimator = make("mv-ds").fit(crowd.annotations)
    by_estimator = diagnose(crowd.annotations, estimator)
    assert diagnose(estimator).as_dict() == by_estimator.as_dict()
    by_model = diagnose(crowd.annotations, estimator.model_)
    assert by_model.verdict is by_estimator.verdict
    assert diagnose(crowd.annotations, estimator.fit_).verdict is by_estimator.verdict
    assert diagnose(crowd.annotations, make("majority-vote").fit(crowd.annotations)).annotators
    with pytest.raises(InputError, match=r"^fit must be a fitted estimator, a Fit or a Model, got str\.$"):
        diagnose(crowd.annotations, "multispa")


def test_groups_that_share_no_item():
    model = mixed_model()
    a, b = draw(model, 200, answering=0.6, seed=1).annotations, draw(model, 200, answering=0.6, seed=2).annotations
    apart = Annotations.from_codes(
        np.concatenate([a.item, b.item + 200]),
        np.concatenate([a.annotator, b.annotator + 10]),
        np.concatenate([a.label, b.label]),
        annotators=Vocabulary([f"left {n}" for n in model.annotators] + [f"right {n}" for n in model.annotators]),
    )
    found = diagnose(apart)
    assert found.verdict is Verdict.NOT
    assert "The crowd falls into groups that share no item" in titles(found)
    assert [len(c.annotators) for c in found.overlap.components] == [10, 10]
    assert [c.items for c in found.overlap.components] == [199, 200]  # one item has no answer
    assert found.overlap.items_outside == 200


def test_thin_links_are_the_bridges():
    # two triangles of ten shared items a pair, joined by one item that annotators 0 and 3 share
    rows = [(n, m) for n in range(10) for m in (0, 1, 2)] + [(n, m) for n in range(10, 20) for m in (3, 4, 5)]
    rows += [(20, 0), (20, 3)]
    item, annotator = np.array(rows).T
    counts = MemoryEngine(Annotations.from_codes(item, annotator, item % 2)).pair_counts()
    thinnest = thin_links(counts)[0]
    assert (thinnest.first, thinnest.second, thinnest.shared, thinnest.cuts_off) == (0, 3, 1.0, 3)
    graph = overlap(counts)
    assert len(graph.components) == 1
    assert not graph.bipartite
    assert graph.groups.fewest_shared == 10
    assert graph.items_with_one is None


def test_misnamed_classes_are_recognised_with_the_truth(crowd):
    engine = MemoryEngine(crowd.annotations)
    model = dawid_skene(engine, multispa(engine.pair_counts()).model).model
    wrong = model.permuted(np.array([1, 2, 0]))
    found = diagnose_crowd(engine, wrong, truth=crowd.truth)
    assert "The classes are found but misnamed" in titles(found)
    assert found.labels.renamed_error < 0.2 < found.labels.true_error


def test_a_class_that_vanished_is_reported(crowd):
    engine = MemoryEngine(crowd.annotations)
    model = dawid_skene(engine, multispa(engine.pair_counts()).model).model
    lost = Model(np.array([0.5, 0.5, 0.0]), model.confusion, model.classes, model.annotators)
    found = diagnose_crowd(engine, lost)
    assert found.verdict is Verdict.NOT
    assert "Class z has vanished" in titles(found)


@pytest.mark.data
def test_trec_with_762_annotators_is_diagnosed(amt):
    annotations, truth = amt("trec")
    estimator = make("multispa-ds").fit(annotations)
    found = diagnose(estimator, truth=truth)
    assert len(found.annotators) == 762
    assert found.overlap.annotators == 762
    assert found.labels.items_with_truth == 2275
    assert found.identifiability.flat_directions == 1
    json.dumps(found.as_dict())


@pytest.mark.data
def test_language_models_as_judges_are_worth_few_votes(amt):
    from tests.conftest import data_folder

    found = diagnose(str(data_folder() / "dev" / "llm_feedback" / "labels.csv"))
    assert found.dependence.annotators == 14
    assert found.dependence.effective_votes < 7
    assert len(found.dependence.groups[0].annotators) >= 8


@pytest.fixture
def votes_file(tmp_path, crowd):
    a = crowd.annotations
    rows = [
        f"i{i},{a.annotators[int(m)]},{a.classes[int(k)]}" for i, m, k in zip(a.item, a.annotator, a.label, strict=True)
    ]
    path = tmp_path / "votes.csv"
    path.write_text("item,annotator,label\n" + "\n".join(rows) + "\n")
    truth = tmp_path / "truth.csv"
    truth.write_text("item,label\n" + "\n".join(f"i{n},{'xyz'[k]}" for n, k in enumerate(crowd.truth)) + "\n")
    return path, truth


def call(capsys, *arguments):
    import warnings

    with warnings.catch_warnings():
        code = run([str(a) for a in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_command(votes_file, capsys):
    votes, truth = votes_file
    code, out, err = call(capsys, "diagnose", votes, "--truth", truth)
    assert (code, err) == (0, "")
    assert out.startswith("Verdict: identified. The model is pinned down: ")
    assert "stuck: x (" in out
    assert "Independent votes: 10.0 of 10." in out
    code, out, err = call(capsys, "diagnose", votes, "--json", "--intervals", "--replicates", "20")
    assert code == 0
    assert json.loads(out)["interval_level"] == 0.9


def test_the_calculator_as_a_command(votes_file, capsys):
    code, out, err = call(capsys, "diagnose", "--what-if", "--classes", "3")
    assert (code, err) == (0, "")
    assert "Needed with 3 classes, failing at most 5 % of the time" in out
    assert "Theorem 2" in out
    assert "1,707" in out
    code, out, _ = call(capsys, "diagnose", "--what-if", votes_file[0])
    assert code == 0
    assert "votes.csv: 3 classes, 10 annotators, each answers " in out
    code, out, _ = call(capsys, "diagnose", "--what-if", "--classes", "2", "--json")
    assert json.loads(out)[0]["source"] == "Theorem 2"


def test_the_command_says_what_is_missing(capsys, tmp_path):
    assert call(capsys, "diagnose")[2] == (
        "Error: No file given. Pass a file of answers, --counts FILE, or --what-if with --classes.\n"
    )
    assert call(capsys, "diagnose", "--what-if")[2] == "Error: --what-if needs --classes K or a file of answers.\n"
    code, _, err = call(capsys, "diagnose", tmp_path / "none.csv")
    assert code == 2
    assert err.startswith("Error: ")


def test_the_documentation_runs():
    import doctest
    from pathlib import Path

    page = Path(__file__).parent.parent / "docs" / "trust.md"
    outcome = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert outcome.attempted > 20
    assert outcome.failed == 0
