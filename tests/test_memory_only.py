"""Exports and options for them are read into memory; other engines refuse them in one sentence and ignore none."""

import numpy as np
import pandas as pd
import pytest
from tests import exported as made

import covote
from covote.annotations import Reading, load
from covote.annotations.reading import FOR_FILES, LOG
from covote.cli.app import run
from covote.engines.disk import open_disk
from covote.engines.memory import MemoryEngine
from covote.errors import InputError
from covote.estimators import tables
from covote.estimators.registry import make

SAID = {
    "question": "label",
    "annotators": "ann,bob,cyd",
    "where": "item!=3",
    "gold_column": "gold",
    "multiple": True,
}
EXPORTS = {"a.json": made.label_studio, "b.csv": made.mturk, "c.jsonl": made.prodigy}


@pytest.fixture
def votes(tmp_path):
    rows = [(*row, "good" if row[0] == 1 else "") for row in made.ROWS]
    path = tmp_path / "votes.csv"
    path.write_text(made.table(("item", "annotator", "label", "gold"), rows))
    return str(path)


@pytest.fixture
def cli(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)

    def typed(*arguments):
        code = run([str(a) for a in arguments])
        return code, *capfd.readouterr()

    return typed


@pytest.mark.parametrize("name", FOR_FILES)
def test_the_disk_refuses_every_option_for_exports(name, votes):
    with pytest.raises(InputError) as error:
        open_disk(votes, Reading(**{name: SAID[name]}))
    assert str(error.value) == (
        f'Option {name}= needs engine="memory", and engine disk was asked for. Leave one of them out.'
    )


@pytest.mark.parametrize("name", FOR_FILES)
def test_tables_that_are_no_files_refuse_them_too(name, votes):
    frame = pd.read_csv(votes)
    shapes = [made.ROWS, frame, np.zeros((3, 3)), covote.read(votes)]
    for table in shapes:
        with pytest.raises(InputError, match=rf"^{name}= is for files\."):
            load(table, **{name: SAID[name]})
    duckdb = pytest.importorskip("duckdb")
    with pytest.raises(InputError, match=rf"^{name}= is for files\."):
        open_disk(duckdb.sql("SELECT * FROM frame"), Reading(**{name: SAID[name]}))


@pytest.mark.dask
def test_dask_frames_refuse_them(votes):
    dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed: pip install 'covote[dask]'")
    frame = dd.from_pandas(pd.read_csv(votes), npartitions=2)
    with pytest.raises(InputError, match=r"^where= is for files\."):
        make("majority-vote").fit(frame, where="item!=3")


@pytest.mark.parametrize("engine", ["disk", "spark"])
@pytest.mark.parametrize("name", EXPORTS)
def test_other_engines_refuse_exports_before_anything_is_written(name, engine, cli, tmp_path):
    (tmp_path / name).write_text(EXPORTS[name]())
    code, out, err = cli("aggregate", name, "--engine", engine, "-o", "out")
    assert (code, out, (tmp_path / "out").exists()) == (2, "", False)
    assert err.startswith(f"Error: Engine {engine} reads plain tables, and this is a file of ")
    assert err.endswith(". Pass --engine memory.\n")


def test_options_that_make_no_sense_together(cli, votes):
    assert cli("aggregate", votes, "--engine", "disk", "--where", "item!=3")[2] == (
        "Error: Option --where needs --engine memory, and engine disk was asked for. Leave one of them out.\n"
    )
    assert cli("aggregate", votes, "--engine", "disk", "--use-gold")[2] == (
        "Error: Option --use-gold needs --engine memory, and engine disk was asked for. Leave one of them out.\n"
    )
    assert cli("aggregate", votes, "--gold", "gold.csv", "--use-gold")[2] == (
        "Error: Both --gold gold.csv and --use-gold were given. Pass one of them.\n"
    )
    assert cli("aggregate", votes, "--gold", "gold.csv", "--gold-column", "gold")[2] == (
        "Error: Both --gold and --gold-column were given. Pass one of them.\n"
    )


@pytest.mark.parametrize("name", EXPORTS)
def test_large_exports_stay_in_memory_and_large_tables_go_to_disk(name, tmp_path, votes, monkeypatch):
    monkeypatch.setattr(tables, "_SMALL", 0)
    monkeypatch.setattr(tables, "free_memory", lambda: 0)
    (tmp_path / name).write_text(EXPORTS[name]())
    engine = tables.open_engine(str(tmp_path / name), None, {})
    assert isinstance(engine, MemoryEngine)
    assert engine.annotations.n_labels == len(made.ROWS)
    assert isinstance(tables.open_engine(votes, None, {"where": "item!=3"}), MemoryEngine)
    assert not isinstance(tables.open_engine(votes, None, {}), MemoryEngine)


def test_a_column_of_gold_is_certain_in_python_too(votes):
    fit = make("mv-ds").fit(votes, gold_column="gold")
    same = make("mv-ds").fit(votes, gold={"1": "good"}, item="item", annotator="annotator", label="label")
    np.testing.assert_allclose(fit.posterior_, same.posterior_)
    assert fit.labels_.fetchall()[0][1] == "good"
    with pytest.raises(InputError, match=r"Both gold= and gold_column= were given\."):
        make("mv-ds").fit(votes, gold={"1": "good"}, gold_column="gold")


def test_guesses_are_told_on_disk_as_in_memory(votes, monkeypatch):
    lines = []
    monkeypatch.setattr(LOG, "info", lines.append)
    for place in ("memory", "disk"):
        tables.open_engine(votes, None, {}, place=place)
    assert lines[0].endswith("label 'label'; not used: gold.")
    assert lines == 2 * lines[:1]


def test_a_folder_of_parquet_files_is_read_on_disk_and_one_of_arrow_files_refused(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    table = pa.table(dict(zip(("item", "annotator", "label"), zip(*made.ROWS, strict=True), strict=True)))
    for kind, write in (("parquet", parquet.write_table), ("arrow", feather.write_feather)):
        (tmp_path / kind).mkdir()
        write(table, str(tmp_path / kind / f"data-00000-of-00001.{kind}"))
    fits = [make("majority-vote", engine=e).fit(str(tmp_path / "parquet")) for e in ("memory", "disk")]
    np.testing.assert_array_equal(fits[0].codes_, fits[1].codes_)
    with pytest.raises(InputError, match="Engine disk reads plain tables, and this is a folder of Arrow files"):
        make("majority-vote", engine="disk").fit(str(tmp_path / "arrow"))
    assert make("majority-vote").fit(str(tmp_path / "arrow")).loaded_.annotations.n_labels == len(made.ROWS)
