"""Measurements in, the page docs/benchmarks.md out."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

from benchmarks import big

MB, GB = 1e6, 1e9


def text(results):
    """The whole page; parts that were not run are left out."""
    values = {name: part["value"] for name, part in results.items()}
    parts = [_head(results), _bars(values)]
    for name, section in SECTIONS.items():
        if name in values:
            parts.append(section(values[name]))
    return "\n\n".join(part.strip() for part in parts) + "\n"


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def _head(results):
    packages = ", ".join(f"{name} {_version(name)}" for name in ("numpy", "numba", "duckdb", "crowd-kit"))
    loads = [part["load"] for part in results.values()]
    days = sorted({part["day"] for part in results.values()})
    return f"""# Benchmarks

Written by `make bench` (`python -m benchmarks`; `--large` adds the file of a hundred million labels; a name, such as
`python -m benchmarks em-pass`, runs one part). Ours and the others run on the same data on the same machine, best of
several, in turns where that is possible; what counts are the ratios. Memory is the peak of a process of its own.

{os.cpu_count()} cores, Python {platform.python_version()}, {packages}; {", ".join(days)}. Load average {min(loads):.1f}
to {max(loads):.1f} at the end of each part. Where both were measured, processor seconds stand beside wall seconds."""


def _version(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return "(not installed)"


def _bars(v):
    rows = []

    def bar(check, wanted, measured, met):
        rows.append([check, wanted, measured, "yes" if met else "**no**"])

    if "em-pass" in v:
        ratio = v["em-pass"]["crowd-kit"] / v["em-pass"]["ours"]
        bar("EM pass, 1 million labels, two threads", "20 x faster than crowd-kit's", f"{ratio:.0f} x", ratio >= 20)
    if "whole-fit" in v:
        ours, rival = v["whole-fit"]["ours"], v["whole-fit"]["rival"]
        ratio = rival["seconds"] / ours["seconds"]
        bar("whole DawidSkene fit, table to labels", "20 x faster than crowd-kit's", f"{ratio:.0f} x", ratio >= 20)
        share = ours["memory"] / rival["memory"]
        bar("its memory above the table", "at most a quarter of crowd-kit's", f"{share:.2f}", share <= 0.25)
    if "trec" in v:
        ratio = v["trec"]["crowd-kit"] / v["trec"]["ours"]
        bar("multispa on trec, table to labels", "faster than crowd-kit's Dawid-Skene", f"{ratio:.1f} x", ratio > 1)
    if "hundred-million" in v:
        _large_bars(v["hundred-million"], bar)
    if "growth" in v and big.MULTISPA in v.get("hundred-million", {}):
        slope = big.slope([*v["growth"], v["hundred-million"]])
        bar("growth from 1 to 100 million labels", "slope at most 1.1", f"{slope:.2f}", slope <= 1.1)
    if "wide" in v:
        for job, what in ((big.WARM, "wide file to labels"), (big.MULTISPA, "the same as a command, to a file")):
            ratio = v["wide"][job]["seconds"] / v["wide"]["group by"]["seconds"]
            check = f"10 million items x 9 judges, {what}"
            bar(check, "at most 3 x DuckDB's group-by", f"{ratio:.1f} x", ratio <= 3)
    if "start-up" in v:
        for name, most in (("import covote", 1.5), ("covote --help", 3), ("covote aggregate (rte)", 10)):
            ratio = v["start-up"][name]["ratio"]
            bar(name, f"at most {most} x import numpy", f"{ratio:.1f} x", ratio <= most)
    return "## At a glance\n\n" + table(["check", "aim", "measured", "met"], rows)


def _large_bars(run, bar):
    vote = run[big.VOTE]
    jobs = [(job, most) for job, most in ((big.MULTISPA, 4), (big.WITH_EM, 8)) if job in run]
    for job, most in jobs:
        ratio = run[job]["seconds"] / vote["seconds"]
        what = f"100 million labels, Parquet to Parquet, {job}"
        bar(what, f"at most {most} x DuckDB's majority vote", f"{ratio:.1f} x", ratio <= most)
    peak = max((run[job]["peak"] for job, _ in jobs), default=0) / GB
    bar("peak memory of these", "under 4 GB", f"{peak:.1f} GB", peak < 4)
    if "labels that differ" in run:
        differ = run["labels that differ"]
        bar("the same on disk with 1 GB", "finishes, same labels", f"{differ} labels differ", differ == 0)


def _em_pass(v):
    rows = [[name, f"{1000 * value:.1f}"] for name, value in v.items()]
    return "## An EM pass\n\nOne million labels, 1000 annotators, 4 classes, two threads.\n\n" + table(
        ["", "milliseconds a pass"], rows
    )


def _whole_fit(v):
    rows = [
        [
            {"ours": "covote DawidSkene", "rival": "crowd-kit DawidSkene"}[name],
            f"{r['seconds']:.2f}",
            f"{r['memory'] / MB:.0f}",
            f"{100 * r['accuracy']:.2f} %",
            f"{r['log_likelihood']:.0f}",
        ]
        for name, r in v.items()
    ]
    return (
        "## A whole fit\n\nThe same million labels, from pandas table to labels. Plain maximum likelihood from "
        "majority vote in both; crowd-kit stops by its own rule, covote when an accelerated cycle gains "
        "less than 2e-5 of the log-likelihood. The log-likelihood of both models is computed by the same function.\n\n"
        + table(["", "seconds", "memory above the table, MB", "accuracy", "log-likelihood"], rows)
    )


def _trec(v):
    names = {
        "ours": "covote MultiSPA",
        "crowd-kit": "crowd-kit DawidSkene",
        "cleanlab": "cleanlab CROWDLAB, vote shares for a classifier",
    }
    rows = [[names[k], f"{v[k]:.2f}", f"{100 * v['errors'][k]:.1f} %"] for k in names if k in v]
    rows.append(["MultiSPA in Matlab, as the paper reports it (another machine)", f"{v['matlab']:.2f}", "31.5 %"])
    return f"## trec\n\n{v['labels']:,} labels as a pandas table, to labels.\n\n" + table(
        ["", "seconds", "error"], rows
    )


def _encoding(v):
    rows = [[name, f"{value:.1f}"] for name, value in v["seconds"].items()]
    return (
        f"## Encoding beside fitting\n\n{v['labels']:,} labels, from a file or a frame to codes; then what fitting takes.\n\n"
        + table(["", "seconds"], rows)
    )


def _default_cost(v):
    rows = [
        [
            f"{r['labels']:,}",
            r["annotators"],
            r["classes"],
            f"{r['auto']:.2f}",
            f"{r['one']:.2f}",
            f"{r['auto'] / r['one']:.1f}",
        ]
        for r in v
    ]
    head = ["labels", "annotators", "classes", "the default, seconds", "one Dawid-Skene fit, seconds", "ratio"]
    return "## What the default costs\n\nAnswers in memory, to labels.\n\n" + table(head, rows)


def _report(v):
    rows = [[r["set"], f"{r['bytes'] / 1e6:.2f}", f"{r['seconds']:.1f}"] for r in v]
    return "## Reports\n\nFitted by multispa-ds, diagnosis included.\n\n" + table(
        ["", "page, MB", "seconds after the fit"], rows
    )


def _many(v):
    rows = [
        ["count all pairs", f"{v['all']:.1f}", f"{v['pairs']:,}"],
        ["count the 8 strongest partners of each", f"{v['limited']:.1f}", f"{v['limited_pairs']:,}"],
        ["MultiSPA from the latter", f"{v['multispa']:.1f}", ""],
    ]
    return (
        "## A hundred thousand annotators\n\nOne million labels, ten an annotator, 4 classes; peak memory above the "
        f"answers {v['memory'] / MB:.0f} MB.\n\n" + table(["", "seconds", "pairs"], rows)
    )


def _start_up(v):
    rows = [[name, f"{r['wall']:.2f}", f"{r['ratio']:.1f}", f"{r['processor_ratio']:.1f}"] for name, r in v.items()]
    return "## Start-up\n\n" + table(["", "seconds", "x import numpy", "processor time, x import numpy"], rows)


def _wide(v):
    rows = [_run_row(name, r, v["group by"]) for name, r in v.items()]
    return (
        "## Nine judges on ten million items\n\nA wide Parquet file, all answered, two classes. DuckDB counts its "
        "distinct rows. `multispa` is the whole command: it starts Python, reads the file and writes ten million labels "
        "and confidences to Parquet, and writing is by itself more work than the group-by. In the last lines "
        "Python runs already and the labels stay in memory.\n\n" + table(RUN_HEADER, rows)
    )


def _many_columns(rows):
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    found = {(row["columns"], row["kind"]): row for row in rows}
    lines = []
    for columns in dict.fromkeys(row["columns"] for row in rows):
        peak = max(found[columns, kind]["peak"] for kind in kinds) / GB
        lines.append([f"{columns:,}", *(f"{found[columns, kind]['processor']:.2f}" for kind in kinds), f"{peak:.2f}"])
    return (
        "## Very many columns\n\nProcessor seconds to read a wide table of twenty rows, a column per annotator, and the largest "
        "peak of memory. Time grows with the columns.\n\n" + table(["columns", *kinds, "peak, GB"], lines)
    )


RUN_HEADER = ["", "seconds", "ratio", "processor seconds", "peak, GB", "accuracy"]


def _run_row(name, r, unit):
    accuracy = f"{100 * r['accuracy']:.2f} %" if "accuracy" in r else ""
    ratio = f"{r['seconds'] / unit['seconds']:.1f}"
    return [name, f"{r['seconds']:.1f}", ratio, f"{r['processor']:.1f}", f"{r['peak'] / GB:.2f}", accuracy]


def _long(run):
    jobs = [name for name in (big.VOTE, *big.JOBS) if name in run]
    rows = [_run_row(name, run[name], run[big.VOTE]) for name in jobs]
    return f"{run['labels']:,} labels\n\n" + table(RUN_HEADER, rows)


def _growth(runs):
    intro = (
        "## Files of growing size\n\n`covote aggregate votes.parquet --format parquet`, file to file, beside DuckDB's "
        "majority vote (the quicker of `mode` and `arg_max` of counts). Five answers an item in random order, 1000 "
        "annotators, 4 classes.\n\n"
    )
    return intro + "\n\n".join(_long(run) for run in runs)


def _large(run):
    differ = run.get("labels that differ")
    note = "" if differ is None else f"\n\nLabels that differ between memory and disk with 1 GB: {differ}."
    return "## A hundred million labels\n\n" + _long(run) + note


def _scaling(rows):
    works = list(dict.fromkeys(row["work"] for row in rows))
    parts = []
    for curve in dict.fromkeys(row["curve"] for row in rows):
        mine = [row for row in rows if row["curve"] == curve]
        cells = {(row["x"], row["work"]): row["seconds"] for row in mine}
        lines = [[f"{x:,}", *(f"{1000 * cells[x, w]:.1f}" for w in works)] for x in dict.fromkeys(r["x"] for r in mine)]
        parts.append(table([curve, *works], lines))
    return (
        "## Growth in memory\n\nMilliseconds, answers already encoded. One million labels, 1000 annotators, 4 classes "
        "unless the column says otherwise (classes: 100 annotators; threads: ten million labels); with more than 2000 "
        "annotators, pairs are those of the 20 strongest partners of each.\n\n![Growth](benchmarks-scaling.png)\n\n"
        + "\n\n".join(parts)
    )


SECTIONS = {
    "em-pass": _em_pass,
    "whole-fit": _whole_fit,
    "trec": _trec,
    "growth": _growth,
    "hundred-million": _large,
    "encoding": _encoding,
    "default-cost": _default_cost,
    "report": _report,
    "wide": _wide,
    "many-columns": _many_columns,
    "many-annotators": _many,
    "start-up": _start_up,
    "scaling": _scaling,
}
