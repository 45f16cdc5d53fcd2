"""The demo: aggregate the votes of ten classifiers on handwritten digits and compare with the truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import covote
from covote.annotations import load, load_truth
from covote.cli.aggregate import write_results
from covote.cli.show import show_summary, show_table
from covote.estimators.summary import summarise
from covote.score import error_rate, single_annotators

HERE = Path(__file__).parent
OUTPUT = HERE.parent / "demo-output"


def main() -> None:
    """Aggregate, show, compare."""
    print("Ten classifiers, each trained on a fifth of the digits, each voting on 30 % of them.\n")
    votes = load(str(HERE / "digits_votes.csv"))
    votes_truth = load_truth(str(HERE / "digits_truth.csv"))
    truth = votes_truth.codes(votes.annotations)
    fit = covote.aggregate(votes)
    summary = summarise(fit, fit.method_name)
    written = write_results(fit, summary, OUTPUT, "csv")
    show_summary(
        summary, [path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path for path in written]
    )

    best = min(single_annotators(votes.annotations, truth), key=lambda row: row.error)
    a = votes.annotations
    same = np.full_like(truth, -1)
    seen = a.item[a.annotator == list(a.annotators).index(best.annotator)]
    same[seen] = truth[seen]
    majority = covote.MajorityVote().fit(votes)
    rows = [
        ("majority vote", _percent(majority, truth), f"all {a.n_items:,}"),
        ("covote", _percent(fit, truth), f"all {a.n_items:,}"),
        (f"best single classifier ({best.annotator})", f"{100 * best.error:.1f} %", f"the {best.answers} it answered"),
        ("covote", _percent(fit, same), f"the same {best.answers}"),
    ]
    print()
    show_table("Wrong labels, against the truth that covote did not see", ("who", "error", "of items"), rows)
    page = OUTPUT / "report.html"
    fit.report(page, truth=votes_truth, title="What ten classifiers said of 1,756 digits")
    print(f"\nThe report, worth a look in a browser: {page.relative_to(HERE.parent)}")
    print("Now try your own file:  .venv/bin/covote aggregate votes.csv --report report.html")


def _percent(fit: Any, truth: Any) -> str:
    return f"{100 * error_rate(fit.posterior_, truth):.1f} %"


if __name__ == "__main__":
    main()
