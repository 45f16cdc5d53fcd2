"""Write docs/accuracy.md: every method on the five Mechanical Turk sets, and the methods of the field on all crowds.

Run `python scripts/write_accuracy.py` where the data folder is found (see `covote datasets list`).
"""

from __future__ import annotations

from pathlib import Path

from covote import METHODS, compare
from covote.annotations import load, load_truth
from covote.datasets import KNOWN, dataset_names, dataset_path, load_dataset

TARGET = Path(__file__).parent.parent / "docs" / "accuracy.md"
SETS = ("bluebird", "rte", "trec", "dog", "web")
FIELD = (
    "majority-vote",
    "mv-ds",
    "wawa",
    "zero-based-skill",
    "iwmv",
    "mmsr",
    "one-coin-ds",
    "glad",
    "mace",
    "bwa",
    "ibcc",
    "ebcc",
)
"""Run on all crowds; votes with given weights or gold need what these crowds do not have."""

LARGEST = 200_000
"""Crowds with more answers are left out, so that the page is written in minutes."""


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


def field_lines() -> list[str]:
    """One row for each crowd other than the five: the error of every method of the field."""
    lines = [
        "\n## Methods of the field on all other crowds\n",
        f"Error in percent, crowds of at most {LARGEST:,} answers.\n",
        "| crowd | " + " | ".join(f"`{m}`" for m in FIELD) + " |",
        "|---" * (len(FIELD) + 1) + "|",
    ]
    rows = []
    for name in (n for n in dataset_names() if n not in KNOWN):
        data = load_dataset(name)
        if data.annotations.annotations.n_labels > LARGEST:
            continue
        found = {t.method: t.error for t in compare(data.annotations, truth=data.truth_codes, methods=FIELD)}
        rows.append([100 * e.value if (e := found[m]) is not None else float("nan") for m in FIELD])
        lines.append(f"| {name} | " + " | ".join(f"{x:.2f}" for x in rows[-1]) + " |")
    means = [sum(column) / len(column) for column in zip(*rows, strict=True)]
    return [*lines, "| **mean** | " + " | ".join(f"{x:.2f}" for x in means) + " |"]


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
    return "\n".join([*lines, *field_lines(), ""])


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
