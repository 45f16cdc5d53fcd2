"""`covote simulate`: a synthetic crowd of one of the paper's two cases, written to a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from covote.cli import options as o
from covote.errors import InputError

CaseName = Annotated[str, typer.Argument(metavar="CASE", help="case1 (one perfect annotator) or case2 (one good one).")]
Items = Annotated[int, typer.Option(min=1, help="Number of items.")]
Crowd = Annotated[int, typer.Option("--annotators", min=1, help="Number of annotators.")]
Classes = Annotated[int, typer.Option(min=2, help="Number of classes.")]
Answering = Annotated[float, typer.Option(help="Probability that an annotator answers an item.")]
PriorText = Annotated[str | None, typer.Option("--prior", help="Class probabilities, e.g. 1,4,1 (default uniform).")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("simulate")(simulate)


def simulate(
    case: CaseName,
    items: Items = 10_000,
    annotators: Crowd = 25,
    classes: Classes = 3,
    answering: Answering = 0.5,
    prior: PriorText = None,
    seed: o.Seed = 0,
    output: o.Output = "covote-simulated",
    format: o.Format = "csv",
) -> None:
    """Write a synthetic crowd: its answers, the truth and the model it was drawn from.

    Example: covote simulate case2 --answering 0.3 -o crowd
    """
    import numpy as np

    from covote.model_file import save_model
    from covote.output import table_writer, write_folder
    from covote.simulate import draw, paper_model

    o.check_choice("format", format, ("csv", "parquet"))
    if case not in ("case1", "case2"):
        msg = f"There is no case '{case}'. CASE must be case1 or case2, for example: covote simulate case1."
        raise InputError(msg)
    rng = np.random.default_rng(seed)
    model = paper_model(
        "case1" if case == "case1" else "case2",
        n_annotators=annotators,
        n_classes=classes,
        prior=_prior(prior, classes),
        seed=rng,
    )
    crowd = draw(model, items, answering=answering, seed=rng)
    a = crowd.annotations
    answers = {"item": a.item, "annotator": a.annotator, "label": a.label}
    truth = {"item": np.arange(items), "label": crowd.truth}
    written = write_folder(
        Path(output),
        {
            f"labels.{format}": table_writer(answers, format),
            f"truth.{format}": table_writer(truth, format),
            "model.npz": lambda path: save_model(model, path),
        },
    )
    typer.echo(f"{a.n_labels:,} answers of {annotators} annotators on {items:,} items: {', '.join(map(str, written))}")


def _prior(text: str | None, classes: int) -> list[float] | None:
    if text is None:
        return None
    try:
        values = [float(v) for v in text.split(",")]
    except ValueError:
        values = []
    if len(values) != classes or min(values) <= 0:
        msg = f"Option --prior needs {classes} positive numbers separated by commas, got '{text}'."
        raise InputError(msg)
    return values
