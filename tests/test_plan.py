"""Plans: never the same pair twice, never beyond capacity, the aims in their order, and fewer labels than by chance."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covote.annotations import Annotations, Vocabulary
from covote.cli.app import run
from covote.engines.memory import MemoryEngine
from covote.errors import InputError
from covote.estimators.planned import plan
from covote.estimators.registry import make
from covote.model import Model
from covote.planning.errors import expected_bits
from covote.planning.value import Aim
from covote.simulate import draw


def coin_model(accuracies, n_classes=3):
    wrong = (1 - np.asarray(accuracies)) / (n_classes - 1)
    right = np.asarray(accuracies) - wrong
    confusion = wrong[:, None, None] + right[:, None, None] * np.eye(n_classes)
    names = tuple(f"a{m}" for m in range(len(accuracies)))
    return Model(np.full(n_classes, 1 / n_classes), confusion, tuple(range(n_classes)), names)


def small_crowd(seed=0, n_items=60, answering=0.3, accuracies=(0.9, 0.8, 0.7, 0.6, 0.5)):
    return draw(coin_model(accuracies), n_items, answering=answering, seed=seed).annotations


def answered(annotations):
    items, people = annotations.items.to_list(), annotations.annotators.to_list()
    return {(items[i], people[m]) for i, m in zip(annotations.item, annotations.annotator, strict=True)}


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_items=st.integers(1, 30),
    n_annotators=st.integers(1, 7),
    answering=st.floats(0.05, 1.0),
    budget=st.integers(1, 120),
    capacity=st.one_of(st.none(), st.integers(0, 12)),
    data=st.data(),
)
def test_no_pair_twice_and_nobody_beyond_capacity(seed, n_items, n_annotators, answering, budget, capacity, data):
    crowd = draw(coin_model(np.linspace(0.4, 0.9, n_annotators)), n_items, answering=answering, seed=seed).annotations
    people = crowd.annotators.to_list()
    pairs = st.tuples(st.sampled_from(list(range(n_items))), st.sampled_from(people))
    exclude = data.draw(st.lists(pairs, max_size=5, unique=True))
    busy = [p for p in data.draw(st.lists(pairs, max_size=5, unique=True)) if p not in answered(crowd)]
    table = crowd if crowd.n_labels else None
    options = {"items": range(n_items), "annotators": people} if table is None else {}
    found = plan(
        table, budget=budget, capacity=capacity, exclude=exclude, in_progress=busy, seed=seed, overlap=5, **options
    )
    asked = found.pairs()
    assert len(asked) == len(set(asked)) <= budget
    assert not set(asked) & (answered(crowd) | set(exclude) | set(busy))
    if capacity is not None:
        for name in people:
            under_way = sum(who == name for _, who in busy)
            assert sum(who == name for _, who in asked) <= max(capacity - under_way, 0)
    # a budget is spent as long as anybody may give an answer that tells something, or it is said that nobody may
    assert len(asked) == budget or found.notes


def test_the_same_seed_gives_the_same_plan():
    crowd = small_crowd()
    one, two, other = (plan(crowd, budget=40, seed=s) for s in (1, 1, 2))
    assert one == two
    assert one.pairs() != other.pairs()


def test_groups_are_connected_first():
    left, right = small_crowd(1), small_crowd(2)
    apart = Annotations.from_codes(
        np.concatenate([left.item, right.item + 60]),
        np.concatenate([left.annotator, right.annotator + 5]),
        np.concatenate([left.label, right.label]),
        annotators=Vocabulary([*(f"l{m}" for m in range(5)), *(f"r{m}" for m in range(5))]),
    )
    found = plan(apart, budget=10, annotators=[*apart.annotators, "new"])
    first = found.assignments[:2]
    assert [a.aim for a in first] == [Aim.CONNECT, Aim.CONNECT]
    assert {a.annotator for a in first} >= {"new"}
    joined = np.concatenate([apart.item, [int(a.item) for a in found.assignments if a.annotator != "new"]])
    names = [*apart.annotators.to_list(), "new"]
    who = np.concatenate(
        [apart.annotator, [names.index(a.annotator) for a in found.assignments if a.annotator != "new"]]
    )
    together = Annotations.from_codes(joined, who, np.zeros(len(who), int), annotators=Vocabulary(names))
    from covote.diagnosis.overlap import overlap

    assert len(overlap(MemoryEngine(together).pair_counts()).components[0].annotators) == 10


def test_a_group_without_time_is_joined_through_its_items():
    rows = [(n, m) for n in range(6) for m in (0, 1)] + [(n, m) for n in range(6, 9) for m in (2, 3)]
    item, annotator = np.array(rows).T
    apart = Annotations.from_codes(item, annotator, item % 2)
    found = plan(apart, budget=3, capacity={2: 0, 3: 0})
    assert found.assignments[0].aim is Aim.CONNECT
    assert found.assignments[0].item >= 6
    assert found.assignments[0].annotator in (0, 1)
    stuck = plan(apart, budget=3, annotators=[0], exclude=[(n, None) for n in (6, 7, 8)])
    assert any("could not be connected" in note for note in stuck.notes)


def test_every_pair_worth_it_reaches_the_overlap():
    crowd = small_crowd(3, n_items=80, answering=0.2)
    found = plan(crowd, budget=2000, overlap=12, overlap_share=1.0)
    items, people = crowd.items.to_list(), crowd.annotators.to_list()
    table = np.zeros((len(items), len(people)))
    table[crowd.item, crowd.annotator] = 1
    for a in found.assignments:
        if a.aim is Aim.OVERLAP:
            table[items.index(a.item), people.index(a.annotator)] = 1
    shared = table.T @ table
    assert shared.min() >= 12


def test_spammers_are_not_compared_any_longer_nor_asked():
    model = coin_model([0.85, 0.8, 0.8, 0.75, 0.8, 1 / 3, 1 / 3])
    crowd = draw(model, 300, answering=0.5, seed=4).annotations
    found = plan(crowd, budget=200)
    asked = [a.annotator for a in found.assignments]
    assert asked.count("a5") + asked.count("a6") == 0


def test_answers_are_asked_where_they_tell_most():
    # annotators 0-2 tell x from the rest, 3-5 tell y from z; the items in doubt between y and z go to the latter
    know_x = np.array([[0.9, 0.05, 0.05], [0.05, 0.475, 0.475], [0.05, 0.475, 0.475]])
    know_yz = np.array([[0.34, 0.33, 0.33], [0.33, 0.6, 0.07], [0.33, 0.07, 0.6]])
    model = Model(np.full(3, 1 / 3), np.stack([know_x] * 3 + [know_yz] * 3), ("x", "y", "z"), tuple("abcdef"))
    votes = [(n, m, "y" if n % 2 else "x") for n in range(20) for m in "abc"]
    found = plan(votes, budget=9, fit=model, annotators="abcdef", overlap=0, classes=["x", "y", "z"])
    assert found.counted() == {"connect": 3, "errors": 6}
    asked = [a for a in found.assignments if a.aim is Aim.ERRORS]
    assert {a.annotator for a in asked} <= set("def")
    assert all(a.item % 2 for a in asked)
    assert asked[0].reason.startswith("in doubt between y (0.50) and z (0.50); this answer is expected to tell ")
    assert asked[0].gain > 0.1


def test_expected_bits_by_hand():
    # a perfect annotator tells the entropy of the item; a spammer nothing; a coin of accuracy 0.75 1 - H(0.75)
    p = np.array([[0.5, 0.5]])
    assert expected_bits(p, np.eye(2)[None])[0, 0] == pytest.approx(1.0)
    assert expected_bits(p, np.full((1, 2, 2), 0.5))[0, 0] == pytest.approx(0.0)
    coin = np.array([[[0.75, 0.25], [0.25, 0.75]]])
    assert expected_bits(p, coin)[0, 0] == pytest.approx(1 + 0.75 * np.log2(0.75) + 0.25 * np.log2(0.25))


def test_a_start_from_nothing_compares_then_covers():
    found = plan(budget=300, items=range(200), annotators=[f"p{m}" for m in range(10)], capacity=40)
    assert len(found) == 300
    assert found.counted() == {"overlap": 150, "start": 150}
    table = {}
    for item, who in found.pairs():
        table.setdefault(item, set()).add(who)
    common = [who for who in table.values() if len(who) == 10]
    assert len(common) == 15  # fifteen items that everybody answers: each pair shares fifteen
    load = {}
    for _, who in found.pairs():
        load[who] = load.get(who, 0) + 1
    assert max(load.values()) - min(load.values()) <= 2
    assert max(load.values()) <= 40
    assert len(table) == 165


def test_newcomers_items_in_progress_and_locks():
    crowd = small_crowd(5)
    found = plan(crowd, budget=80, items=[*range(60), "fresh"], annotators=["new", "a0"], exclude=[(0, None)])
    assert {a.annotator for a in found.assignments} == {"new", "a0"}
    assert "fresh" in {a.item for a in found.assignments}
    assert 0 not in {a.item for a in found.assignments}
    waiting = plan(crowd, budget=10, in_progress=[(n, None) for n in range(55)])
    assert {a.item for a in waiting.assignments} <= set(range(55, 60))


def test_fitted_estimators_and_models_are_taken():
    crowd = small_crowd(6)
    estimator = make("multispa-ds").fit(crowd)
    assert plan(estimator, budget=20).pairs()
    assert plan(crowd, budget=20, fit=estimator).pairs() == plan(crowd, budget=20, fit=estimator.model_).pairs()


@pytest.mark.parametrize(("crowd", "seeds", "budgets"), [("spammers", 6, (4, 6)), ("case 2", 4, (4, 6))])
def test_planned_labels_beat_random_ones(crowd, seeds, budgets):
    from benchmarks.plan import case_2, crowd_with_spammers, labels_saved

    make_crowd = {"spammers": crowd_with_spammers, "case 2": case_2}[crowd]
    saved = labels_saved(make_crowd, n_items=300, budgets=budgets, seeds=range(seeds), rounds_an_item=2)
    assert min(saved.values()) > 0.3, saved


def test_a_hundred_thousand_items_are_planned():
    crowd = draw(coin_model(np.linspace(0.5, 0.9, 30)), 100_000, answering=0.1, seed=1).annotations
    found = plan(crowd, budget=5000, capacity=500)
    assert len(found) == 5000


def test_bad_requests():
    crowd = small_crowd()
    with pytest.raises(InputError, match=r"^The budget is 0 answers\. Give at least 1\.$"):
        plan(crowd, budget=0)
    with pytest.raises(InputError, match=r"^A plan needs items and annotators\."):
        plan(budget=5, items=["x"])
    with pytest.raises(
        InputError, match=r"^The item 'nope' is unknown\. Check the spelling, or add it with items=\.\.\.$"
    ):
        plan(crowd, budget=5, exclude=[("nope", "a0")])
    with pytest.raises(InputError, match=r"^The annotator 'zed' is unknown\."):
        plan(crowd, budget=5, in_progress=[(1, "zed")])
    with pytest.raises(InputError, match=r"^An exclusion needs an item, an annotator or both; one names neither\.$"):
        plan(crowd, budget=5, exclude=[(None, None)])
    with pytest.raises(InputError, match=r"^fit must be a fitted estimator or a Model, got int\.$"):
        plan(crowd, budget=5, fit=3)
    with pytest.raises(InputError, match=r"^The model knows other classes than the answers\."):
        plan(crowd, budget=5, fit=coin_model([0.9, 0.9], n_classes=2))


def call(capsys, *arguments):
    import warnings

    with warnings.catch_warnings():
        code = run([str(a) for a in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def votes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    crowd = small_crowd(7)
    rows = [f"{i},{m},{k}" for i, m, k in zip(crowd.item, crowd.annotator, crowd.label, strict=True)]
    path = tmp_path / "votes.csv"
    path.write_text("item,annotator,label\n" + "\n".join(rows) + "\n")
    return path


def test_the_command_writes_assignments_with_reasons(votes, capsys, tmp_path):
    (tmp_path / "capacity.csv").write_text("annotator,capacity\n0,3\n1,3\n2,3\n3,3\n4,3\n")
    (tmp_path / "never.csv").write_text("item,annotator\n1,0\n,4\n")
    code, out, err = call(
        capsys, "plan", votes, "--budget", 12, "--capacity", "capacity.csv", "--exclude", "never.csv", "-o", "next.csv"
    )
    assert (code, err) == (0, "")
    assert out.startswith("12 answers to ask for, of a budget of 12:\n")
    assert out.endswith("Written: next.csv\n")
    with (tmp_path / "next.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 12
    assert list(rows[0]) == ["item", "annotator", "aim", "gain", "reason"]
    assert {r["annotator"] for r in rows} <= {"0", "1", "2", "3"}
    assert max(sum(r["annotator"] == who for r in rows) for who in "0123") <= 3
    assert all(r["reason"] for r in rows)
    code, out, _ = call(capsys, "plan", votes, "--budget", 3, "--annotators", "0,1", "--json")
    assert {a["annotator"] for a in json.loads(out)["assignments"]} <= {"0", "1"}


def test_slips_of_the_pen_are_pointed_out(votes, capsys, tmp_path):
    (tmp_path / "capacity.csv").write_text("annotator,capacity\n0,3\nbobb,3\n")
    _, out, _ = call(capsys, "plan", votes, "--budget", 4, "--capacity", "capacity.csv", "--annotators", "0,1,eve")
    assert "Note: Asked for the first time: eve.\n" in out
    assert "Note: A capacity is given for bobb, who may not be asked: check the spelling.\n" in out
    (tmp_path / "capacity.csv").write_text("0,3\n1,three\n")
    for text, told in (
        (
            "capacity.csv",
            "capacity.csv needs lines of annotator,capacity with whole numbers, found the line '1,three'.",
        ),
        ("-3", "The capacity is -3. Give a whole number from 0 on, or a CSV file of annotator,capacity."),
    ):
        assert call(capsys, "plan", votes, "--capacity", text)[2] == f"Error: {told}\n"
    _, _, err = call(capsys, "plan", votes, "--annotators", "people.txt")
    assert err == "Error: File 'people.txt' not found. Check the path, or give names with commas.\n"


def test_it_is_said_why_a_budget_is_left_over():
    votes = [(n, m, "xy"[n % 2]) for n in range(4) for m in "abc"]
    done = "everybody who has time has answered, or is to answer, every item that is open"
    assert plan(votes, budget=5).notes == (f"5 of the budget's answers are left over: {done}.",)
    idle = "nobody who may be asked has time left"
    assert plan(votes, budget=5, capacity=0).notes == (f"5 of the budget's answers are left over: {idle}.",)
    same = [(n, m, "x") for n in range(3) for m in "ab"]  # one label only: there is no model, answers are dealt out
    found = plan(same, budget=9, items=[0, 1, 2, 3, 4])
    assert len(found) == 4
    assert found.summary().startswith("4 answers to ask for, of a budget of 9:\n")


def test_the_command_starts_from_nothing(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "items.txt").write_text("one\ntwo\nthree\n")
    code, out, err = call(capsys, "plan", "--items", "items.txt", "--annotators", "ann,bob,eve", "--budget", 6)
    assert (code, err) == (0, "")
    assert "so that annotators can be compared on the same items" in out
    assert len((tmp_path / "plan.csv").read_text().splitlines()) == 7
    code, _, err = call(capsys, "plan", "--items", "items.txt", "--budget", 6)
    assert code == 2
    assert err.startswith("Error: A plan needs items and annotators.")
    (tmp_path / "bad.csv").write_text("a,b,c\n")
    _, _, err = call(capsys, "plan", "--items", "x", "--annotators", "y", "--exclude", "bad.csv")
    assert err == "Error: bad.csv needs two columns, found the line 'a,b,c'.\n"
