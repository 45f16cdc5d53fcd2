"""The pages, plots and the command of the paper's experiments."""

from __future__ import annotations

import re

import pytest

from covote.cli.app import run as covote
from covote.experiments import page, plots
from covote.experiments.annotators import annotators
from covote.experiments.catalogue import EXPERIMENTS
from covote.experiments.checks import all_checks
from covote.experiments.grid import build_grid
from covote.experiments.markdown import markdown
from covote.experiments.measure import Measurement
from covote.experiments.results import Part, Results
from covote.experiments.run import Measured

# pages


@pytest.fixture(scope="module")
def results():
    experiment = EXPERIMENTS["annotators"]
    rows = annotators(trials=2)
    grids = tuple(build_grid(rows, layout) for layout in experiment.grids)
    return Results(
        (Part(experiment, 2, tuple(rows), grids),),
        tuple(all_checks({"annotators": rows})),
        plots.plots({"annotators": rows}),
        "covote reproduce annotators --trials 2",
    )


def test_the_page_needs_nothing_else(results):
    text = page.page(results)
    assert text.count("<table") == text.count("</table>") == 2
    assert "covote reproduce annotators --trials 2" in text
    assert not re.search(r'(src|href)="(?!#)', text)
    assert "@import" not in text
    assert "This run had 2 trials, not the usual 20." in text


def test_plots_are_drawn_inline_and_as_files(results):
    pytest.importorskip("vl_convert")
    text = page.page(results)
    assert text.count("<svg") == 1
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    (plot,) = results.plots["annotators"]
    assert plots.png(plot).startswith(b"\x89PNG")


def test_without_the_plotting_package_the_tables_stay(results, monkeypatch):
    monkeypatch.setattr(page, "can_draw", lambda: False)
    text = page.page(results)
    assert "<svg" not in text
    assert "pip install &#x27;covote[report]&#x27;" in text
    assert "multispa-kl" in text


def test_every_experiment_can_be_plotted():
    rows = {}
    for name, experiment in EXPERIMENTS.items():
        made = []
        for unit in experiment.plan(0, 2):
            made += [Measured(unit, m, Measurement(0.2, 0.1, 0.3, 0.25, 0.01, 0.5)) for m in unit.methods]
        rows[name] = experiment.table(made)
        for layout in experiment.grids:
            grid = build_grid(rows[name], layout)
            assert grid.columns, layout.title
            assert all(cell is None or cell.ours for _, cells in grid.lines for cell in cells)
    assert set(plots.plots(rows)) == set(EXPERIMENTS)
    assert all_checks(rows)
    if plots.can_draw():
        for several in plots.plots(rows).values():
            assert all(plots.svg(plot).startswith("<svg") for plot in several)


def test_the_document(results):
    text = markdown(results)
    assert "| multispa-kl |" in text
    assert "**Not as in the paper.**" in text
    assert "covote reproduce annotators --trials 2" in text


# the command


def test_the_command_writes_all_and_goes_on(tmp_path, capsys):
    given = ["reproduce", "annotators", "--trials", "1", "--jobs", "1", "--cache", str(tmp_path / "cache")]
    assert covote([*given, "-o", str(tmp_path / "out"), "--docs", str(tmp_path / "page.md")]) == 0
    shown = capsys.readouterr()
    assert "multispa-kl" in shown.out
    assert "What it must show" in shown.out
    assert "annotators: 24 of 24 measured" in shown.err
    names = {p.name for p in (tmp_path / "out").iterdir()}
    assert {"index.html", "annotators.csv"} <= names
    assert ("annotators.png" in names) == plots.can_draw()
    assert (tmp_path / "page.md").read_text().startswith("# The paper, reproduced")
    lines = (tmp_path / "cache" / "results.jsonl").read_text().splitlines()
    assert len(lines) == 24
    assert covote([*given, "-o", str(tmp_path / "again")]) == 0
    assert (tmp_path / "again" / "annotators.csv").read_text() == (tmp_path / "out" / "annotators.csv").read_text()
    assert len((tmp_path / "cache" / "results.jsonl").read_text().splitlines()) == 24


def test_unknown_part(capsys):
    assert covote(["reproduce", "tables"]) == 2
    assert capsys.readouterr().err == (
        "Error: There is no experiment 'tables'. Experiments are: amt, uci, mse, synthetic, annotators, all.\n"
    )
