"""Seconds from nothing to a result, as multiples of `python -c "import numpy"`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COVOTE = [sys.executable, "-m", "covote"]


def started(command, times):
    """Shortest wall time and shortest processor time of a command."""
    wall = processor = float("inf")
    for _ in range(times):
        before, start = os.times(), time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        wall = min(wall, time.perf_counter() - start)
        after = os.times()
        used = after.children_user + after.children_system - before.children_user - before.children_system
        processor = min(processor, used)
    return wall, processor


def start_up(times=7):
    """Ratios of `import covote`, `covote --help` and `covote aggregate` on rte to the import of NumPy."""
    from covote import load_dataset

    with tempfile.TemporaryDirectory() as folder:
        votes = Path(folder) / "rte.csv"
        a = load_dataset("rte").annotations.annotations
        rows = zip(a.item.tolist(), a.annotator.tolist(), a.label.tolist(), strict=True)
        votes.write_text("item,annotator,label\n" + "\n".join(f"{i},{m},{x}" for i, m, x in rows))
        commands = {
            "import numpy": [sys.executable, "-c", "import numpy"],
            "import covote": [sys.executable, "-c", "import covote"],
            "covote --help": [*COVOTE, "--help"],
            "covote aggregate (rte)": [*COVOTE, "aggregate", str(votes), "-o", str(Path(folder) / "out")],
        }
        for command in commands.values():
            started(command, 1)  # fill the caches
        measured = {name: started(command, times) for name, command in commands.items()}
    unit = measured["import numpy"]
    return {
        name: {"wall": wall, "processor": cpu, "ratio": wall / unit[0], "processor_ratio": cpu / unit[1]}
        for name, (wall, cpu) in measured.items()
    }
