"""The report's diagnosis, intervals, files, notebook view and commands."""

from __future__ import annotations

import json
import re
import warnings

import numpy as np
import pytest

import covote
from covote.cli.app import run
from covote.diagnosis import diagnose_crowd
from covote.errors import FileError, InputError
from covote.estimators.bootstrapped import intervals_of
from covote.estimators.registry import make
from covote.model import Model
from covote.report import trust
from covote.report.charts import charts
from covote.report.collect import Extras, collect
from covote.report.page import page
from covote.report.people import accuracy_range
from covote.report.saved import relabelled
from covote.simulate import draw
from crowds import draw_triples


def crowd(seed=0, *, n_classes=3, n_annotators=8, n_items=150, answering=1.0):
    """A crowd of mixed annotators, the last of whom is a spammer."""
    rng = np.random.default_rng(seed)
    skill = np.append(rng.uniform(0.5, 0.95, n_annotators - 1), 1 / n_classes)
    eye = np.eye(n_classes)
    confusion = np.stack([a * eye + (1 - a) * (1 - eye) / (n_classes - 1) for a in skill])
    names = tuple(f"judge{m}" for m in range(n_annotators))
    prior = np.full(n_classes, 1 / n_classes)
    model = Model(prior, confusion, tuple("abcdefgh"[:n_classes]), names)
    return draw(model, n_items, answering=answering, seed=seed)


@pytest.fixture(scope="module")
def fit():
    return make("multispa-ds").fit(crowd().annotations)


@pytest.fixture(scope="module")
def facts(fit):
    return collect(fit)


def test_the_diagnosis_is_the_librarys(fit, facts):
    d = diagnose_crowd(fit.engine_, fit.model_, scores=fit.fit_.scores)
    found = facts.diagnosis
    assert (found.verdict, found.explanation) == (d.verdict.value, d.explanation)
    assert [(f.severity, f.title, f.evidence, f.advice) for f in found.findings] == [
        (f.severity.value, f.title, f.evidence, f.advice) for f in d.findings
    ]
    assert found.effective_votes == d.dependence.effective_votes
    assert [f.answers for f in found.freedom] == list(
        zip(d.identifiability.from_answers.prior_low, d.identifiability.from_answers.prior_high, strict=True)
    )
    assert [f.share for f in found.freedom] == fit.model_.prior.tolist()
    assert [m.log_likelihood for m in found.held_out] == [m.log_likelihood for m in d.model_fit.models]
    html = page(facts)
    assert all(f'<section id="{name}"' in html for name in ("findings", "dependence", "identifiability"))
    assert {"alike", "freedom", "held-out", "simplex"} <= set(charts(facts))


def test_a_spammer_and_a_copy_are_flagged():
    a = crowd(1, n_annotators=7, n_items=300).annotations
    triples = [(n, f"judge{m}", "abc"[k]) for n, m, k in zip(a.item, a.annotator, a.label, strict=True)]
    triples += [(n, "copy", label) for n, who, label in triples if who == "judge0"]
    triples += [(n, "stubborn", "a") for n in range(300)]
    facts = collect(make("multispa-ds").fit(triples))
    flags = {row.annotator: row.flags for row in facts.annotators}
    assert "always says a" in flags["stubborn"]
    assert "answers like judge0" in flags["copy"]
    assert "no better than random" in flags["judge6"]
    assert "answers like judge0" in page(facts)


def test_share_intervals_are_the_bootstraps(fit, facts):
    assert trust.replicates_for(fit) == 200
    found = intervals_of(fit, replicates=200)
    ends = dict(zip(fit.classes_, zip(found.class_shares.low, found.class_shares.high, strict=True), strict=True))
    for c in facts.classes:
        assert (c.share.low, c.share.high) == pytest.approx(ends[c.label])
    assert facts.outcome.expected_error.high == pytest.approx(float(found.error.high))
    assert facts.share_intervals == "200 refits on resampled items"


def test_a_fit_that_averages_models_is_reported_by_its_own_labels():
    drawn = crowd(3, n_items=120)
    fit = make("auto").fit(drawn.annotations)
    facts = collect(fit, extras=Extras(truth=drawn.truth))
    assert facts.outcome.expected_error.value == pytest.approx(1 - fit.confidence_.mean())
    assert facts.convergence.explanation == tuple(fit.explanation_.explain())
    shares = dict(zip(fit.classes_, fit.posterior_.mean(axis=0), strict=True))
    assert {c.label: c.share.value for c in facts.classes} == pytest.approx(shares)
    assert all(c.share.low < c.share.value < c.share.high for c in facts.classes)
    said = next(f.evidence for f in facts.diagnosis.findings if "of the labels are wrong" in f.evidence)
    assert said.startswith(f"If the model is right, {100 * facts.outcome.expected_error.value:.1f} % of")
    assert "How the method chose:" in page(facts)


def test_without_a_model_shares_have_the_spread_of_the_posterior():
    fit = make("majority-vote").fit(crowd().annotations)
    facts = collect(fit)
    assert facts.share_intervals == "the model taken as known"
    p = fit.posterior_
    for c in facts.classes:
        k = fit.classes_.index(c.label)
        half = 1.6448536269514722 * np.sqrt((p[:, k] * (1 - p[:, k])).sum()) / len(p)
        assert c.share.high - c.share.value == pytest.approx(half)


def test_accuracy_intervals_cover_the_truth():
    inside = total = 0
    for seed in range(6):
        drawn = crowd(seed, n_items=200)
        facts = collect(make("multispa-ds").fit(drawn.annotations), extras=Extras(deep=False))
        truth = dict(zip(drawn.model.annotators, drawn.model.accuracy, strict=True))
        inside += sum(a.accuracy.low <= truth[a.annotator] <= a.accuracy.high for a in facts.annotators)
        total += len(facts.annotators)
    assert inside / total > 0.75  # nominal 0.9, less since the labels are themselves uncertain
    ends = accuracy_range(0.3, 50)
    assert ends.low < 0.3 < ends.high
    assert (accuracy_range(1.0, 10).high, accuracy_range(0.0, 10).low) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("triples", "sentence"),
    [
        ([(i, f"a{i}", i % 2) for i in range(8)], "No two annotators answered the same item"),
        ([(i, f"a{m}", (i + m) % 34) for i in range(40) for m in range(3)], "takes minutes and is left out"),
    ],
)
def test_where_there_is_no_diagnosis_the_page_says_why(triples, sentence):
    facts = collect(make("majority-vote").fit(triples))
    assert facts.diagnosis is None
    assert sentence in facts.left_out["diagnosis"]
    assert sentence in page(facts)


def test_the_plan_is_the_librarys(fit, facts):
    assert facts.plan.assignments == ()
    assert "Everybody has answered everything" in page(facts)
    fit = make("multispa-ds").fit(crowd(answering=0.6).annotations)
    facts, found = collect(fit), covote.plan(fit, budget=60, fit=fit)
    assert len(found) == 60
    assert [(a.item, a.annotator, a.reason) for a in facts.plan.assignments] == [
        (a.item, a.annotator, a.reason) for a in found.assignments
    ]
    assert sum(n for _, n in facts.plan.aims) == len(facts.plan.assignments)
    assert '<section id="plan"' in page(facts)
    assert collect(fit, extras=Extras(budget=0)).plan is None


# ---- files, notebook, commands


def test_fit_report_writes_page_and_figures(fit, tmp_path):
    made = fit.report(tmp_path / "deep" / "r.html", figures=tmp_path / "figures", title="<Ours>")
    assert "<h1><bdi>&lt;Ours&gt;</bdi></h1>" in (tmp_path / "deep" / "r.html").read_text()
    names = {p.name for p in (tmp_path / "figures").iterdir()}
    assert names == {f"{c}.{kind}" for c in charts(made.facts) for kind in ("svg", "png")}
    assert set(made.files) == {tmp_path / "deep" / "r.html", *(tmp_path / "figures" / n for n in names)}
    for name in names:
        content = (tmp_path / "figures" / name).read_bytes()
        assert content.startswith(b"<svg" if name.endswith("svg") else b"\x89PNG")
        assert b"var(--" not in content
    assert repr(made).startswith("Report(files=(")
    assert len(repr(made)) < 4000


def test_a_place_that_cannot_be_written_is_one_sentence(fit, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        FileError, match=r"^Cannot write to .*/file/r\.html: .*\. Choose a place that can be written\.$"
    ):
        fit.report(tmp_path / "file" / "r.html")


def test_a_notebook_shows_a_compact_report(fit):
    html = fit._repr_html_()
    assert len(html) < 20_000
    assert "<script" not in html
    assert "1,200 answers of 8 annotators on 150 items give" in html
    assert html.count("<table>") >= 2
    assert covote.MajorityVote()._repr_html_().startswith("<code>MajorityVote(")
    hostile = make("majority-vote").fit([("<b>x", "<i>y", 1), ("<b>x", "z", 0), ("w", "z", 1)])._repr_html_()
    assert "<b>x" not in hostile
    assert "&lt;b&gt;x" in hostile


def test_a_saved_model_labels_as_the_fit_did(fit):
    a = fit.loaded_.annotations
    triples = [
        (a.items[n], a.annotators[m], a.classes[k]) for n, m, k in zip(a.item, a.annotator, a.label, strict=True)
    ]
    again = relabelled(fit.model_, triples)
    np.testing.assert_allclose(again.posterior_, fit.posterior_, atol=1e-6)
    with pytest.warns(covote.errors.CrowdWarning, match="does not know 1 annotators"):
        silent = relabelled(fit.model_, [("x", "judge0", "a"), ("x", "stranger", "b")])
    facts = collect(silent)
    assert [row.annotator for row in facts.annotators] == ["judge0"]
    assert facts.left_out["annotators"] == "7 annotators of the model gave no answer here and are left out."


@pytest.fixture
def command(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        with warnings.catch_warnings():
            code = run(list(arguments))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_commands(command, tmp_path):
    rows = draw_triples(4, n_items=40)
    (tmp_path / "votes.csv").write_text(
        "item,annotator,label\n" + "".join(f"{i},{a},{label}\n" for i, a, label in rows)
    )
    truth = {i: label for i, _, label in rows}
    (tmp_path / "truth.csv").write_text("item,label\n" + "".join(f"{i},{label}\n" for i, label in truth.items()))
    code, out, err = command("aggregate", "votes.csv", "--report", "r.html", "--truth", "truth.csv", "-o", "out")
    assert (code, err) == (0, "")
    assert "r.html" in out
    html = (tmp_path / "r.html").read_text()
    assert "What the crowd said: votes.csv" in html
    assert 'id="chart-calibration"' in html
    compared = ("--compare", "majority-vote,mv-ds")
    code, out, err = command("report", "out/model.npz", "votes.csv", "-o", "s.html", "--json", *compared)
    assert (code, err) == (0, "")
    assert {m["method"] for m in json.loads(out)["comparison"]} == {"majority-vote", "mv-ds"}
    html = (tmp_path / "s.html").read_text()
    assert 'id="chart-comparison"' in html
    assert "Aggregated by the model model.npz" in html
    code, _, err = command("aggregate", "votes.csv", "--report", "disk.html", "--engine", "disk")
    assert (code, err) == (0, "")
    assert "chart-" in (tmp_path / "disk.html").read_text()
    code, _, err = command("report", "votes.csv", "votes.csv")
    assert (code, err) == (
        2,
        "Error: The file votes.csv cannot be read as a covote model: it is damaged or of another kind.\n",
    )


@pytest.mark.data
@pytest.mark.slow
def test_trec_has_a_small_page(amt, tmp_path):
    annotations, truth = amt("trec")
    fit = make("multispa-ds").fit(annotations)
    made = fit.report(tmp_path / "trec.html", truth=truth)
    size = (tmp_path / "trec.html").stat().st_size
    assert size < 5_000_000
    assert len(made.facts.annotators) == 762
    assert made.facts.overlap.components == 3
    assert re.search(r"measured on 2,275 true labels: 2\d\.\d %", made.facts.outcome.sentences[2])


def test_a_wrong_truth_is_one_sentence(fit, tmp_path):
    with pytest.raises(InputError, match="shares no item with the annotations"):
        fit.report(tmp_path / "r.html", truth={"nowhere": "a"})
