"""Coefficients of agreement: rivals' numbers, the slow obvious version, laws, intervals that cover, odd tables."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests import naive_agreement as naive
from tests.agreement_tables import draw_table, triples
from tests.conftest import data_folder

import covote
from covote.agreements.pairs import cohen_kappa
from covote.agreements.tally import MOST, tally, together
from covote.annotations import Annotations
from covote.errors import InputError

RIVALS = json.loads((Path(__file__).parent / "agreement_rivals.json").read_text())
WEIGHTS = ("identity", "linear", "quadratic")


def near(a, b):
    return a == pytest.approx(b, abs=1e-9)


def root(a, b):
    return abs(a - b) ** 0.5


@pytest.mark.parametrize("number", range(30))
def test_equal_to_irrcac_and_krippendorff(number):
    answers, rival = triples(draw_table(number)), RIVALS[number]
    plain = covote.agreement(answers, draws=2)
    assert near(plain["percent"], rival["identity"]["percent"])
    assert near(plain["fleiss"], rival["identity"]["fleiss"])
    assert near(plain["ac1"], rival["identity"]["gwet"])
    assert near(plain["alpha"], rival["identity"]["krippendorff"])
    for weights in WEIGHTS:
        found = covote.agreement(answers, scale="interval", weights=weights, draws=2)
        pair = next(
            p for p in range(len(found.pairs)) if {found.pairs.first[p], found.pairs.second[p]} == {0, 1}
        )  # fmt: skip
        assert near(found.pairs.kappa[pair], rival[weights]["cohen"])
        if weights != "identity":
            assert near(found["weighted_percent"], rival[weights]["percent"])
            assert near(found["weighted_fleiss"], rival[weights]["fleiss"])
            assert near(found["ac2"], rival[weights]["gwet"])
    assert near(found["alpha"], rival["quadratic"]["krippendorff"])
    for scale, value in rival["alpha"].items():
        chosen = root if scale == "root" else scale
        assert near(covote.agreement(answers, scale=chosen, draws=2)["alpha"], value)


@pytest.mark.parametrize("number", range(0, 30, 4))
def test_equal_to_the_slow_version(number):
    answers = triples(draw_table(number))
    items = naive.answers_by_item(answers)
    classes = sorted({label for _, _, label in answers})
    span = max(classes) - min(classes)

    def same(a, b):
        return float(a == b)

    def linear(a, b):
        return 1 - abs(a - b) / span

    found = covote.agreement(answers, scale="ordinal", weights="linear", draws=2)
    assert near(found["percent"], naive.percent(items, same))
    assert near(found["fleiss"], naive.fleiss(items, classes, same))
    assert near(found["ac1"], naive.gwet(items, classes, same))
    assert near(found["weighted_fleiss"], naive.fleiss(items, classes, linear))
    assert near(found["ac2"], naive.gwet(items, classes, linear))
    assert near(found["alpha"], naive.alpha(items, naive.ordinal_distance(items, classes)))
    for p in range(len(found.pairs)):
        first, second = found.pairs.first[p], found.pairs.second[p]
        if np.isfinite(found.pairs.kappa[p]):
            assert near(found.pairs.kappa[p], naive.cohen(answers, first, second, linear))
    for m, name in enumerate(found.annotators.annotator):
        if np.isfinite(found.annotators.kappa[m]):
            assert near(found.annotators.kappa[m], naive.against_others(answers, name, linear))
    for c in found.classes:
        binary = [[label == c.label for label in labels] for labels in items]
        if np.isfinite(c.alpha):
            assert near(c.alpha, naive.alpha(binary, lambda a, b: float(a != b)))


@pytest.mark.data
def test_prodigy_export():
    """The published figures: alpha on all 593 items, Fleiss and AC1 on the 590 that all three answered."""
    path = data_folder() / "exports" / "prodigy_presto_distortion.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    answers = [
        (r["_input_hash"], r["_annotator_id"], r["accept"][0]) for r in rows if r["answer"] == "accept" and r["accept"]
    ]
    found = covote.agreement(answers)
    assert (found.items, found.answers) == (593, 1776)
    assert round(found["alpha"], 3) == 0.683
    sizes = {item: sum(1 for i, _, _ in answers if i == item) for item in {i for i, _, _ in answers}}
    full = covote.agreement([row for row in answers if sizes[row[0]] == 3])
    assert full.items == 590
    assert (round(full["fleiss"], 3), round(full["ac1"], 3)) == (0.681, 0.699)


def crowd(seed, n_items, *, people=8, classes=4, share=0.5, skill=0.75):
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=n_items)
    right = rng.random((n_items, people)) < skill
    table = np.where(right, truth[:, None], rng.integers(classes, size=(n_items, people)))
    return np.where(rng.random((n_items, people)) < share, table, -1)


def test_many_items_give_what_parts_give():
    """Few items are counted as they are, many as patterns by compiled code, very many patterns in groups."""
    table = crowd(0, 6000)
    whole = covote.load(table).annotations
    assert tally(whole).counts.shape[0] < MOST < whole.n_items
    rows = [Annotations.from_codes(*np.nonzero(part >= 0), part[part >= 0]) for part in np.array_split(table, 2)]
    both = together([tally(part) for part in rows])
    found = covote.agreement(whole)
    items = [[int(x) for x in row if x >= 0] for row in table]
    items = [labels for labels in items if labels]
    assert near(found["fleiss"], naive.fleiss(items, range(4), lambda a, b: float(a == b)))
    assert both.weight @ both.answers == whole.n_labels
    short = covote.agreement(table[:3000])
    compiled = covote.agreement(np.concatenate([table[:3000]] * 2))  # the same crowd twice: compiled sums
    assert np.allclose(short.annotators.kappa, compiled.annotators.kappa)
    assert near(short["fleiss"], compiled["fleiss"])


def test_groups_of_items_give_the_same_intervals():
    table = crowd(1, 20_000, people=12, classes=9, share=0.9)
    assert tally(covote.load(table).annotations).counts.shape[0] > MOST
    wide = covote.agreement(table[:4000]).coefficient("alpha")
    narrow = covote.agreement(table).coefficient("alpha")
    assert (wide.high - wide.low) / (narrow.high - narrow.low) == pytest.approx(5**0.5, rel=0.25)


def test_names_orders_and_seeds_do_not_matter():
    answers = triples(draw_table(6))
    found = covote.agreement(answers)
    again = covote.agreement(answers[::-1], duplicates="first")
    assert near(found["alpha"], again["alpha"])
    assert covote.agreement(answers) .as_dict() == found.as_dict()  # fmt: skip
    renamed = covote.agreement([(f"i{i}", f"m{m}", f"class {k}") for i, m, k in answers])
    assert near(found["alpha"], renamed["alpha"])
    assert near(found["ac1"], renamed["ac1"])


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["nominal", "ordinal"])
@pytest.mark.parametrize("n_items", [40, 200])
def test_intervals_cover(scale, n_items):
    """90 % intervals of alpha hold the alpha of the population the items come from."""
    truth = covote.agreement(crowd(99, 200_000, people=5, share=0.8), scale=scale, pairs=False, draws=2)["alpha"]
    held = 0
    for seed in range(200):
        c = covote.agreement(crowd(seed, n_items, people=5, share=0.8), scale=scale, pairs=False).coefficient("alpha")
        held += c.low <= truth <= c.high
    assert 0.84 <= held / 200 <= 0.96


def test_error_of_cohens_kappa_is_that_of_redrawn_items():
    table = np.array([[30.0, 5, 3], [4, 20, 6], [2, 1, 29]])
    rng = np.random.default_rng(0)
    for closeness in (np.eye(3), 1 - np.abs(np.subtract.outer(range(3), range(3))) / 2):
        _, _, error = cohen_kappa(table[None], closeness)
        drawn = rng.multinomial(100, (table / 100).ravel(), size=4000).reshape(-1, 3, 3)
        spread = cohen_kappa(drawn.astype(float), closeness)[1].std()
        assert error[0] == pytest.approx(spread, rel=0.06)


def test_prevalence_paradox_is_named():
    rng = np.random.default_rng(0)
    spam = rng.random(500) < 0.02
    table = np.stack([np.where(rng.random(500) < 0.95, spam, ~spam) for _ in range(3)], axis=1).astype(int)
    found = covote.agreement(table)
    assert found["alpha"] < 0.4 < 0.85 < found["ac1"]
    assert any("prevalence paradox" in s for s in found.sentences)


def test_good_minority_is_named():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=400)
    judges = [np.where(rng.random(400) < skill, truth, 1 - truth) for skill in (0.97, 0.97, 0.5, 0.5, 0.5)]
    found = covote.agreement(np.stack(judges, axis=1))
    assert found["alpha"] < 0.3
    assert any("'0' and '1' agree with each other far better" in s for s in found.sentences)


ODD = {
    "one annotator": ([("x", "a", 1), ("y", "a", 2)], "Only one annotator (a) answered. Agreement needs the answers of at least two."),
    "nobody overlaps": ([("x", "a", 1), ("y", "b", 2)], "No item has two answers, so nobody can be compared. Pass items that several annotators answered."),
    "all missing": ([("x", "a", None), ("y", "b", None)], "The table holds no answers. Pass one with at least one labelled item."),
    "empty": ([], "The table holds no answers. Pass one with at least one labelled item."),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_odd_tables_get_one_sentence(name):
    table, sentence = ODD[name]
    with pytest.raises(InputError) as error:
        covote.agreement(table)
    assert str(error.value) == sentence


def test_one_class_is_full_agreement_without_coefficients():
    found = covote.agreement([(i, m, "ok") for i in range(5) for m in "ab"])
    assert found["percent"] == 1.0
    assert np.isnan([found["alpha"], found["fleiss"], found["ac1"]]).all()
    assert json.loads(json.dumps(found.as_dict()))["coefficients"][1]["value"] is None
    assert "All of these answers are 'ok', so coefficients that allow for chance are not defined." in found.sentences
    assert "nan" not in found._repr_html_()


def test_one_item():
    found = covote.agreement([("x", m, "yes" if m < 600 else "no") for m in range(1000)])
    assert near(found["percent"], (600 * 599 + 400 * 399) / (1000 * 999))
    assert near(found["alpha"], 0.0)  # the item's own pairs are all the pairs there are
    assert found.pairs is None


def test_unicode_integers_and_disconnected_annotators():
    far = [(f"é{i}", who, label) for i in range(4) for who, label in (("안녕", "да"), ("b", "да" if i else "нет"))]
    apart = [(f"z{i}", who, "нет") for i in range(4) for who in ("c", "d")]
    found = covote.agreement([*far, *apart])
    assert len(found.pairs) == 2
    assert {c.label for c in found.classes} == {"да", "нет"}
    assert near(found["percent"], 7 / 8)


def test_order_of_labels_is_asked_for_and_used():
    answers = [(i, m, ("low", "mid", "high")[(i + (m == 1 and i % 4 == 0)) % 3]) for i in range(30) for m in range(2)]
    with pytest.raises(InputError, match="'ordinal' needs labels in an order, and 'high' is no number. Pass ordered="):
        covote.agreement(answers, scale="ordinal")
    with pytest.raises(InputError, match="The order given lacks the label 'mid'. Labels are: high, low, mid."):
        covote.agreement(answers, ordered=["low", "high"])
    with pytest.raises(InputError, match="There is no scale 'weird'"):
        covote.agreement(answers, scale="weird")
    with pytest.raises(InputError, match="The distance must be 0 for equal labels"):
        covote.agreement(answers, scale=lambda *_: 1.0)
    words = covote.agreement(answers, ordered=["low", "mid", "high"])
    place = {"low": "9", "mid": "10", "high": "11"}  # as text these sort as 10, 11, 9
    spelled = covote.agreement([(i, m, place[k]) for i, m, k in answers], scale="ordinal")
    assert words.scale == "ordinal"
    assert near(words["alpha"], spelled["alpha"])
    assert near(words["ac2"], spelled["ac2"])


def test_repeats_are_an_error_or_settled():
    answers = [("x", "a", 1), ("x", "a", 2), ("x", "b", 1), ("y", "a", 1), ("y", "b", 2)]
    with pytest.raises(InputError, match="duplicates"):
        covote.agreement(answers)
    assert near(covote.agreement(answers, duplicates="first")["percent"], 0.5)


def test_views_are_short():
    found = covote.agreement(crowd(3, 300, people=40))
    assert repr(found).startswith("Agreement(percent=0.")
    assert len(repr(found)) < 120
    page = found._repr_html_()
    assert "<table>" in page
    assert "30 more" in page
    hostile = covote.agreement([(i, m, "<b>" if i % 2 else "x") for i in range(4) for m in "ab"])
    assert "<b>" not in hostile._repr_html_().replace("&lt;b&gt;", "")
    assert len(found.annotators.columns()["kappa"]) == 40


def test_docs_run():
    import doctest

    page = Path(__file__).parent.parent / "docs" / "agreement.md"
    outcome = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert outcome.attempted > 5
    assert outcome.failed == 0


def test_command(tmp_path, capsys):
    from covote.cli.app import run

    path = tmp_path / "votes.csv"
    rows = [f"{i},{m},{('low', 'mid', 'high')[(i + (m == 1 and i % 4 == 0)) % 3]}" for i in range(40) for m in range(3)]
    path.write_text("\n".join(["item,annotator,label", *rows]))
    assert run(["agreement", str(path), "--ordered", "low,mid,high"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("120 answers of 3 annotators on 40 items\n")
    assert "Gwet's AC2, quadratic" in out
    assert "Cohen's kappa" in out
    assert run(["agreement", str(path), "--json", "--no-pairs"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["pairs"] is None
    assert told["coefficients"][1]["key"] == "alpha"
    assert run(["agreement", str(path), "--scale", "ordinal"]) == 2
    assert "Pass --ordered with all labels, lowest first." in capsys.readouterr().err
