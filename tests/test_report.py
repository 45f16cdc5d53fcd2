"""The facts of a report equal what the library says, and the page shows nothing else."""

from __future__ import annotations

import dataclasses
import json
import re

import numpy as np
import pytest

from covote.annotations import load
from covote.errors import MissingExtraError
from covote.estimators.compare import compare
from covote.estimators.registry import make
from covote.estimators.summary import UNCERTAIN, summarise
from covote.report import draw
from covote.report.charts import charts
from covote.report.page import page
from covote.score import calibration_error, error_rate
from crowds import draw_triples
from pages import Outline, collect, fitted

NUMBER = r"\d+(?:[,.]\d+)*(?:e[-+]?\d+)?"


def all_answers(triples):
    said = {}
    for item, who, label in triples:
        said.setdefault(item, {}).setdefault(label, set()).add(who)
    return said


# ---- facts against the library


def test_shares_and_confidence_are_the_posterior():
    fit = fitted()
    facts = collect(fit)
    mean = dict(zip(fit.loaded_.annotations.classes, fit.posterior_.mean(axis=0), strict=True))
    assert {c.label: c.share.value for c in facts.classes} == pytest.approx(mean)
    assert sum(c.items for c in facts.classes) == facts.outcome.items == 60
    assert sum(b.items for b in facts.confidence) == 60
    assert sum(b.expected_wrong for b in facts.confidence) / 60 == pytest.approx(facts.outcome.expected_error.value)
    for b in facts.confidence:
        inside = (fit.confidence_ >= b.low - 1e-9) & ((fit.confidence_ < b.high - 1e-9) | (b.high == 1))
        assert b.items == inside.sum()


def test_doubts_are_the_least_certain_items_with_everything_said_about_them():
    triples = draw_triples(5, n_items=80, share=0.5)
    fit = fitted(triples)
    facts, said = collect(fit), all_answers(triples)
    certainty = [d.confidence for d in facts.doubts]
    assert certainty == sorted(certainty)
    assert certainty == pytest.approx(np.sort(fit.confidence_[fit.confidence_ < UNCERTAIN]))
    labels, accuracy = fit.labels_, {f.annotator: f.accuracy for f in summarise(fit, "").annotators}
    for d in facts.doubts:
        assert d.label == labels[d.item]
        assert {v.label: set(v.annotators) for v in d.votes} == said[d.item]
        assert all(v.accuracies == tuple(accuracy[a] for a in v.annotators) for v in d.votes)


def test_annotators_matrices_and_overlap_are_the_models():
    triples = draw_triples(7, n_items=70)
    fit = fitted(triples)
    facts, model = collect(fit), fit.model_
    known = {f.annotator: f for f in summarise(fit, "").annotators}
    bits = [a.bits for a in facts.annotators]
    assert bits == sorted(bits, reverse=True)
    assert len(facts.annotators) == len(known)
    for a in facts.annotators:
        assert (a.answers, a.accuracy.value, a.bits) == (
            known[a.annotator].answers,
            known[a.annotator].accuracy,
            known[a.annotator].bits,
        )
        np.testing.assert_allclose(a.confusion, fit.errors_[a.annotator], atol=5e-5)
    assert facts.matrices.names == model.classes
    weight = np.array([known[a].answers for a in model.annotators], float)
    np.testing.assert_allclose(
        facts.matrices.crowd, np.einsum("m,mij->ij", weight / weight.sum(), model.confusion), atol=5e-5
    )
    said = {}
    for item, who, label in triples:
        said.setdefault(who, {})[item] = label
    assert len(facts.overlap.pairs) == 15
    for p in facts.overlap.pairs:
        both = said[p.first].keys() & said[p.second].keys()
        assert p.shared == len(both)
        assert p.agreed == pytest.approx(np.mean([said[p.first][i] == said[p.second][i] for i in both]))


def test_rows_of_three_classes_are_rows_of_the_confusions_on_the_simplex():
    fit = fitted()
    facts = collect(fit)
    assert len(facts.rows) == 3 * len(facts.annotators)
    for row in facts.rows:
        own = fit.errors_[row.annotator][fit.model_.classes.index(row.label)]
        assert row.point == pytest.approx(own / own.sum())
    assert collect(fitted(draw_triples(1, classes=("x", "y")))).rows == ()


def test_truth_gives_error_and_calibration():
    fit = fitted()
    truth = np.random.default_rng(0).integers(-1, 3, 60)
    facts = collect(fit, truth=truth)
    assert facts.outcome.error.value == error_rate(fit.posterior_, truth)
    assert facts.outcome.truth_items == (truth >= 0).sum() == sum(b.truth_items for b in facts.confidence)
    assert facts.calibration_error == calibration_error(fit.posterior_, truth)
    right = sum(b.accuracy.value * b.truth_items for b in facts.confidence if b.accuracy is not None)
    assert 1 - right / facts.outcome.truth_items == pytest.approx(facts.outcome.error.value)


def test_many_classes_are_merged_by_adding_labels_and_averaging_classes():
    rng = np.random.default_rng(0)
    classes = [f"c{k:02}" for k in range(30)]
    triples = [(i, f"a{m}", classes[min(29, int(rng.exponential(6)))]) for i in range(400) for m in range(5)]
    fit = fitted(triples, "mv-ds")
    facts = collect(fit)
    assert len(facts.matrices.names) == 13
    assert facts.matrices.merged == 18
    assert facts.left_out["matrix_classes"] == "The 18 smaller classes are merged into “others”."
    np.testing.assert_allclose(np.sum(facts.matrices.crowd, axis=0), 1, atol=1e-3)
    kept = [classes.index(n) for n in facts.matrices.names[:-1]]
    others = np.setdiff1d(np.arange(30), kept)
    first = facts.annotators[0]
    own, prior = fit.errors_[first.annotator], fit.model_.prior
    np.testing.assert_allclose(np.array(first.confusion)[:-1, :-1], own[np.ix_(kept, kept)], atol=5e-5)
    corner = own[np.ix_(others, others)].sum(axis=0) @ prior[others] / prior[others].sum()
    assert first.confusion[-1][-1] == pytest.approx(corner, abs=5e-5)


def test_order_of_rows_and_names_of_annotators_do_not_matter():
    triples = draw_triples(9)
    facts = collect(fitted(triples)).as_dict()
    shuffled = [triples[i] for i in np.random.default_rng(1).permutation(len(triples))]
    other = collect(fitted(shuffled)).as_dict()
    for part in ("confidence", "classes", "matrices"):
        assert json.dumps(other[part])[:40] == json.dumps(facts[part])[:40]
    renamed = collect(fitted([(i, f"new-{a}", label) for i, a, label in triples]))
    assert [f"new-{a['annotator']}" for a in facts["annotators"]] == [a.annotator for a in renamed.annotators]


# ---- facts and page


def test_json_is_valid_and_holds_every_number_of_the_page():
    triples = draw_triples(3, n_items=60)
    loaded = load(triples)
    truth = np.random.default_rng(0).integers(0, 3, 60)
    trials = compare(loaded, truth=truth, methods=["majority-vote", "mv-ds"])
    facts = collect(make("multispa-ds").fit(loaded), "multispa-ds", truth=truth, comparison=trials, deep=True)
    text = facts.as_json()
    values = json.loads(text)
    known = set(re.findall(NUMBER, " ".join(_texts(values))))
    for v in _numbers(values):
        known |= {f"{v:,.0f}", f"{abs(v):,.6f}", f"{v:.2f}", f"{v:.1f}", f"{abs(v):.3g}", f"{v:g}"}
        known |= {f"{100 * v:.1f}", f"{100 * v:.0f}"}
    known |= {"90", "100"}  # the level of intervals and the sum of a column, in sentences
    words = " ".join(Outline(page(facts)).words)
    numbers = set(re.findall(NUMBER, words))
    assert len(numbers) > 150
    assert sorted(numbers - known) == []


def _numbers(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [n for v in value for n in _numbers(v)]
    return [value] if isinstance(value, (int, float)) and not isinstance(value, bool) else []


def _texts(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [t for v in value for t in _texts(v)]
    return [value] if isinstance(value, str) else []


def test_the_page_asks_for_nothing_from_anywhere():
    html = page(collect(fitted()))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)[1]
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")
    addresses = set(re.findall(r"[a-z]+://[^\s\"'<>)]+", html))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}  # names of namespaces
    assert not re.search(r"<(link|img|iframe|object|embed|base)\b|url\(|@import|\bsrc=", html)


def test_every_section_is_in_the_contents_and_every_chart_has_its_table():
    facts = collect(fitted())
    html, made = page(facts), charts(facts)
    sections = re.findall(r'<section id="([a-z]+)"', html)
    assert re.findall(r'<a href="#([a-z]+)">', html) == sections
    assert set(made) == {
        "classes",
        "confidence",
        "annotators",
        "confusion",
        "overlap",
        "answers",
        "simplex",
        "convergence",
    }
    for name, chart in made.items():
        part = html[html.index(f'id="chart-{name}"') :]
        part = part[: part.index("</figure>")]
        assert part.count("<svg") == 2
        assert len(re.findall(r"<tr>", part)) == 1 + len(chart.table.rows)
        assert chart.title
        assert all(len(row) == len(chart.table.head) for row in chart.table.rows)


def test_charts_are_valid_vega_lite():
    alt = pytest.importorskip("altair")
    truth = np.zeros(60, np.int64)
    facts = [collect(fitted(), truth=truth), collect(fitted(draw_triples(1, classes=("x", "y"))))]
    for chart in [c for f in facts for c in charts(f).values()]:
        for width in (draw.WIDE, draw.NARROW):
            spec = chart.spec(width)
            alt.LayerChart.from_dict(spec, validate=True)
            titles = [e["axis"]["title"] for e in spec["layer"][-1]["encoding"].values() if e.get("axis")]
            assert all(titles)


# ---- sizes


@pytest.mark.parametrize(
    "triples", [[("x", "ann", "yes")], [("x", "ann", "yes"), ("y", "bob", "no")], [(i, "ann", i % 2) for i in range(5)]]
)
def test_the_smallest_crowds_have_a_page(triples):
    for method in ("majority-vote", "mv-ds"):
        facts = collect(fitted(triples, method))
        assert json.loads(facts.as_json())["outcome"]["answers"] == len(triples)
        assert "</html>" in page(facts)


@pytest.mark.slow
def test_a_huge_crowd_has_a_small_page_that_says_what_it_leaves_out():
    rng = np.random.default_rng(0)
    n_items, n_annotators, n_classes = 30_000, 20_000, 15
    item = np.repeat(np.arange(n_items), 3)
    who = (rng.integers(n_annotators, size=(n_items, 1)) + np.array([0, 7, 20])).ravel() % n_annotators
    label = rng.integers(n_classes, size=3 * n_items)
    from covote.annotations import Annotations, Vocabulary

    names = Vocabulary([f"annotator with a rather long name, number {m}" for m in range(n_annotators)])
    classes = Vocabulary([f"class {k}" for k in range(n_classes)])
    a = Annotations.from_codes(
        item, who, label, items=Vocabulary(np.arange(n_items)), annotators=names, classes=classes
    )
    facts = collect(make("majority-vote").fit(a))
    html = page(facts).encode()
    assert len(html) < 5_000_000
    assert len(facts.annotators) == 1000
    assert len(facts.doubts) == 200
    assert facts.left_out["annotators"] == (
        "The 1,000 annotators with most answers, of 20,000; the table of annotators has all of them."
    )
    assert set(facts.left_out) == {"doubts", "annotators", "matrices", "matrix_classes", "overlap"}
    shown_sentences = " ".join(Outline(html.decode()).words)
    assert all(sentence in shown_sentences for sentence in facts.left_out.values())


# ---- without the drawing library


def test_without_vl_convert_tables_stand_in_for_charts(monkeypatch, tmp_path):
    monkeypatch.setattr("covote.report.draw.find_spec", lambda _: None)
    fit = fitted()
    fit.report(tmp_path / "r.html")
    html = (tmp_path / "r.html").read_text()
    assert "<svg" not in html
    assert "Charts need the package vl-convert-python: pip install &#x27;covote[report]&#x27;." in html
    assert html.count("<figure") == len(charts(collect(fit, deep=True)))
    with pytest.raises(
        MissingExtraError, match=r"^Charts need the package vl-convert-python: pip install 'covote\[report\]'\.$"
    ):
        fit.report(tmp_path / "r.html", figures=tmp_path / "figures")
    assert not (tmp_path / "figures").exists()


def test_a_drawing_with_foreign_elements_is_refused():
    with pytest.raises(ValueError, match="holds the element 'script'"):
        draw.checked("<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>")
    with pytest.raises(ValueError, match="holds the element 'text'"):
        draw.checked("<svg xmlns='http://www.w3.org/2000/svg'><text onclick='1'>a</text></svg>")


def test_facts_are_frozen_values():
    facts = collect(fitted())
    with pytest.raises(dataclasses.FrozenInstanceError):
        facts.outcome = None
