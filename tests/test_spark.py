"""The frame engine on Spark, in a local session and on a cluster that loses a worker: the same answers as in memory."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from covote.engines.frame import FrameEngine
from covote.methods.dawid_skene import dawid_skene, majority_start
from covote.methods.majority_vote import vote_scores
from crowds import draw_model, draw_triples
from spark_cluster import cluster, session, why_not
from test_frame_engine import check_against_memory, sorted_memory

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets of Py4J
]


@pytest.fixture(scope="module")
def spark():
    quick = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
    with session("local[2]", **quick) as running:
        yield running


def as_spark(spark, triples):
    return spark.createDataFrame(triples, "item string, annotator string, label string")


def test_counts_passes_and_labels_equal_those_in_memory(spark):
    triples = draw_triples(0)
    check_against_memory(as_spark(spark, triples), triples, passes=2)


def test_gold_items_are_certain(spark):
    triples = draw_triples(5)
    gold = {"item3": "bee", "item7": "ape"}
    table = as_spark(spark, [(i, "", x) for i, x in gold.items()])
    check_against_memory(as_spark(spark, triples), triples, gold, passes=1, gold=table)


def test_the_labels_stay_a_spark_frame(spark):
    frame = as_spark(spark, draw_triples(13))
    assert type(FrameEngine(frame).posterior(vote_scores(6, 3))) is type(frame)


def test_explain_shows_every_plan(spark):
    text = FrameEngine(as_spark(spark, draw_triples(13))).explain(vote_scores(6, 3))
    assert "BroadcastHashJoin" in text  # the model goes to the answers
    assert "posterior\n---" in text


def test_models_agree(spark):
    triples = draw_triples(8)
    memory, engine = sorted_memory(triples), FrameEngine(as_spark(spark, triples))
    a, b = (dawid_skene(e, majority_start(e), max_iter=1).model for e in (engine, memory))
    np.testing.assert_allclose(a.confusion, b.confusion, atol=1e-9)


@pytest.mark.slow
def test_the_loss_of_a_worker_in_mid_job_changes_nothing(tmp_path, spark):
    spark.stop()
    triples = draw_triples(3, n_items=300)
    memory = sorted_memory(triples)
    settings = {"spark.executor.memory": "512m", "spark.cores.max": "2", "spark.executor.cores": "1"}
    with cluster(tmp_path) as running, session(running.url, **settings) as driver:
        engine = FrameEngine(slowed(as_spark(driver, triples).repartition(16)), distinct=True)
        scores = draw_model(1, engine.annotators, engine.classes).scores()
        killer = threading.Thread(target=kill_in_mid_job, args=(running, driver.sparkContext.statusTracker()))
        killer.start()
        soft = engine.expected_counts(scores)
        killer.join(70)
        assert running.workers[0].poll() is not None
        assert running.workers[1].poll() is None
        np.testing.assert_array_equal(engine.pair_counts().blocks, memory.pair_counts().blocks)
    expected = memory.expected_counts(scores)
    np.testing.assert_allclose(soft.confusion, expected.confusion, atol=1e-9)
    np.testing.assert_allclose(soft.log_likelihood, expected.log_likelihood, rtol=1e-12)


def slowed(frame):
    """The same rows, each partition of which takes a while, so that there is a middle of the job."""

    def slowly(batches):
        time.sleep(0.1)
        yield from batches

    return frame.mapInArrow(slowly, frame.schema)


def kill_in_mid_job(running, tracker):
    """Kill the first worker as soon as some, and not nearly all, tasks of a stage are done."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        if any(s and s.numActiveTasks > 1 and 2 < s.numCompletedTasks < s.numTasks - 4 for s in stages):
            running.kill_worker(0)
            return
        time.sleep(0.02)
