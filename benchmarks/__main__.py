"""`python -m benchmarks`: run everything, or the parts named, and write docs/benchmarks.md from what was measured."""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path

from benchmarks import big, cost, many_columns, page, pages, rivals, scaling, startup

DOCS = Path(__file__).parent.parent / "docs"
RESULTS = Path(__file__).parent / "results.json"
SIZES = (200_000, 2_000_000)  # items of the files that grow; five answers each

PARTS = {
    "em-pass": rivals.em_pass,
    "whole-fit": rivals.whole_fit,
    "trec": rivals.trec,
    "many-annotators": rivals.pair_counts_of_many_annotators,
    "start-up": startup.start_up,
    "encoding": big.encoding,
    "default-cost": cost.default_cost,
    "report": pages.report_pages,
    "wide": big.wide,
    "many-columns": many_columns.many_columns,
    "scaling": scaling.curves,
    "growth": lambda: [big.long_file(n, times=2, jobs=(big.VOTE, big.MULTISPA, big.WITH_EM)) for n in SIZES],
    "hundred-million": None,  # its jobs are saved one by one
}
NEEDS_CROWDKIT = ("em-pass", "whole-fit", "trec")
LARGE = ("hundred-million",)


def keep(results, name, value):
    """Remember what was measured, on disk too."""
    results[name] = {"value": value, "load": os.getloadavg()[0], "day": time.strftime("%Y-%m-%d")}
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


def hundred_million(results, wanted):
    """All jobs on the large file, or those wanted; with COVOTE_BENCH_FOLDER the file is kept between runs."""
    jobs = [job for job in (big.VOTE, *big.JOBS) if not wanted or job in wanted]
    before = results.get("hundred-million", {}).get("value") if wanted else None
    value = big.long_file(20_000_000, jobs=jobs, before=before, save=lambda v: keep(results, "hundred-million", v))
    keep(results, "hundred-million", value)


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all but {LARGE[0]} by default")
    parser.add_argument("--job", action="append", help="of hundred-million: this job only, by its name")
    parser.add_argument("--large", action="store_true", help="the hundred million labels too (10 GB of disk)")
    chosen = parser.parse_args()
    names = chosen.parts or [name for name in PARTS if chosen.large or name not in LARGE]
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        parser.error(f"unknown part {unknown[0]}; parts are: {', '.join(PARTS)}")
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    warnings.simplefilter("ignore")
    for name in names:
        if name in NEEDS_CROWDKIT and not rivals.has_crowdkit():
            print(f"{name}: skipped, crowd-kit is not installed (pip install crowd-kit)")
            continue
        start = time.perf_counter()
        if name in LARGE:
            hundred_million(results, chosen.job)
        else:
            keep(results, name, PARTS[name]())
        print(f"{name}: {time.perf_counter() - start:.0f} s")
    (DOCS / "benchmarks.md").write_text(page.text(results))
    if "scaling" in results:
        scaling.plot(results["scaling"]["value"], DOCS / "benchmarks-scaling.png")
    print(f"Written: {DOCS / 'benchmarks.md'}")


if __name__ == "__main__":
    main()
