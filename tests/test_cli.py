"""The command line by its whole output: what a newcomer types, and what bad input gets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from covote.cli.app import COMMANDS, in_options, run

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "digits_votes.csv"
TRUTH = ROOT / "examples" / "digits_truth.csv"


@pytest.fixture
def covote(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        import warnings

        with warnings.catch_warnings():
            code = run([str(a) for a in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def votes(tmp_path):
    path = tmp_path / "votes.csv"
    rows = [f"{i:02d},w{m},{'yes' if (i + (m == 2)) % 2 else 'no'}" for i in range(12) for m in range(4)]
    path.write_text("\n".join(["task,worker,label", *rows]) + "\n")
    return path


def test_aggregate_writes_labels_annotators_and_model(covote, votes, tmp_path):
    code, out, err = covote("aggregate", votes, "-o", "out", "--method", "multispa-ds")
    assert (code, err) == (0, "")
    assert "48 answers of 4 annotators on 12 items, aggregated by multispa-ds." in out
    assert "Written: out/labels.csv, out/annotators.csv, out/model.npz" in out
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["annotators.csv", "labels.csv", "model.npz"]
    lines = (tmp_path / "out" / "labels.csv").read_text().splitlines()
    assert lines[0] == "task,label,confidence"
    assert lines[1].startswith("00,no,")
    assert lines[2].startswith("01,yes,")
    assert len(lines) == 13
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_aggregate_parquet_and_probabilities(covote, votes, tmp_path):
    import duckdb

    code, _, err = covote("aggregate", votes, "-o", "out", "--format", "parquet", "--probabilities", "-m", "mv-ds")
    assert (code, err) == (0, "")
    table = duckdb.sql(f"select * from '{tmp_path}/out/labels.parquet'")
    assert table.columns == ["task", "label", "confidence", "no", "yes"]
    assert all(abs(r[3] + r[4] - 1) < 1e-9 for r in table.fetchall())


def test_json_is_for_machines(covote, votes):
    code, out, _ = covote("aggregate", votes, "-o", "out", "--json", "-m", "multispa-ds")
    facts = json.loads(out)
    assert code == 0
    assert facts["n_items"] == 12
    assert {c["label"] for c in facts["classes"]} == {"yes", "no"}


def test_gold_is_honoured(covote, votes, tmp_path):
    (tmp_path / "gold.csv").write_text("task,label\n00,yes\n")
    assert covote("aggregate", votes, "--gold", "gold.csv", "-o", "out")[0] == 0
    assert (tmp_path / "out" / "labels.csv").read_text().splitlines()[1].startswith("00,yes,1.0")


def test_standard_input(votes, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "covote", "aggregate", "-", "-o", "out", "-m", "majority-vote"],
        input=votes.read_bytes(), cwd=tmp_path, capture_output=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    assert (tmp_path / "out" / "labels.csv").exists()


def test_compare_ranks_with_truth_and_without(covote):
    code, out, err = covote("compare", EXAMPLE, "--truth", TRUTH, "--methods", "majority-vote,multispa-ds,kos")
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0].startswith("Methods by error on 1,756 items with truth")
    assert lines[2].split()[0] == "multispa-ds"
    code, out, _ = covote("compare", EXAMPLE, "--methods", "majority-vote,multispa-ds", "--json")
    assert [t["error"] for t in json.loads(out)] == [None, None]


def test_simulate_then_aggregate(covote, tmp_path):
    assert covote("simulate", "case1", "--items", 300, "-o", "crowd", "--seed", 3)[0] == 0
    first = (tmp_path / "crowd" / "labels.csv").read_text()
    assert covote("simulate", "case1", "--items", 300, "-o", "crowd", "--seed", 3)[0] == 0
    assert (tmp_path / "crowd" / "labels.csv").read_text() == first
    code, out, _ = covote(
        "compare", "crowd/labels.csv", "--truth", "crowd/truth.csv", "--methods", "multispa,multispa-ds"
    )
    assert code == 0
    assert "multispa-ds" in out


BAD = {
    "empty.csv": ("", None),
    "header.csv": ("item,annotator,label\n", None),
    "column.csv": ("thing,person,verdict\nx,a,1\nx,b,2\ny,a,1\n", None),
    "conflict.csv": ("item,annotator,label\nx,ann,1\nx,ann,2\n", "duplicates"),
    "nothing.csv": ("item,annotator,label\nx,ann,\n", None),
    "one_annotator.csv": ("item,annotator,label\nx,ann,1\ny,ann,2\n", "Only one annotator (ann) answered."),
    "one_label.csv": ("item,annotator,label\nx,ann,1\nx,bob,1\n", "Every answer is '1'."),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_sentence_and_leaves_nothing(covote, tmp_path, name):
    text, hint = BAD[name]
    (tmp_path / name).write_text(text)
    code, out, err = covote("aggregate", name, "-o", "out")
    assert code == 2
    assert out == ""
    assert err.startswith("Error: ")
    assert err.count("\n") == 1, err
    assert "Traceback" not in err
    assert hint is None or hint in err
    assert not (tmp_path / "out").exists()


def test_a_misspelt_column_is_named_with_the_likely_one(covote, votes):
    code, _, err = covote("aggregate", votes, "--annotator", "wroker")
    assert code == 2
    assert err == "Error: Column 'wroker' not found. Columns are: task, worker, label. Pass --annotator worker.\n"


def test_other_bad_calls(covote, votes, tmp_path):
    (tmp_path / "truth.csv").write_text("item,label\nzz,yes\n")
    code, _, err = covote("compare", votes, "--truth", "truth.csv")
    assert (code, err.startswith("Error: The truth shares no item with the annotations")) == (2, True)
    code, _, err = covote("aggregate", "nowhere.csv")
    assert code == 2
    assert "nowhere.csv" in err
    code, _, err = covote("aggregate", votes, "-m", "multi-spa")
    assert (code, err.startswith("Error: There is no method 'multi-spa'. Did you mean 'multispa'?")) == (2, True)
    code, _, err = covote("aggregate", votes, "--set", "tol")
    assert (code, err) == (2, "Error: Option --set needs NAME=VALUE, got 'tol'.\n")
    (tmp_path / "file").write_text("x")
    code, _, err = covote("aggregate", votes, "-o", "file/out")
    assert code == 2
    assert err.startswith("Error: Cannot write to file/out")
    code, _, err = covote("aggregate", votes, "--format", "xml")
    assert (code, err) == (2, "Error: Option --format must be one of csv, parquet, got 'xml'.\n")
    code, _, err = covote("aggregate", votes, "--no-such-option")
    assert code == 2
    assert err.startswith("Error: No such option")


REFUSED = {  # what is typed -> what the sentence must say
    "simulate case1 --seed -1": "--seed",
    "diagnose votes.csv --seed -1": "--seed",
    "plan votes.csv --seed -1": "--seed",
    "reproduce --seed -1": "--seed",
    "aggregate votes.csv --threads 0": "--threads",
    "count votes.csv --threads -3": "--threads",
    "aggregate votes.csv -m mv-ds --set tol=abc": "Option tol of DawidSkene is 'abc', expected a finite number from 0 on.",
    "aggregate votes.csv -m mv-ds --set init=foo": "Option init of DawidSkene is 'foo', expected 'majority',",
    "aggregate votes.csv -m mv-ds --set engine=frame": "expected 'auto', 'memory' or 'disk'.",
    "aggregate votes.csv --set threads=foo": "Option threads of Auto is 'foo', expected a whole number from 1 on or None.",
    "aggregate votes.csv --set nope=1": "does not take these options: nope. Its options are: engine, memory_limit, threads, intervals, groups.",
    "aggregate votes.csv --memory-limit abc": "Option --memory-limit needs a size such as 4GB, got 'abc'.",
    "aggregate votes.csv --truth truth.csv": "Option --truth truth.csv is used by the report alone. Add --report",
    "aggregate votes.csv -o out --report out/r.html --truth no.csv": "File 'no.csv' not found.",
    "aggregate votes.csv -o out --report out/r.html --truth other.csv": "The truth shares no item",
    "aggregate votes.csv -o out --report votes.csv/r.html": "Cannot write to votes.csv/r.html",
    "aggregate votes.csv -o out --report .": "Cannot write to .: it is a folder, and a file is needed.",
    "aggregate votes.csv -o out --figures votes.csv": "Cannot write to votes.csv: it is a file, and a folder is needed.",
    "aggregate votes.csv --columns item,annotator,annotator": "Option --columns names 'annotator' twice",
    "aggregate votes.csv --columns item,,label": "Option --columns has an empty name in 'item,,label'.",
    "aggregate votes.csv --duplicates foo": "--duplicates foo is not known.",
    "aggregate votes.csv --shape wide --label label": "pass --item alone, or --shape long.",
    "aggregate conflict.csv": "Pass --duplicates first, last or majority to keep one label.",
    "report model.npz votes.csv --compare foo": "There is no method 'foo'.",
    "simulate case3": "There is no case 'case3'. CASE must be case1 or case2",
    "plan votes.csv --capacity abc": "The capacity is abc. Give a whole number from 0 on, or a CSV file of annotator,capacity.",
}


@pytest.mark.parametrize("typed", REFUSED)
def test_what_makes_no_sense_is_refused_before_anything_is_written(covote, votes, tmp_path, typed):
    (tmp_path / "truth.csv").write_text("item,label\n00,yes\n")
    (tmp_path / "other.csv").write_text("item,label\nzz,yes\n")
    (tmp_path / "conflict.csv").write_text("item,annotator,label\nx,ann,1\nx,ann,2\n")
    before = sorted(tmp_path.rglob("*"))
    code, out, err = covote(*typed.split())
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert err.startswith("Error: ")
    assert REFUSED[typed] in err
    assert sorted(tmp_path.rglob("*")) == before


def test_advice_of_the_library_is_put_into_options():
    assert in_options('Pass item=, annotator= and label=, or shape="wide".') == (
        "Pass --item, --annotator and --label, or --shape wide."
    )
    assert in_options("a.csv has 3 columns, 2 are expected. Correct the line, or pass delimiter=.").endswith(
        "--delimiter."
    )
    assert in_options("Use engine='memory'.") == "Use --engine memory."
    for untouched in ("File 'item=3.csv' not found.", "the fit of my_label=x", "tol=1e-6"):
        assert in_options(untouched) == untouched


def test_json_holds_the_explanation_that_is_asked_for(covote, votes):
    told = json.loads(covote("aggregate", votes, "-o", "out", "--json", "--explain")[1])["explanation"]
    assert told["sentences"][0] == told["sentence"]
    assert 0 < told["power"] <= 1
    named = json.loads(covote("aggregate", votes, "-o", "out", "--json", "--explain", "-m", "mv-ds")[1])
    assert named["explanation"] is None
    assert "explanation" not in json.loads(covote("aggregate", votes, "-o", "out", "--json")[1])


@pytest.mark.parametrize("typed", ["", "-h", "datasets", "datasets -h", "aggregate -h"])
def test_help_is_no_error(covote, typed):
    code, out, err = covote(*typed.split())
    assert (code, err) == (0, "")
    assert out.lstrip().startswith("Usage: covote")


def test_every_command_is_documented_and_explains_itself(covote):
    documented = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    for name in COMMANDS:
        code, out, _ = covote(name, "--help")
        assert code == 0
        assert "Usage" in out
        assert f"## covote {name}" in documented


def test_import_covote_loads_nothing_heavy():
    code = (
        "import sys, covote; heavy = {'numba', 'scipy', 'pandas', 'polars', 'pyarrow', 'duckdb', 'narwhals', 'typer', "
        "'rich', 'sklearn', 'pyspark', 'dask', 'altair'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": str(ROOT / "src")})


@pytest.mark.parametrize("engine", ["disk", "duckdb"])
def test_every_engine_writes_the_same_labels(covote, tmp_path, engine):
    code, out, err = covote("aggregate", EXAMPLE, "-o", "here", "-m", "multispa-ds")
    assert (code, err) == (0, "")
    code, there, err = covote("aggregate", EXAMPLE, "-o", "there", "-m", "multispa-ds", "--engine", engine)
    assert (code, err) == (0, "")
    assert out.replace("here/", "there/") == there
    assert labels_in(tmp_path / "here") == labels_in(tmp_path / "there")


def labels_in(folder):
    return sorted(line.rsplit(",", 1)[0] for line in (folder / "labels.csv").read_text().splitlines())


def test_counting_first_and_labelling_later(covote, tmp_path):
    header, *rows = EXAMPLE.read_text().splitlines()
    for part in range(2):  # rows are sorted by item, so both parts hold whole items
        half = [r for r in rows if int(r[5:9]) % 2 == part]
        (tmp_path / f"part{part}.csv").write_text("\n".join([header, *half]) + "\n")
    assert covote("count", "part0.csv", "part1.csv", "--by-file", "-o", "counts.npz")[0] == 0
    code, _, err = covote("aggregate", "--counts", "counts.npz", EXAMPLE, "-m", "multispa", "-o", "later")
    assert (code, err) == (0, "")
    assert covote("aggregate", EXAMPLE, "-m", "multispa", "-o", "whole")[0] == 0
    assert labels_in(tmp_path / "later") == labels_in(tmp_path / "whole")
    code, _, err = covote("aggregate", "--counts", "counts.npz", EXAMPLE, "-m", "mv-ds")
    assert (code, err.startswith("Error: Only multispa and multispa-kl learn from counts alone.")) == (2, True)


def test_engine_options_are_checked(covote, votes):
    code, _, err = covote("aggregate", votes, "--engine", "cobol")
    assert (code, err) == (
        2,
        "Error: Option --engine must be one of auto, memory, disk, spark, got 'cobol'.\n",
    )
    code, _, err = covote("aggregate", votes, "--engine", "duckdb", "--memory-limit", "lots")
    assert (code, err) == (2, "Error: Option --memory-limit needs a size such as 4GB, got 'lots'.\n")


def test_the_page_of_commands_is_made_from_their_help():
    done = subprocess.run(
        [sys.executable, "-c", "from scripts.write_cli_docs import cli_page; print(cli_page(), end='')"],
        cwd=ROOT, capture_output=True, check=True, text=True, env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
    )  # fmt: skip
    assert done.stdout == (ROOT / "docs" / "cli.md").read_text(encoding="utf-8"), "run python scripts/write_cli_docs.py"
