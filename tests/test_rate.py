"""Rates: intervals that cover, never wider than gold alone, paired differences, labels needed, odd input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.rate import coverage, draw_panel, probability_of, read_crowd, systems
from tests.conftest import data_folder

import covote
from covote.cli.app import run
from covote.errors import InputError
from covote.rates import Items, Settings
from covote.rates.estimate import UNKNOWN, corrected, cut, gold_alone, stratified, wilson
from covote.rates.measure import chosen, share_of
from covote.rates.needed import needed


def some(truth, n, rng):
    gold = np.full(len(truth), UNKNOWN)
    where = rng.choice(len(truth), n, replace=False)
    gold[where] = truth[where]
    return gold


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.2, 0.6])
@pytest.mark.parametrize("skills", [(0.9, 0.85, 0.8), (0.7, 0.65, 0.6), (0.85,)])
def test_intervals_cover_on_drawn_panels(skills, share):
    rng = np.random.default_rng(7)
    table, truth = draw_panel(rng, items=1000, share=share, skills=skills)
    found = coverage(probability_of(table, 1), truth, 100, Settings(), draws=600, rng=rng)
    for way in ("gold", "corrected", "stratified", "published"):
        assert 0.86 <= found[way][0] <= 0.96
    assert found["corrected"][1] <= found["gold"][1]


@pytest.mark.slow
def test_good_judges_make_it_a_third_narrower():
    rng = np.random.default_rng(1)
    table, truth = draw_panel(rng, items=1000, skills=(0.9, 0.85, 0.8))
    found = coverage(probability_of(table, 1), truth, 100, Settings(), draws=200, rng=rng)
    assert found["corrected"][1] <= 2 / 3 * found["gold"][1]


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("name", ["llmbar", "api_ferplus", "css_politeness", "product", "snow_temp"])
def test_intervals_cover_on_real_crowds(name):
    rng = np.random.default_rng(3)
    answers, truth = read_crowd(data_folder() / "dev" / name)
    code = int(np.bincount(truth).argmax())
    found = coverage(probability_of(answers, code), (truth == code).astype(int), 100, Settings(), draws=400, rng=rng)
    assert 0.86 <= found["published"][0] <= 0.95
    assert found["published"][1] <= found["gold"][1] + 1e-3


@pytest.mark.slow
def test_differences_cover_and_pairing_helps():
    for name, _, found in systems(draws=300, seed=5):
        assert 0.85 <= found["difference"][0] <= 0.95
        if "0.7" in name:
            assert found["difference"][1] < 0.85 * found["not paired"][1]


@pytest.mark.slow
def test_gold_chosen_by_confidence_is_noticed_and_weighed():
    """Humans looked at doubtful items four times as often: plain correction is off, that by confidence is not."""
    rng = np.random.default_rng(0)
    held = plain = 0
    for _ in range(200):
        truth = (rng.random(2000) < 0.5).astype(int)
        f = np.clip(np.where(rng.random(2000) < 0.5, 0.95, 0.55), 0, 1)
        truth = (rng.random(2000) < np.where(f > 0.9, 0.97, 0.2)).astype(int)
        p = np.where(f > 0.9, 0.2, 0.05)[::1]
        gold = np.where(rng.random(2000) < p, truth, UNKNOWN)
        assert chosen(Items(f, gold))
        share = share_of(Items(f, gold), Settings())
        assert share.best == "stratified"
        held += share.estimate.low <= truth.mean() <= share.estimate.high
        plain += share.gold.low <= truth.mean() <= share.gold.high
    assert held / 200 >= 0.85
    assert plain / 200 < 0.1


def test_useless_and_inverted_judges_leave_gold_alone():
    rng = np.random.default_rng(0)
    truth = (rng.random(1000) < 0.4).astype(int)
    gold = some(truth, 100, rng)
    for f in (np.full(1000, 0.3), rng.random(1000), 1.0 - truth):
        alone, both = gold_alone(gold, Settings()), corrected(f, gold, Settings())
        assert both.width <= alone.width + 0.002
        assert abs(both.value - alone.value) < 0.05


def test_perfect_judges_are_never_proved_perfect():
    rng = np.random.default_rng(0)
    truth = (rng.random(1000) < 0.4).astype(int)
    found = corrected(truth.astype(float), some(truth, 50, rng), Settings())
    assert 0.02 < found.width < 0.1
    assert found.low < truth.mean() < found.high


def test_all_items_gold_leave_no_doubt_unless_they_are_a_sample():
    truth = np.array([1, 0, 1, 1] * 20)
    f = np.full(80, 0.5)
    assert (
        share_of(Items(f, truth), Settings()).estimate.low,
        share_of(Items(f, truth), Settings()).estimate.high,
    ) == (0.75, 0.75)
    wide = share_of(Items(f, truth), Settings(sampled=True)).estimate
    assert [wide.low, wide.high] == pytest.approx(wilson(0.75, 80, Settings().z))


def test_no_gold_label_positive_still_has_an_upper_end():
    gold = np.full(500, UNKNOWN)
    gold[:60] = 0
    for found in (gold_alone(gold, Settings()), corrected(np.full(500, 0.01), gold, Settings())):
        assert found.low == 0
        assert 0.01 < found.high < 0.1


def test_strata_hold_enough_gold():
    rng = np.random.default_rng(0)
    for f in (rng.random(300), np.full(300, 0.5), (rng.random(300) < 0.97).astype(float)):
        known = rng.random(300) < 0.12
        part = cut(f, known, Settings())
        if known.sum() >= 10:
            assert np.bincount(part[known]).min() >= 10
        assert stratified(f, np.where(known, 1, UNKNOWN), Settings()).value == pytest.approx(1.0, abs=0.01)


def test_labels_asked_for_reach_the_width():
    rng = np.random.default_rng(2)
    table, truth = draw_panel(rng, items=3000, share=0.4)
    f = probability_of(table, 1)
    wish = needed(corrected(f, some(truth, 200, rng), Settings()), 3000, 0.05, Settings())
    assert wish.with_judges < wish.gold_alone
    widths = [corrected(f, some(truth, wish.with_judges, rng), Settings()).width for _ in range(30)]
    assert np.mean(widths) == pytest.approx(0.05, rel=0.12)
    assert needed(gold_alone(truth[:50], Settings(sampled=True)), 50, 0.01, Settings(sampled=True)).more is None


def panel_rows(seed=0, items=400, judges=3):
    rng = np.random.default_rng(seed)
    truth = rng.random(items) < 0.7
    rows = [
        (f"q{i // 2}{'AB'[i % 2]}", f"j{j}", "pass" if truth[i] ^ (rng.random() > 0.85) else "fail")
        for i in range(items)
        for j in range(judges)
    ]
    gold = {f"q{i // 2}{'AB'[i % 2]}": "pass" if truth[i] else "fail" for i in range(0, items, 5)}
    return rows, gold, truth.mean()


def test_rate_of_a_table():
    rows, gold, truth = panel_rows()
    found = covote.rate(rows, positive="pass", gold=gold, width=0.05)
    assert found.low <= truth <= found.high
    assert found.share.best == "corrected"
    assert found.share.needed.more > 0
    assert len(repr(found)) < 120
    assert "<table>" in found._repr_html_()
    assert json.loads(json.dumps(found.as_dict()))["ways"]["gold"]["gold"] == 80
    other = covote.rate(rows, positive="fail", gold=gold)
    assert other.value == pytest.approx(1 - found.value, abs=1e-6)
    assert (
        covote.rate(rows, positive="pass", gold=gold).as_dict()
        == covote.rate(rows, positive="pass", gold=gold).as_dict()
    )


def test_without_gold_the_model_speaks_and_says_so():
    rows, _, truth = panel_rows()
    found = covote.rate(rows, positive="pass")
    assert found.share.best == "model"
    assert found.low <= truth <= found.high
    assert "No gold labels were given" in found.sentences[1]
    lone = covote.rate([r for r in rows if r[1] == "j0"], positive="pass")
    assert (lone.low, lone.high) == (0.0, 1.0)
    assert "so every share is possible" in lone.sentences[1]


def test_one_judge_is_corrected():
    rows, gold, truth = panel_rows()
    found = covote.rate([r for r in rows if r[1] == "j0"], positive="pass", gold=gold)
    assert found.low <= truth <= found.high
    assert found.share.corrected.width < found.share.gold.width


def test_systems_by_column_and_by_mapping(tmp_path, capsys):
    rows, gold, _ = panel_rows()
    path = tmp_path / "votes.csv"
    lines = [f"{i},{j},{label},{i[-1]},{i[:-1]}" for i, j, label in rows]
    path.write_text("\n".join(["item,annotator,label,system,question", *lines]))
    by_column = covote.rate(str(path), positive="pass", gold=gold, by="system", pair="question")
    items = {i for i, _, _ in rows}
    by_mapping = covote.rate(
        rows, positive="pass", gold=gold, by={i: i[-1] for i in items}, pair={i: i[:-1] for i in items}
    )
    assert set(by_column.systems) == {"A", "B"}
    assert by_column.differences[0].paired == 200
    assert by_column.differences[0].value == pytest.approx(by_mapping.differences[0].value, abs=1e-6)
    (tmp_path / "gold.csv").write_text("item,label\n" + "\n".join(f"{i},{k}" for i, k in gold.items()))
    code = run(
        ["rate", str(path), "--positive", "pass", "--gold", str(tmp_path / "gold.csv"), "--by", "system", "--json"]
    )
    told = json.loads(capsys.readouterr().out)
    assert code == 0
    assert told["value"] == pytest.approx(by_column.value)
    assert [s["system"] for s in told["systems"]] == ["A", "B"]


ODD = {
    "unknown class": ({"positive": "maybe"}, "No answer is 'maybe'. Labels are: fail, pass. Pass one of them as positive=."),
    "no column": ({"positive": "pass", "by": "system"}, "A table without named columns has no column 'system'. Pass a mapping from items to its values."),
    "not all items": ({"positive": "pass", "by": {"q0A": "A"}}, "Item 'q0B' has no value in the mapping. Give every item one."),
    "level": ({"positive": "pass", "level": 90}, "The level and the width must be between 0 and 1, got 90 and None."),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_odd_input_gets_one_sentence(name):
    options, sentence = ODD[name]
    rows, _, _ = panel_rows(items=20)
    with pytest.raises(InputError) as error:
        covote.rate(rows, **options)
    assert str(error.value) == sentence


def test_two_items_of_one_input_cannot_be_paired():
    rows, gold, _ = panel_rows(items=40)
    items = {i for i, _, _ in rows}
    with pytest.raises(InputError, match="System 'A' has two items of the same pair"):
        covote.rate(rows, positive="pass", gold=gold, by={i: i[-1] for i in items}, pair=dict.fromkeys(items, "q"))


def test_few_gold_labels_speak_for_themselves():
    rows, gold, _ = panel_rows()
    found = covote.rate(rows, positive="pass", gold=dict(list(gold.items())[:5]))
    assert found.share.best == "gold"
    assert found.sentences[1] == "It rests on 5 gold labels alone: 10 are needed to correct the judges."
    assert covote.rate(rows, positive="other", gold={**gold, "q0A": "other"}).share.gold_labels == 80


def test_docs_run():
    import doctest

    page = Path(__file__).parent.parent / "docs" / "rate.md"
    outcome = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert outcome.attempted > 5
    assert outcome.failed == 0


def test_systems_that_cannot_be_read():
    pandas = pytest.importorskip("pandas")
    rows, _, _ = panel_rows(items=40)
    table = pandas.DataFrame(rows, columns=["item", "annotator", "label"]).assign(system=["A", "B"] * 60)
    with pytest.raises(InputError) as error:
        covote.rate(table, positive="pass", by="system")
    assert (
        str(error.value) == "Column 'system' gives some item several values, or holds none at all. Give every item one."
    )
    with pytest.raises(InputError, match="There is no column 'model' in this table."):
        covote.rate(table, positive="pass", by="model")


@pytest.mark.parametrize(
    "rows", [[(0, m, "pf"[m == 3]) for m in range(4)], [(i, m, "p") for i in range(40) for m in range(3)]]
)
def test_too_little_for_a_model_means_everything_is_possible(rows):
    found = covote.rate(rows, positive="p")
    assert (found.low, found.high) == (0.0, 1.0)
