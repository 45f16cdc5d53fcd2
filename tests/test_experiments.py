"""The paper's experiments: same settings, same crowds; results that are kept; tables, checks and pages from rows."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from covote.annotations import Annotations
from covote.errors import FileError
from covote.experiments import run as runner
from covote.experiments.cache import ResultCache, settings_key
from covote.experiments.catalogue import EXPERIMENTS
from covote.experiments.checks import all_checks
from covote.experiments.crowds import CrowdSetting, KnownCrowd, make_crowd
from covote.experiments.experiment import GridLayout
from covote.experiments.grid import build_grid
from covote.experiments.measure import Measurement, class_order, measure, measure_all
from covote.experiments.rows import Row, published, tidy, to_csv
from covote.experiments.run import Measured, Unit, run_units
from covote.experiments.settings import BAYES, COUNTED, METHODS, PRESETS

DRAWN = CrowdSetting("synthetic", "case1-uniform", 0.2)
QUICK = ("majority-vote", "multispa")


# crowds


def test_equal_settings_give_equal_crowds_and_others_others():
    one, same = (make_crowd(DRAWN) for _ in range(2))
    assert np.array_equal(one.annotations.answer, same.annotations.answer)
    for change in ({"trial": 1}, {"seed": 1}, {"dataset": "case2-uniform"}):
        assert not np.array_equal(one.model.confusion, make_crowd(replace(DRAWN, **change)).model.confusion)


def test_levels_of_a_trial_share_the_model():
    assert np.array_equal(make_crowd(DRAWN).model.confusion, make_crowd(replace(DRAWN, level=0.5)).model.confusion)


def test_a_growing_crowd_keeps_its_annotators():
    small, large = (make_crowd(CrowdSetting("growing", "case2-skewed", m)) for m in (5, 10))
    assert (small.annotations.n_annotators, large.annotations.n_annotators) == (5, 10)
    assert np.array_equal(small.model.confusion, large.model.confusion[:5])
    part = large.annotations.select(np.arange(5))
    assert np.array_equal(part.answer, small.annotations.answer)
    first = small.model.confusion[0]
    assert (first.argmax(axis=0) == np.arange(3)).all()  # the good one is there from the start


# measuring


def test_class_order_undoes_any_permutation():
    model = make_crowd(DRAWN).model
    shuffled = model.permuted(np.array([2, 0, 1]))
    assert np.array_equal(shuffled.confusion[:, :, class_order(model, shuffled)], model.confusion)


def test_references():
    crowd = make_crowd(CrowdSetting("synthetic", "case1-uniform", 1.0))
    assert measure(BAYES, crowd, {}).error == 0  # one annotator is perfect and answers everything
    expected = (1 - (crowd.model.confusion**2).sum(axis=1)).mean() / (10_000 / 3)
    assert measure(COUNTED, crowd, {}).mse == pytest.approx(expected, rel=0.25)
    alone = KnownCrowd(crowd.annotations, crowd.truth, alone=(0.3, 0.1, 0.2))
    assert (measure("single-best", alone, {}).error, measure("single-worst", alone, {}).error) == (0.1, 0.3)


def test_the_bayes_rule_is_the_limit_and_counting_with_truth_the_other():
    crowd = make_crowd(CrowdSetting("synthetic", "case2-skewed", 0.3))
    found = measure("multispa-ds", crowd, PRESETS["recovery"]["multispa-ds"])
    assert measure(BAYES, crowd, {}).error <= found.error <= found.error_named
    assert measure(COUNTED, crowd, {}).mse <= found.mse


def test_a_method_that_fails_is_named():
    crowd = make_crowd(DRAWN)
    assert measure("no-such-method", crowd, {}).failure == "not in this version of covote"
    assert measure("multispa", crowd, {"no_such_option": 1}).failure.startswith(
        "failed: Method 'multispa' does not take"
    )
    silent = KnownCrowd(Annotations.from_codes([0], [0], [0]), np.array([0]))
    for method in METHODS:
        found = measure(method, silent, {})
        assert (found.error is None) == bool(found.failure)


def test_a_crowd_that_cannot_be_made_is_named(monkeypatch, tmp_path):
    hide_data(monkeypatch, tmp_path)
    found = measure_all(CrowdSetting("amt", "web"), {"multispa": {}, "kos": {}})
    assert {m.failure.split(":")[0] for m in found.values()} == {"no crowd"}
    assert "covote datasets fetch web" in found["kos"].failure


def hide_data(monkeypatch, tmp_path):
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("COVOTE_DATA", str(tmp_path / "none"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("covote.datasets.folders.__file__", str(tmp_path / "a/b/c/d/e/folders.py"))


# results that are kept


def units(trials=2, methods=QUICK):
    return [Unit("", replace(DRAWN, trial=t), "recovery", methods) for t in range(trials)]


def test_what_was_measured_is_not_measured_again(tmp_path, monkeypatch):
    first = run_units(units(), cache=ResultCache(tmp_path))
    monkeypatch.setattr(runner, "measure_all", None)  # nothing may be measured now
    assert run_units(units(), cache=ResultCache(tmp_path)) == first
    assert [m.measurement.failure for m in first] == [""] * 4


def test_a_stopped_run_goes_on_where_it_was(tmp_path, monkeypatch):
    real, calls = measure_all, []

    def stop_at_second(setting, options):
        calls.append(setting.trial)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(setting, options)

    monkeypatch.setattr(runner, "measure_all", stop_at_second)
    with pytest.raises(KeyboardInterrupt):
        run_units(units(3), cache=ResultCache(tmp_path))
    assert len(run_units(units(3), cache=ResultCache(tmp_path))) == 6
    assert calls == [0, 1, 1, 2]


def test_only_methods_that_are_new_are_measured(tmp_path, monkeypatch):
    run_units(units(methods=("majority-vote",)), cache=ResultCache(tmp_path))
    asked = []
    real = measure_all
    monkeypatch.setattr(runner, "measure_all", lambda s, o: asked.append(list(o)) or real(s, o))
    run_units(units(), cache=ResultCache(tmp_path))
    assert asked == [["multispa"], ["multispa"]]


def test_fresh_measures_again(tmp_path, monkeypatch):
    run_units(units(1), cache=ResultCache(tmp_path))
    asked = []
    real = measure_all
    monkeypatch.setattr(runner, "measure_all", lambda s, o: asked.append(s) or real(s, o))
    run_units(units(1), cache=ResultCache(tmp_path, fresh=True))
    assert len(asked) == 1


def test_a_line_cut_off_costs_one_result(tmp_path):
    cache = ResultCache(tmp_path)
    cache.add({"n": 1}, {"error": 0.1})
    cache.add({"n": 2}, {"error": 0.2})
    cache.path.write_bytes(cache.path.read_bytes()[:-9])
    again = ResultCache(tmp_path)
    assert (again.get({"n": 1}), again.get({"n": 2})) == ({"error": 0.1}, None)
    again.add({"n": 3}, {"error": 0.3})
    last = ResultCache(tmp_path)
    assert (last.get({"n": 1}), last.get({"n": 3})) == ({"error": 0.1}, {"error": 0.3})


def test_keys_depend_on_settings_version_and_source(monkeypatch):
    key = settings_key({"a": 1, "b": 2})
    assert key == settings_key({"b": 2, "a": 1})
    assert key != settings_key({"a": 1, "b": 3})
    monkeypatch.setattr("covote.experiments.cache.__version__", "99")
    assert key != settings_key({"a": 1, "b": 2})
    monkeypatch.undo()
    monkeypatch.setattr("covote.experiments.cache.source_fingerprint", lambda: "changed")
    assert key != settings_key({"a": 1, "b": 2})


def test_a_cache_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="Choose another folder with --cache"):
        ResultCache(tmp_path / "file").add({}, {})


def test_missing_data_is_not_kept(monkeypatch, tmp_path):
    hide_data(monkeypatch, tmp_path)
    cache = ResultCache(tmp_path / "results")
    found = run_units([Unit("", CrowdSetting("amt", "web"), "paper", QUICK)], cache=cache)
    assert all(m.measurement.failure.startswith("no crowd") for m in found)
    assert not cache.path.exists()


@pytest.mark.slow
def test_processes_give_the_same_numbers():
    def numbers(measured):
        return [replace(m.measurement, seconds=None) for m in measured]

    steps = []
    alone = run_units(units())
    together = run_units(units(), jobs=2, progress=lambda *s: steps.append(s[:2]))
    assert numbers(alone) == numbers(together)
    assert (steps[0], steps[-1]) == ((0, 4), (4, 4))


def test_plans_are_as_in_the_paper():
    sizes = {name: len(e.plan(0, 2)) for name, e in EXPERIMENTS.items()}
    assert sizes == {"amt": 15, "uci": 3 * 3 * 2, "mse": 2 * 4 * 2, "synthetic": 2 * 3 * 2, "annotators": 8 * 2}
    for name, experiment in EXPERIMENTS.items():
        for unit in experiment.plan(0, 1):
            assert set(unit.methods) <= {*METHODS, BAYES, COUNTED, "single-best", "single-worst"}, name
            json.dumps(unit.settings(unit.methods[0]))


# tables


def measured(errors, method="kos", level=0.5):
    out = []
    for trial, error in enumerate(errors):
        unit = Unit("", CrowdSetting("uci", "adult", level, trial=trial), "default", (method,))
        out.append(Measured(unit, method, Measurement(error=error, seconds=1.0, mse=0.25)))
    return out


def test_mean_and_standard_error_over_trials():
    errors = [0.1, 0.2, 0.4]
    (row,) = tidy("uci", measured(errors), ("error",))
    assert row.mean == pytest.approx(100 * np.mean(errors))
    assert row.standard_error == pytest.approx(100 * np.std(errors, ddof=1) / np.sqrt(3))
    assert (row.trials, row.paper) == (3, 24.97)
    assert row.difference == pytest.approx(row.mean - 24.97)


def test_an_interval_where_there_is_one_trial():
    (row,) = tidy("uci", measured([0.2]), ("error",))
    assert (row.low, row.high, row.standard_error) == (None, None, None)  # a reference has none
    whole = replace(measured([0.2])[0], measurement=Measurement(0.2, 0.1, 0.3))
    (row,) = tidy("uci", [whole], ("error",))
    assert (row.low, row.high) == (pytest.approx(10), pytest.approx(30))


def test_runtimes_average_over_levels():
    several = measured([0.1], level=0.5) + measured([0.1], level=0.2)
    assert [(r.level, r.mean, r.trials, r.paper) for r in tidy("uci", several, ("seconds",), over_levels=True)] == [
        (None, 1.0, 2, 0.118)
    ]


def test_one_failed_trial_is_said_and_the_others_count():
    failed = replace(measured([0.0])[0], measurement=Measurement(failure="failed: no luck"))
    (row,) = tidy("uci", [*measured([0.2, 0.4]), failed], ("error",))
    assert (row.mean, row.trials, row.failure) == (pytest.approx(30), 2, "failed: no luck")


def test_the_papers_numbers():
    assert published("amt", "error", "trec", None, "minmax-entropy") == 91.61
    assert published("mse", "mse", "case2", 1.0, "spectral-ds") == 1.67e-4
    assert published("synthetic", "seconds", "case2-skewed", None, "kos") == 6.19
    assert published("amt", "error", "web", None, "eigen-ratio") is None
    from covote.experiments.rows import _paper

    methods = {key[-1] for key in _paper()}
    assert methods == {*METHODS, "single-best", "single-worst"}
    assert len(_paper()) == 99 + 91 + 36 + 70 + 28  # uci, amt, mse, synthetic, runtimes of uci


def a_row(method, mean, **changes):
    base = Row("amt", "paper", "web", None, method, "error", mean, None, None, None, 1, None)
    return replace(base, **changes)


LAYOUT = GridLayout("Error", "paper", "error", 2)


def test_a_grid_shows_ours_the_papers_and_the_difference():
    rows = [
        a_row("multispa", 11.654, paper=15.22),
        a_row("kos", 11.646, paper=11.0),
        a_row("bayes-rule", 9.0),
        a_row("eigen-ratio", None, failure="not applicable: two classes only"),
        a_row("multispa", 5.0, panel="default"),
    ]
    grid = build_grid(rows, LAYOUT)
    cells = {method: cells[0] for method, cells in grid.lines}
    assert (cells["multispa"].ours, cells["multispa"].paper, cells["multispa"].difference) == (
        "11.65",
        "15.22",
        "−3.57",
    )
    assert cells["kos"].difference == "+0.65"
    assert [m for m, c in cells.items() if c.best] == ["multispa", "kos"]  # equal as shown; a reference is never best
    assert cells["eigen-ratio"].ours == "n/a"
    assert grid.failures == ("eigen-ratio on web: not applicable: two classes only",)


def test_csv_keeps_every_digit():
    (row,) = csv.DictReader(io.StringIO(to_csv([a_row("kos", 1 / 3, paper=0.25)])))
    assert float(row["mean"]) == 1 / 3
    assert float(row["difference"]) == 1 / 3 - 0.25
    assert (row["level"], row["method"]) == ("", "kos")


def figure_rows(kl):
    out = []
    for m, value in zip((5, 10, 20), kl, strict=True):
        for method, mean in (("multispa", 0.02), ("multispa-kl", value)):
            out.append(Row("annotators", "", "case2-skewed", m, method, "mse", mean, 0.001, None, None, 20, None))
    return out


@pytest.mark.parametrize(
    ("kl", "reached"),
    [((0.015, 0.01, 0.005), [True, True]), ((0.01, 0.015, 0.005), [False, True]), ((0.03, 0.01, 0.005), [True, False])],
)
def test_checks_of_the_figure(kl, reached):
    assert [c.reached for c in all_checks({"annotators": figure_rows(kl)})] == reached


def test_a_number_that_is_missing_is_a_miss():
    rows = [a_row(m, 10.0 if m != "kos" else None) for m in METHODS]
    checks = {c.name: c for c in all_checks({"amt": rows})}
    assert checks["amt: baselines"].reached is False
    assert "no number: kos on web" in checks["amt: baselines"].found
    assert checks["amt: minmax-entropy on web"].reached is True
    assert checks["amt: minmax-entropy on bluebird"].reached is None


# the real data


@pytest.mark.data
def test_majority_vote_gives_the_papers_row_exactly():
    amt = EXPERIMENTS["amt"]
    chosen = [replace(u, methods=("majority-vote",)) for u in amt.plan(0, 1)]
    rows = [r for r in amt.table(run_units(chosen)) if r.panel == "paper" and r.metric == "error"]
    assert len(rows) == 5
    for row in rows:
        assert row.mean == pytest.approx(row.paper, abs=0.011)  # the paper cuts digits off
        assert row.low < row.mean < row.high


def test_a_measurement_survives_json():
    found = Measurement(0.1, 0.05, 0.15, 0.1, None, 0.2, "fine", "")
    assert Measurement(**json.loads(json.dumps(asdict(found)))) == found
