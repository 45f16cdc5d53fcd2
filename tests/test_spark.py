"""Answers on Spark, in a local session and on a cluster that loses a worker: the same answers as in memory."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import numpy as np
import pytest

import covote
from covote.annotations import load
from covote.engines.memory import MemoryEngine
from covote.engines.spark import _run_job
from covote.errors import ConflictError, InputError, MissingExtraError
from covote.estimators.registry import make
from covote.estimators.tables import open_engine
from crowds import draw_model, draw_triples
from spark_cluster import cluster, session, why_not
from test_homes import METHODS, fitted

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


@pytest.fixture(scope="module")
def binary(spark):
    triples = draw_triples(0, n_items=60, classes=("no", "yes"))
    return open_engine(as_spark(spark, triples), None, {}), MemoryEngine(load(triples).annotations)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_gives_the_same(name, binary):
    engine, memory = binary
    (found, said), (expected, told) = fitted(name, engine), fitted(name, memory)
    assert said == told
    np.testing.assert_array_equal(found.codes_, expected.codes_)
    np.testing.assert_allclose(found.posterior_, expected.posterior_, atol=1e-6)
    if expected.fit_.model is not None:
        np.testing.assert_allclose(found.model_.confusion, expected.model_.confusion, atol=1e-9)


def test_passes_that_travel_to_the_partitions_give_the_same(binary):
    engine, memory = replace(binary[0], near=0), binary[1]
    np.testing.assert_array_equal(engine.pair_counts().blocks, memory.pair_counts().blocks)
    scores = draw_model(1, engine.annotators, engine.classes).scores()
    a, b = engine.expected_counts(scores), memory.expected_counts(scores)
    np.testing.assert_allclose(a.confusion, b.confusion, atol=1e-9)
    np.testing.assert_allclose(a.log_likelihood, b.log_likelihood, rtol=1e-12)


def test_labels_are_a_spark_frame_and_gold_is_certain(spark):
    triples = draw_triples(5)
    frame, gold = as_spark(spark, triples), {"item3": "bee", "item7": "ape"}
    fit = make("mv-ds").fit(frame, gold=gold)
    assert type(fit.labels_) is type(frame)
    expected = covote.aggregate(triples, "mv-ds", gold=gold).labels_
    assert {row[0]: row[1] for row in fit.labels_.collect()} == expected


def test_wide_frames_and_repeats(spark):
    wide = spark.createDataFrame(
        [("x", "no", "no"), ("y", None, "yes"), ("z", None, None)], "doc string, a string, b string"
    )
    fit = make("majority-vote").fit(wide)
    assert fit.engine_.n_unanswered == 1
    assert {row[0]: row[1] for row in fit.labels_.collect()} == {"x": "no", "y": "yes", "z": "no"}
    twice = as_spark(spark, [("x", "ann", "no"), ("x", "ann", "yes"), ("x", "bob", "yes"), ("y", "bob", "no")])
    with pytest.raises(ConflictError, match="^Annotator 'ann' labels item 'x' both 'no' and 'yes'"):
        make("majority-vote").fit(twice).labels_.collect()
    assert make("majority-vote").fit(twice, duplicates="first").engine_.label_counts().tolist() == [[1, 0], [1, 1]]
    with pytest.raises(
        InputError, match="Option delimiter is for text files, and this is a Spark frame. Leave it out."
    ):
        make("majority-vote").fit(twice, delimiter=",")


def test_workers_without_covote_are_one_sentence():
    def job():
        msg = "ModuleNotFoundError: No module named 'covote'"
        raise RuntimeError(msg)

    with pytest.raises(MissingExtraError, match="^covote cannot be imported on the workers of Spark. Install it there"):
        _run_job(job)


@pytest.mark.slow
def test_the_loss_of_a_worker_in_mid_job_changes_nothing(tmp_path, spark):
    spark.stop()
    triples = draw_triples(3, n_items=300)
    memory = MemoryEngine(load(triples).annotations)
    settings = {"spark.executor.memory": "512m", "spark.cores.max": "2", "spark.executor.cores": "1"}
    with cluster(tmp_path) as running, session(running.url, **settings) as driver:
        frame = slowed(as_spark(driver, triples).repartition(16))
        killer = threading.Thread(target=kill_in_mid_job, args=(running, driver.sparkContext.statusTracker()))
        killer.start()
        engine = replace(open_engine(frame, None, {}), near=0)
        counts = engine.pair_counts()
        killer.join(70)
        assert running.workers[0].poll() is not None
        assert running.workers[1].poll() is None
    expected = memory.pair_counts()
    assert counts.shared.sum() == expected.shared.sum()
    for m, name in enumerate(expected.annotators):
        place = counts.annotators.index(name)
        np.testing.assert_array_equal(counts.label_counts[place], expected.label_counts[m])


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
