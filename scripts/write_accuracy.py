"""Write docs/accuracy.md: every method on the five Mechanical Turk sets, all annotators, default settings.

Run `python scripts/write_accuracy.py` where the data folder is found (see `covote datasets list`).
"""

from __future__ import annotations

from pathlib import Path

from covote import METHODS, compare
from covote.annotations import load, load_truth
from covote.datasets import dataset_path

TARGET = Path(__file__).parent.parent / "docs" / "accuracy.md"
SETS = ("bluebird", "rte", "trec", "dog", "web")


def cells(name: str) -> dict[str, str]:
    """Error and 90 % interval of every method on one set."""
    folder = dataset_path(name)
    loaded = load(str(folder / "crowd.txt"))
    truth = load_truth(str(folder / "truth.txt")).codes(loaded.annotations)
    out = {}
    for trial in compare(loaded, truth=truth):
        e = trial.error
        out[trial.method] = "-" if e is None else f"{100 * e.value:.2f} ({100 * e.low:.1f} to {100 * e.high:.1f})"
    return out


def page() -> str:
    """The whole page."""
    columns = {name: cells(name) for name in SETS}
    lines = [
        "# Accuracy on the five Mechanical Turk sets\n",
        "All annotators, default settings, run to convergence. Error in percent over items with truth, ties counted",
        "as fractions, with the 90 % Wilson interval. `-`: the method works on two classes only. Made by",
        "`python scripts/write_accuracy.py`.\n",
        "| method | " + " | ".join(SETS) + " |",
        "|---" * (len(SETS) + 1) + "|",
    ]
    lines += [f"| `{m}` | " + " | ".join(columns[s][m] for s in SETS) + " |" for m in METHODS]
    lines.append("\nIntervals that overlap mean that the set cannot tell the methods apart.\n")
    return "\n".join(lines)


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
