"""`covote agreement`: files of answers in, coefficients of agreement and how to read them out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from covote.cli import options as o
from covote.cli import reading_options as r

if TYPE_CHECKING:
    from covote.agreements import Agreement

ScaleName = Annotated[
    str | None, typer.Option("--scale", help="How labels compare: nominal, ordinal, interval or ratio.")
]
Weights = Annotated[
    str | None, typer.Option(help="Weights of kappa and AC2: identity, linear or quadratic (if not nominal).")
]
Ordered = Annotated[str | None, typer.Option(help="Labels from lowest to highest, separated by commas.")]
WithPairs = Annotated[
    bool | None, typer.Option("--pairs/--no-pairs", help="Cohen's kappa of every pair (up to 100 annotators).")
]
Draws = Annotated[int, typer.Option(min=2, help="Redrawn crowds behind the intervals.")]
Level = Annotated[float, typer.Option(help="Level of the intervals.")]

_MOST = 12


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("agreement")(r.with_export_options(agreement))


def agreement(
    files: o.Files,
    scale: ScaleName = None,
    weights: Weights = None,
    ordered: Ordered = None,
    pairs: WithPairs = None,
    draws: Draws = 200,
    level: Level = 0.9,
    item: o.Item = None,
    annotator: o.Annotator = None,
    label: o.Label = None,
    columns: o.Columns = None,
    shape: o.Shape = "auto",
    duplicates: o.Duplicates = "error",
    delimiter: o.Delimiter = None,
    seed: o.Seed = 0,
    json_: o.Json = False,
    export: r.Export = {},  # noqa: B006
) -> None:
    """How far annotators agree: percent, Krippendorff's alpha, Fleiss' and Cohen's kappa, Gwet's AC1 and AC2.

    Example: covote agreement votes.csv --scale ordinal --ordered low,mid,high
    """
    from covote.verbs.agreement import agreement as measure

    found = measure(
        o.table_argument(files),
        scale=scale,
        weights=weights,
        ordered=None if ordered is None else [name.strip() for name in ordered.split(",")],
        pairs=pairs,
        draws=draws,
        level=level,
        seed=seed,
        **o.reading(item, annotator, label, columns, shape, duplicates, delimiter),
        **export,
    )
    if json_:
        typer.echo(json.dumps(found.as_dict(), indent=2, default=str))
    else:
        show(found)


def show(found: Agreement) -> None:
    """Tables of coefficients, classes, annotators and pairs, then the sentences."""
    from covote.cli.show import console, show_table

    percent, number = _percent, _number
    rows = [(c.name, number(c.value), f"{number(c.low)} to {number(c.high)}") for c in found.coefficients]
    n = len(found.annotators)
    title = f"{found.answers:,} answers of {n:,} annotators on {found.items:,} items"
    show_table(title, ("coefficient", "value", f"{100 * found.level:g} % interval"), rows)
    classes = sorted(found.classes, key=lambda c: -c.share)[:_MOST]
    by_class = [(c.label, percent(c.share), percent(c.agreement), number(c.alpha)) for c in classes]
    show_table("\nClasses", ("label", "answers", "agreement", "alpha"), by_class)
    a = found.annotators
    lowest = sorted(range(n), key=lambda m: (a.kappa[m] != a.kappa[m], a.kappa[m]))[:_MOST]
    by_annotator = [(a.annotator[m], f"{a.answers[m]:,}", percent(a.agreement[m]), number(a.kappa[m])) for m in lowest]
    few = "" if n <= _MOST else f" ({_MOST} lowest of {n:,}; all with --json)"
    show_table(f"\nAnnotators against the others{few}", ("annotator", "answers", "agreement", "kappa"), by_annotator)
    if found.pairs is not None and len(found.pairs):
        p = found.pairs
        told = zip(p.shared.tolist(), map(percent, p.agreement), map(number, p.kappa), strict=True)
        by_pair = [(*names, *row) for *names, row in zip(p.first, p.second, told, strict=True)][:_MOST]
        few = "" if len(p) <= _MOST else f" ({_MOST} largest of {len(p):,}; all with --json)"
        show_table(f"\nPairs{few}", ("annotator", "annotator", "shared", "agreement", "Cohen's kappa"), by_pair, left=2)
    console().print("\n" + "\n".join(found.sentences), markup=False, soft_wrap=True)


def _percent(value: float) -> str:
    return "-" if value != value else f"{100 * value:.1f} %"  # noqa: PLR0124 - NaN


def _number(value: float) -> str:
    return "-" if value != value else f"{value:.3f}"  # noqa: PLR0124 - NaN
