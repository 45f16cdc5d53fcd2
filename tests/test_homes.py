"""Laws of the homes of chunks: on disk and on Dask every method gives what it gives in memory, and cuts do not show."""

from __future__ import annotations

import gc
import tempfile
import warnings
from dataclasses import replace
from itertools import pairwise
from operator import methodcaller

import numpy as np
import pandas as pd
import pytest

import covote
from covote.annotations import Reading, Truth, load
from covote.engines.chunked import added
from covote.engines.disk import open_disk
from covote.engines.memory import MemoryEngine
from covote.engines.passes import Chunk
from covote.errors import ConflictError, ConvergenceWarning, CrowdWarning, InputError
from covote.estimators.registry import make
from covote.estimators.tables import open_engine
from covote.methods.majority_vote import vote_scores
from covote.sampling import Draw, item_keys
from crowds import draw_model, draw_triples

NAMES = ["item", "annotator", "label"]
METHODS = list(covote.METHODS)
LIMIT = "60KB"  # several parts


def written(triples, place):
    path = place / "votes.csv"
    pd.DataFrame(triples, columns=NAMES).to_csv(path, index=False)
    return str(path)


def fitted(name, engine):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = make(name).fit_engine(engine)
    return fit, [str(w.message) for w in caught if issubclass(w.category, (ConvergenceWarning, CrowdWarning))]


def check_same(name, engine, memory):
    """The same labels in the same order, models, probabilities and warnings, near and far from this process."""
    expected, told = fitted(name, memory)
    for near in (0, 2**26):
        found, said = fitted(name, replace(engine, near=near))
        assert said == told
        np.testing.assert_array_equal(found.codes_, expected.codes_)
        np.testing.assert_allclose(found.posterior_, expected.posterior_, atol=1e-6)
        if expected.fit_.model is not None:
            np.testing.assert_allclose(found.model_.confusion, expected.model_.confusion, atol=1e-9)


@pytest.fixture(scope="module")
def binary(tmp_path_factory):
    triples = draw_triples(0, n_items=300, classes=("no", "yes"))
    disk = open_engine(written(triples, tmp_path_factory.mktemp("votes")), None, {}, place="disk", memory_limit=LIMIT)
    return disk, MemoryEngine(load(triples).annotations)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_gives_the_same_on_disk(name, binary):
    disk, memory = binary
    assert disk.home.parts > 2
    check_same(name, disk, memory)


@pytest.mark.dask
@pytest.mark.parametrize("name", METHODS)
def test_every_method_gives_the_same_on_dask(name):
    dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed: pip install 'covote[dask]'")
    triples = draw_triples(1, n_items=60, classes=("no", "yes"))
    frame = dd.from_pandas(pd.DataFrame(triples, columns=NAMES), npartitions=3)
    engine = open_engine(frame, None, {})
    check_same(name, engine, MemoryEngine(load(triples).annotations))
    fit = make("majority-vote").fit(frame)
    assert type(fit.labels_) is type(frame)
    assert dict(fit.labels_.compute().itertuples(index=False)) == covote.aggregate(triples, "majority-vote").labels_


@pytest.mark.parametrize("cuts", [[], [7], [1, 2, 30]])
def test_sums_of_chunks_do_not_depend_on_the_cuts(cuts):
    a = load(draw_triples(3)).annotations
    model = draw_model(1, tuple(a.annotators), tuple(a.classes))
    sizes = (a.n_annotators, a.n_classes)
    edges = [0, *cuts, a.n_items]
    chunks = [
        Chunk.of(a.offsets[b : e + 1] - a.offsets[b], a.answer[a.offsets[b] : a.offsets[e]], sizes)
        for b, e in pairwise(edges)
    ]
    whole = Chunk.of(a.offsets, a.answer, sizes)
    for work in (
        methodcaller("label_counts"),
        methodcaller("sizes"),
        methodcaller("expected_counts", model.scores()),
        methodcaller("expected_counts", vote_scores(*sizes)),
        methodcaller("group_moments", np.arange(a.n_annotators) % 3),
        methodcaller("triple_moments", np.array([[0, 1, 2], [2, 3, 4]])),
        methodcaller("label_facts", model.scores(), np.ones(a.n_classes), 0.8),
    ):
        for part, expected in zip(added(map(work, iter(chunks))), work(whole), strict=True):
            np.testing.assert_allclose(part, expected, atol=1e-9)


def test_gold_duplicates_and_headerless_files_are_honoured(tmp_path):
    triples = [*draw_triples(5), ("item3", "judge0", "bee"), ("item3", "judge0", "cow")]
    path = tmp_path / "votes.txt"
    pd.DataFrame(triples).to_csv(path, index=False, header=False, sep="|")
    options = {"columns": "item,annotator,label", "delimiter": "|"}
    gold = {"item3": "bee", "item7": "dodo"}
    with pytest.raises(ConflictError):
        open_engine(str(path), gold, options, place="disk")
    for policy in ("first", "last", "majority"):
        reading = {**options, "duplicates": policy}
        memory, disk = (
            make("mv-ds").fit_engine(open_engine(str(path), gold, reading, place=p, memory_limit=LIMIT))
            for p in ("memory", "disk")
        )
        assert disk.classes_ == memory.classes_ == ("ape", "bee", "cow", "dodo")
        assert disk.labels_.fetchall() == memory.labels_.fetchall()
        np.testing.assert_allclose(disk.posterior_, memory.posterior_, atol=1e-9)


def test_wide_tables_keep_items_without_an_answer(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("doc,ann,bob,cid\nx,yes,no,yes\ny,,,\nz,no,no,\n")
    memory, disk = (
        make("majority-vote").fit_engine(open_engine(str(path), None, {}, place=p)) for p in ("memory", "disk")
    )
    assert disk.annotators_ == memory.annotators_ == ("ann", "bob", "cid")
    assert disk.engine_.n_unanswered == 1
    assert disk.labels_.fetchall() == memory.labels_.fetchall()


def test_the_bootstrap_draws_the_same_items_everywhere(binary):
    disk, memory = binary
    draw = Draw(3, 1)
    expected = memory.resampled(draw).label_counts()
    for near in (0, 2**26):
        np.testing.assert_allclose(replace(disk, near=near).resampled(draw).label_counts(), expected)
    one, other = (e.redrawn(vote_scores(6, 2), vote_scores(6, 2), draw) for e in (replace(disk, near=0), memory))
    np.testing.assert_array_equal(one.classes, other.classes)
    assert one.wrong == pytest.approx(other.wrong)


def test_keys_depend_on_the_id_alone():
    names = ["item1", "item22", "é"]
    np.testing.assert_array_equal(item_keys(names)[::-1], item_keys(names[::-1]))


def test_lazy_frames_are_streamed_and_frames_in_memory_refused():
    pl = pytest.importorskip("polars")
    triples = draw_triples(2)
    lazy = pl.LazyFrame(triples, schema=NAMES, orient="row")
    disk = make("multispa").fit_engine(open_engine(lazy, None, {}, place="disk"))
    np.testing.assert_array_equal(disk.codes_, covote.aggregate(triples, "multispa").codes_)
    with pytest.raises(InputError, match="in memory already"):
        open_engine(lazy.collect(), None, {}, place="disk")


def test_options_for_text_files_are_refused_on_frames():
    pl = pytest.importorskip("polars")
    lazy = pl.LazyFrame(draw_triples(2), schema=NAMES, orient="row")
    with pytest.raises(InputError, match="Option columns is for text files, and this is a frame. Leave it out."):
        open_engine(lazy, None, {"columns": "a,b,c"}, place="disk")


def test_what_does_not_fit_is_refused_in_one_sentence(binary):
    disk, _ = binary
    small = replace(disk, home=replace(disk.home, limit=100), near=0)
    with pytest.raises(InputError, match="Use a method that needs counts alone"):
        make("kos").fit_engine(small)


def test_the_folder_goes_with_the_engine_and_after_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def folders():
        gc.collect()
        return list(tmp_path.glob("covote-parts-*"))

    path = written(draw_triples(2), tmp_path)
    engine = open_disk(path, Reading())
    relation = engine.label_table(vote_scores(6, 3))
    del engine
    assert len(folders()) == 1
    assert len(relation.fetchall()) == 40
    del relation
    assert folders() == []
    with pytest.raises(InputError, match="The truth shares no item"):
        open_disk(path, Reading(), Truth(["nobody"], ["ape"]))
    assert folders() == []


def test_partners_are_bounded_where_blocks_would_not_fit(monkeypatch):
    from covote.engines import pair_counting, partners

    for module in (pair_counting, partners):
        monkeypatch.setattr(module, "MOST_CELLS", 600)
    rng = np.random.default_rng(0)
    votes = [(i, m, "ab"[rng.integers(2)]) for i in range(300) for m in range(40)]
    fit = covote.aggregate(votes, "multispa")
    assert fit.counts_.max_partners == 8
    assert np.bincount(np.concatenate([fit.counts_.first, fit.counts_.second])).max() <= 16
    assert any("each annotator with the 8 it shares most items with" in note for note in fit.fit_.notes)
