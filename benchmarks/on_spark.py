"""`python -m benchmarks.on_spark`: covote on a local Spark beside Spark's own majority vote, and what a pass costs there.

Five million answers (a million items, 500 annotators, four classes), Parquet to Parquet, two cores, one session. The second
table keeps every answer in its partition and times single passes, for the arithmetic of large clusters.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from dataclasses import replace
from pathlib import Path

import covote
from benchmarks.crowds import Crowd
from benchmarks.markdown import table
from covote.annotations.reading import Reading
from covote.engines.spark import open_spark
from covote.methods.majority_vote import vote_scores

ITEMS = 1_000_000
HUGE = 10_000_000_000
CORES = 400


def seconds(work, times=2):
    """Best of several runs."""
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def main():
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    from pyspark.sql import functions as F

    from spark_cluster import session

    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder, session("local[2]", **{"spark.driver.memory": "2g"}) as spark:
        votes, out = Path(folder) / "votes.parquet", str(Path(folder) / "out")
        Crowd(ITEMS, annotators=500).write(votes)
        frame = spark.read.parquet(str(votes))
        answers = frame.count()

        def own_vote():
            shares = frame.groupBy("item", "label").count().groupBy("item")
            shares.agg(F.max_by("label", "count").alias("label")).write.mode("overwrite").parquet(out)

        def ours(method):
            covote.aggregate(frame, method).label_table(confidence=True).write.mode("overwrite").parquet(out)
            spark.catalog.clearCache()

        base = seconds(own_vote)
        rows = [["Spark's own majority vote", f"{base:.1f}", "1.0"]]
        for method in ("majority-vote", "multispa", "multispa-ds", "auto"):
            took = seconds(lambda m=method: ours(m))
            rows.append([f"covote, `{method}`", f"{took:.1f}", f"{took / base:.1f}"])
        print(table([f"{answers:,} answers, Parquet to Parquet", "seconds", "ratio"], rows))
        print(passes(frame, answers))


def passes(frame, answers):
    """Times of single passes over answers that stay in their partitions, and ten billion answers by the same rates."""
    begin = time.perf_counter()
    engine = replace(open_spark(frame, Reading(), None), near=0)
    engine.label_counts()
    encode = time.perf_counter() - begin
    scores = vote_scores(len(engine.annotators), len(engine.classes))
    jobs = {
        "encode and persist, once": encode,
        "pair counts, once": seconds(engine.pair_counts),
        "one EM pass": seconds(lambda: engine.expected_counts(scores)),
    }
    scale = HUGE / answers * 2 / CORES
    rows = [[name, f"{took:.1f}", f"{scale * took / 60:.1f}"] for name, took in jobs.items()]
    head = ["pass, answers in partitions", "seconds, 2 cores", f"minutes for {HUGE:,} answers on {CORES} cores"]
    return table(head, rows)


if __name__ == "__main__":
    main()
