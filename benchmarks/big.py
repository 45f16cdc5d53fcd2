"""Large files: Parquet in, labels in Parquet out, beside DuckDB's own majority vote and group-by on the same file."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np

from benchmarks.crowds import Crowd, wide_file
from benchmarks.measure import in_child, seconds

VOTES = (
    "SELECT item, mode(label) AS label FROM votes GROUP BY item",
    "SELECT item, arg_max(label, n) AS label FROM (SELECT item, label, count(*) AS n FROM votes GROUP BY ALL) "
    "GROUP BY item",
)
TEN_PASSES = ["--set", "max_iter=10", "--set", "tol=0", "--set", "accelerate=False"]


def majority_vote(source, target, query):
    """DuckDB's majority vote from file to file."""
    with duckdb.connect() as con:
        query = f"COPY ({query.replace('votes', repr(source))}) TO '{target}' (FORMAT parquet)"
        return timed(lambda: con.execute(query))


def group_by(source, columns):
    """DuckDB's group-by over the columns of a wide file."""
    with duckdb.connect() as con:
        names = ", ".join(columns)
        query = f"SELECT {names}, count(*) AS n FROM '{source}' GROUP BY {names}"
        return timed(lambda: con.execute(query).fetchall())


def aggregate(source, folder, options):
    """`covote aggregate` from file to folder, imports included."""
    from covote.cli.app import run

    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        result = timed(lambda: run(["aggregate", source, "-o", folder, "--format", "parquet", *options]))
    if not Path(folder, "labels.parquet").exists():
        raise RuntimeError(errors.getvalue())
    return result


def timed(work):
    start, processor = time.perf_counter(), time.process_time()
    work()
    return {"seconds": time.perf_counter() - start, "processor": time.process_time() - processor}


def best_child(times, function, **arguments):
    runs = [in_child(function, **arguments) for _ in range(times)]
    best = {name: min(r[name] for r in runs) for name in ("seconds", "processor")}
    return {**best, "peak": max(r["peak"] for r in runs)}


MULTISPA = "multispa"
WARM = "multispa in Python, file to labels"
WARM_DEFAULT = "the default in Python, file to labels"
DEFAULT = "the default"
WITH_EM = "multispa and 10 EM passes"
OUT_OF_CORE = "multispa on disk, 1 GB"
DEFAULT_ON_DISK = "the default on disk, 1 GB"
JOBS = {
    MULTISPA: ["-m", "multispa", "--engine", "memory"],
    WITH_EM: ["-m", "multispa-ds", *TEN_PASSES, "--engine", "memory"],
    DEFAULT: ["--engine", "memory"],
    OUT_OF_CORE: ["-m", "multispa", "--engine", "disk", "--memory-limit", "1GB"],
    DEFAULT_ON_DISK: ["--engine", "disk", "--memory-limit", "1GB"],
}


VOTE = "majority vote"


def long_file(items, times=1, jobs=(VOTE, *JOBS), before=None, save=lambda _: None):
    """Measurements on one long file of five answers an item, 1000 annotators, 4 classes; `save` gets what is known."""
    crowd = Crowd(items)
    out = {**(before or {}), "labels": crowd.labels}
    with kept_or_temporary() as place:
        source = place / f"votes-{crowd.labels}.parquet"
        if not source.exists():
            crowd.write(source)
        for name in jobs:
            target = place / f"{name} {crowd.labels}"
            target.mkdir(exist_ok=True)
            out[name] = _vote(source, target, times) if name == VOTE else _job(name, source, target, times)
            out[name]["accuracy"] = crowd.accuracy(target / "labels.parquet")
            save(out)
        one, other = (place / f"{name} {crowd.labels}" / "labels.parquet" for name in (MULTISPA, OUT_OF_CORE))
        if one.exists() and other.exists():
            out["labels that differ"] = _differences(one, other)
    return out


@contextlib.contextmanager
def kept_or_temporary():
    """The folder COVOTE_BENCH_FOLDER, which is kept so that a long run can be done in pieces, or a temporary one."""
    kept = os.environ.get("COVOTE_BENCH_FOLDER")
    if kept:
        Path(kept).mkdir(exist_ok=True)
        yield Path(kept)
    else:
        with tempfile.TemporaryDirectory(prefix="covote-bench-") as folder:
            yield Path(folder)


def _vote(source, target, times):
    arguments = {"source": str(source), "target": str(target / "labels.parquet")}
    runs = [best_child(times, "benchmarks.big:majority_vote", **arguments, query=query) for query in VOTES]
    return min(runs, key=lambda run: run["seconds"])


def _job(name, source, target, times):
    arguments = {"source": str(source), "folder": str(target), "options": JOBS[name]}
    return best_child(1 if name in (OUT_OF_CORE, DEFAULT_ON_DISK) else times, "benchmarks.big:aggregate", **arguments)


def _differences(one, other):
    query = f"SELECT count(*) FROM '{one}' a FULL JOIN '{other}' b USING (item) WHERE a.label IS DISTINCT FROM b.label"
    with duckdb.connect() as con:
        return int(con.execute(query).fetchone()[0])


def wide(items=10_000_000, annotators=9, times=3):
    """A row an item, a column a judge: ours against DuckDB's group-by over the columns."""
    with tempfile.TemporaryDirectory(prefix="covote-bench-") as place:
        source = str(wide_file(Path(place) / "wide.parquet", items, annotators))
        columns = [f"judge{a}" for a in range(annotators)]
        out = {"group by": best_child(times, "benchmarks.big:group_by", source=source, columns=columns)}
        options = ["-m", "multispa", "--engine", "memory", "--shape", "wide"]
        target = str(Path(place) / "out")
        out[MULTISPA] = best_child(times, "benchmarks.big:aggregate", source=source, folder=target, options=options)
        for name, method in ((WARM, "multispa"), (WARM_DEFAULT, "auto")):
            out[name] = best_child(times, "benchmarks.big:fit_wide", source=source, method=method)
    return out


def fit_wide(source, method):
    """From a file to labels and confidences in memory, in a process that has loaded what it needs."""
    import covote

    warm = str(wide_file(Path(source).with_name("warm.parquet"), 100_000))
    _labelled(covote.aggregate(warm, method, shape="wide"))
    return timed(lambda: _labelled(covote.aggregate(source, method, shape="wide")))


def _labelled(fitted):
    return fitted.codes_, fitted.confidence_


def encoding(items=2_000_000):
    """Seconds from files and frames of ten million labels to codes, and of fitting them."""
    import covote
    from covote.annotations import load

    crowd = Crowd(items)
    with tempfile.TemporaryDirectory(prefix="covote-bench-") as folder, duckdb.connect() as con:
        place = Path(folder)
        integers = crowd.write(place / "integers.parquet")
        texts = place / "texts.parquet"
        named = "'item-' || item AS item, 'annotator-' || annotator AS annotator, 'class-' || label AS label"
        con.execute(f"COPY (SELECT {named} FROM '{integers}') TO '{texts}' (FORMAT parquet)")
        con.execute(f"COPY (FROM '{integers}') TO '{place}/integers.csv'")
        tables = {
            "Parquet of integers": integers,
            "Parquet of texts": texts,
            "CSV of integers": place / "integers.csv",
            "pandas frame of integers": con.sql(f"FROM '{integers}'").df(),
        }
        load(tables["pandas frame of integers"].head(1000))
        found = {f"encode a {name}": seconds(lambda t=t: load(t), 1)[0] for name, t in tables.items()}
        answers = load(integers)
    for name, method in (("MultiSPA", "multispa"), ("MultiSPA, then EM", "multispa-ds"), ("the default", "auto")):
        found[f"fit {name}, to labels"] = seconds(lambda m=method: _labelled(covote.aggregate(answers, m)), 1)[0]
    return {"labels": crowd.labels, "seconds": found}


def slope(results, job=MULTISPA):
    """Slope of log time against log labels over several sizes."""
    labels = np.log([r["labels"] for r in results])
    return float(np.polyfit(labels, np.log([r[job]["seconds"] for r in results]), 1)[0])
