"""The frame engine on Dask, with threads and on a cluster of two processes: the same answers as in memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from covote.engines.frame import FrameEngine
from covote.methods.dawid_skene import dawid_skene, majority_start
from covote.methods.majority_vote import vote_scores
from crowds import draw_triples
from test_frame_engine import check_against_memory, sorted_memory

dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed: pip install 'covote[dask]'")
pytestmark = pytest.mark.dask


def as_dask(triples, parts=3):
    return dd.from_pandas(pd.DataFrame(triples, columns=["item", "annotator", "label"]), npartitions=parts)


def test_counts_passes_and_labels_equal_those_in_memory():
    triples = draw_triples(0)
    check_against_memory(as_dask(triples), triples, passes=2)


def test_gold_items_are_certain():
    triples = draw_triples(5)
    gold = {"item3": "bee", "item7": "ape"}
    table = as_dask([(i, "", x) for i, x in gold.items()], 1)
    check_against_memory(as_dask(triples), triples, gold, passes=1, gold=table)


def test_the_labels_stay_a_dask_frame():
    frame = as_dask(draw_triples(13))
    assert type(FrameEngine(frame).posterior(vote_scores(6, 3))) is type(frame)


def test_explain_shows_every_plan():
    assert "Merge" in FrameEngine(as_dask(draw_triples(13))).explain(vote_scores(6, 3))


def test_a_cluster_of_two_processes_gives_the_same_model():
    distributed = pytest.importorskip("distributed", reason="distributed is not installed: pip install 'covote[dask]'")
    triples = draw_triples(8, n_items=60)
    memory = sorted_memory(triples)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster, timeout="30s"),
    ):
        engine = FrameEngine(as_dask(triples))
        np.testing.assert_array_equal(engine.pair_counts().blocks, memory.pair_counts().blocks)
        a = dawid_skene(engine, majority_start(engine), max_iter=1).model
    b = dawid_skene(memory, majority_start(memory), max_iter=1).model
    np.testing.assert_allclose(a.confusion, b.confusion, atol=1e-9)
