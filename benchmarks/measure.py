"""Work in, seconds and peak memory out; work that is measured for memory runs in a process of its own."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
import warnings


def seconds(work, times=3):
    """Shortest of several runs, and the last result."""
    best, result = float("inf"), None
    for _ in range(times):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return best, result


def alternately(works, times=3):
    """Shortest run of each of several works by name, in turns, so that a busy spell of the machine hits them all."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(times):
        for name, work in works.items():
            best[name] = min(best[name], seconds(work, 1)[0])
    return best


def resident():
    """Memory of this process in bytes, now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def peak():
    """Most memory of this process so far, in bytes (`getrusage` would count the parent's before the program began)."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


def in_child(function, **arguments):
    """`benchmarks.module:function(**arguments)` in a new process: its result (a dict) with `peak` in bytes."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.measure", function, json.dumps(arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-3000:])
    return json.loads(done.stdout.splitlines()[-1])


def main():
    module, function = sys.argv[1].split(":")
    warnings.simplefilter("ignore")
    result = getattr(importlib.import_module(module), function)(**json.loads(sys.argv[2]))
    print(json.dumps({**(result or {}), "peak": peak()}))


if __name__ == "__main__":
    main()
