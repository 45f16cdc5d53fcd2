"""Laws of counts on disk and of `covote count`: what is saved comes back, counts of parts add up to the whole."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from covote.annotations import load
from covote.cli.app import run
from covote.counts_file import load_counts, save_counts
from covote.engines.memory import MemoryEngine
from covote.errors import FileError
from covote.model_file import save_model
from crowds import draw_model, draw_triples

COLUMNS = ["item", "annotator", "label"]


def counted(triples):
    return MemoryEngine(load(triples).annotations).pair_counts()


def by_name(counts):
    """{(annotator, annotator): {(label, label): items}}, whatever the codes."""
    out = {}
    for m, q, block in zip(counts.first, counts.second, counts.blocks, strict=True):
        cells = {(a, b): block[i, j] for i, a in enumerate(counts.classes) for j, b in enumerate(counts.classes)}
        one, other = counts.annotators[m], counts.annotators[q]
        if one > other:
            one, other, cells = other, one, {(b, a): n for (a, b), n in cells.items()}
        out[one, other] = {key: n for key, n in cells.items() if n}
    return out


def halves(triples):
    return [t for t in triples if int(t[0][4:]) % 2], [t for t in triples if not int(t[0][4:]) % 2]


def test_what_is_saved_comes_back(tmp_path):
    counts = counted([(i, (a, 1), x == "ape") for i, a, x in draw_triples(1)])
    save_counts(counts, tmp_path / "counts.npz")
    again = load_counts(tmp_path / "counts.npz")
    assert again.annotators == counts.annotators
    assert again.classes == counts.classes
    for name in ("first", "second", "blocks", "label_counts", "n_items"):
        np.testing.assert_array_equal(getattr(again, name), getattr(counts, name))


@pytest.mark.parametrize("seed", range(3))
def test_counts_of_parts_add_up_to_the_whole(tmp_path, seed):
    triples = draw_triples(seed)
    total = None
    for number, part in enumerate(halves(triples)):
        save_counts(counted(part), tmp_path / f"{number}.npz")
        loaded = load_counts(tmp_path / f"{number}.npz")
        total = loaded if total is None else total + loaded
    whole = counted(triples)
    assert by_name(total) == by_name(whole)
    assert total.n_items == whole.n_items


class TestCommand:
    @pytest.fixture
    def parts(self, tmp_path):
        triples = draw_triples(2)
        for number, part in enumerate(halves(triples)):
            pd.DataFrame(part, columns=COLUMNS).to_parquet(tmp_path / f"part{number}.parquet")
        return tmp_path, by_name(counted(triples))

    @pytest.mark.parametrize("options", [[], ["--by-file"]])
    def test_files_of_answers(self, parts, options, capsys):
        folder, whole = parts
        output = str(folder / "counts.npz")
        assert run(["count", str(folder / "part0.parquet"), str(folder / "part1.parquet"), "-o", output, *options]) == 0
        assert by_name(load_counts(output)) == whole
        assert capsys.readouterr().out == f"40 items, 6 annotators, 15 pairs that share items: {output}\n"

    def test_earlier_counts_are_added(self, parts):
        folder, whole = parts
        first, output = str(folder / "first.npz"), str(folder / "counts.npz")
        assert run(["count", str(folder / "part0.parquet"), "-o", first]) == 0
        assert run(["count", first, str(folder / "part1.parquet"), "-o", output]) == 0
        assert by_name(load_counts(output)) == whole

    def test_the_output_must_be_a_counts_file(self, parts, capsys):
        folder, _ = parts
        assert run(["count", str(folder / "part0.parquet"), "-o", "counts.csv"]) == 2
        expected = "Error: The output 'counts.csv' must end in .npz. Pass for example -o counts.npz.\n"
        assert capsys.readouterr().err == expected


class TestBadFiles:
    def test_a_model_is_no_counts(self, tmp_path):
        save_model(draw_model(1, ("a", "b"), ("x", "y")), tmp_path / "model.npz")
        expected = "holds a model, not a set of pair counts. Pass the right file."
        with pytest.raises(FileError, match=re.escape(expected)):
            load_counts(tmp_path / "model.npz")

    def test_counts_that_do_not_fit_together(self, tmp_path):
        counts = counted(draw_triples(1))
        object.__setattr__(counts, "first", counts.first + 100)
        save_counts(counts, tmp_path / "counts.npz")
        expected = "is damaged: its counts do not fit together. Count the answers again."
        with pytest.raises(FileError, match=re.escape(expected)):
            load_counts(tmp_path / "counts.npz")

    @pytest.mark.parametrize("cut", [10, 200, -30])
    def test_a_file_that_was_cut(self, tmp_path, cut):
        path = tmp_path / "counts.npz"
        save_counts(counted(draw_triples(1)), path)
        path.write_bytes(path.read_bytes()[:cut])
        with pytest.raises(FileError, match="cannot be read as a covote set of pair counts"):
            load_counts(path)
