"""Facts in, text for a person out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from covote.estimators.summary import AnnotatorFacts, Summary

_FEW = 3
_MOST_CLASSES = 12


def console() -> Console:
    """Standard output; plain text of full width when piped."""
    out = Console(highlight=False)
    return out if out.is_terminal else Console(highlight=False, width=120, no_color=True)


def show_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], *, left: int = 1) -> None:
    """A table: the first `left` columns are text, the rest numbers."""
    out = console()
    out.print(title, style="bold", markup=False)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for position, name in enumerate(columns):
        table.add_column(name, justify="left" if position < left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(_plain(cell) for cell in row))
    out.print(table)


def show_summary(summary: Summary, written: Sequence[Path]) -> None:
    """What `covote aggregate` says."""
    out = console()
    out.print(
        f"{summary.n_labels:,} answers of {summary.n_annotators:,} annotators on {summary.n_items:,} items, "
        f"aggregated by {summary.method}.",
        markup=False,
    )
    out.print()
    shown = sorted(summary.classes, key=lambda c: -c.share)
    rows = [(str(c.label), f"{c.items:,}", f"{100 * c.share:.1f} %") for c in shown[:_MOST_CLASSES]]
    show_table("Classes", ("label", "items", "expected share"), rows)
    if len(shown) > _MOST_CLASSES:
        out.print(f"... and {len(shown) - _MOST_CLASSES} smaller classes.")
    out.print()
    _show_annotators(summary)
    out.print(_doubt(summary), markup=False)
    steps = f" ({summary.iterations} steps)" if summary.iterations > 1 else ""
    out.print(f"{summary.status}{steps}", markup=False)
    for note in summary.notes:
        out.print(f"Note: {note}", markup=False)
    out.print(f"Next: {_advice(summary)}", markup=False)
    out.print("Written: " + ", ".join(str(p) for p in written), markup=False, soft_wrap=True)


def show_explanation(estimator: Any) -> None:
    """What the default found and why; nothing for a named method."""
    found = estimator.fit_.details.get("explanation")
    if found is not None:
        console().print()
        console().print("\n".join(found.explain()), markup=False, soft_wrap=True)


def _show_annotators(summary: Summary) -> None:
    ranked = sorted(summary.annotators, key=lambda f: (-f.bits, -f.answers))
    if len(ranked) <= 2 * _FEW:
        _annotator_table("Annotators, best first", ranked)
    else:
        _annotator_table("Best annotators", ranked[:_FEW])
        console().print()
        _annotator_table("Weakest annotators", ranked[-_FEW:])
    console().print()


def _annotator_table(title: str, facts: Sequence[AnnotatorFacts]) -> None:
    rows = [
        (str(f.annotator), f"{f.answers:,}", f"{100 * f.accuracy:.1f} %", f"{f.bits:.2f}", _worst(f)) for f in facts
    ]
    show_table(title, ("annotator", "answers", "accuracy", "bits", "worst confusion"), rows)


def _worst(f: AnnotatorFacts) -> str:
    return f"{f.worst_class} taken for {f.worst_label}: {100 * f.worst_rate:.0f} %" if f.worst_rate >= 0.005 else "-"


def _doubt(summary: Summary) -> str:
    share = 100 * summary.uncertain_items / max(summary.n_items, 1)
    text = f"{summary.uncertain_items:,} items ({share:.1f} %) have a label less than 80 % certain"
    if summary.tied_items:
        text += f"; {summary.tied_items:,} are exact ties"
    return f"{text}. If the model is right, about {100 * summary.expected_error:.1f} % of the labels are wrong."


def _advice(summary: Summary) -> str:
    if not summary.converged:
        return "raise the iteration limit, e.g. --set max_iter=5000."
    if summary.n_annotators < 3:
        return "add a third annotator: with fewer, nobody can tell who is right."
    if summary.single_answer_items > summary.n_items / 2:
        return "most items have one answer; give some items to several annotators, so that these can be compared."
    if summary.uncertain_items > summary.n_items / 20:
        return "get more answers for the uncertain items: covote plan FILE --budget N says which."
    return "look at the items of lowest confidence first."


def _plain(cell: Any) -> str:
    from rich.markup import escape

    return escape(str(cell))
