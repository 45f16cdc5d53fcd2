"""`covote aggregate`: files of answers in, a folder of labels, annotators and model out, and a summary to read."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from covote.cli import options as o
from covote.cli import reading_options as r
from covote.cli.report import Figures, ReportFile, TruthFile, check_figures, default_title
from covote.errors import InputError

if TYPE_CHECKING:
    from covote.annotations import Truth
    from covote.estimators.base import Aggregator
    from covote.estimators.summary import Summary

Gold = Annotated[str | None, typer.Option(help="File of items and true labels that the fit takes as certain.")]
Probabilities = Annotated[bool, typer.Option("--probabilities", help="Write the probability of every class.")]

EngineName = Annotated[
    str, typer.Option(help="Where answers are held: auto (by size), memory, disk or spark. The answer is the same.")
]
MemoryLimit = Annotated[str | None, typer.Option(help="Memory to use with answers on disk, e.g. 4GB.")]
CountsFile = Annotated[str | None, typer.Option("--counts", help="Learn from this file of `covote count` instead.")]

UseGold = Annotated[bool, typer.Option("--use-gold", help="Fit with the true labels that the export itself holds.")]
Join = Annotated[str | None, typer.Option(help="Also write this table of items with the labels beside it.")]
Write = Annotated[
    list[str] | None,
    typer.Option(
        help="Also write the labels as label-studio (predictions), argilla (suggestions) or dataset (Hugging Face)."
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(help="File with the columns annotator and group: a group shares one vote (judges of one vendor)."),
]
Explain = Annotated[bool, typer.Option("--explain", help="With --method auto: tell in full what was chosen and why.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("aggregate")(r.with_export_options(aggregate))


def aggregate(
    files: o.Files,
    method: o.Method = "auto",
    output: o.Output = "covote-output",
    format: o.Format = "csv",
    probabilities: Probabilities = False,
    gold: Gold = None,
    report: ReportFile = None,
    figures: Figures = None,
    truth: TruthFile = None,
    item: o.Item = None,
    annotator: o.Annotator = None,
    label: o.Label = None,
    columns: o.Columns = None,
    shape: o.Shape = "auto",
    duplicates: o.Duplicates = "error",
    delimiter: o.Delimiter = None,
    settings: o.Set = None,
    threads: o.Threads = None,
    engine: EngineName = "auto",
    memory_limit: MemoryLimit = None,
    counts: CountsFile = None,
    explain: Explain = False,
    groups: Groups = None,
    use_gold: UseGold = False,
    join: Join = None,
    write: Write = None,
    json_: o.Json = False,
    export: r.Export = {},  # noqa: B006
) -> None:
    """Turn the answers of many annotators into one label an item, with a confidence, and a picture of every annotator.

    Example: covote aggregate votes.csv -o results
    """
    from covote.cli.back import WayBack
    from covote.cli.places import learn_from_counts, open_place, place_of
    from covote.engines.machine import size_in_bytes
    from covote.estimators.registry import make
    from covote.estimators.summary import summarise

    o.check_choice("format", format, ("csv", "parquet"))
    given = {} if groups is None else {"groups": groups}
    estimator = make(method, **{"threads": threads, **given, **o.method_options(settings)})
    if memory_limit is not None:
        size_in_bytes(memory_limit)
    o.check_writable(folder=output, file=report)
    check_figures(figures)
    reading = {**o.reading(item, annotator, label, columns, shape, duplicates, delimiter), **export}
    back = WayBack.of(join, write)
    place = place_of(engine)
    reporting = report is not None or figures is not None
    known = _known_truth(truth, reporting=reporting)
    bar = o.Bar(f"Fitting {method}")
    with bar:
        if counts is not None:
            learn_from_counts(estimator, counts, o.table_argument(files), reading, bar.move)
        else:
            own: dict[str, Any] = {"use_gold": use_gold, "threads": threads, "memory_limit": memory_limit}
            answers = open_place(place, o.table_argument(files), gold, reading, **own)
            o.check_crowd(answers.annotators, answers.classes)
            estimator.fit_engine(answers, progress=bar.move)
        if known is not None:
            known.codes(estimator.loaded_.annotations)  # raises where the truth knows none of the items
        summary = summarise(estimator, method)
        written = write_results(estimator, summary, Path(output), format, probabilities=probabilities)
        written += back.write(estimator, Path(output), format, o.table_argument(files), export)
        if reporting:
            from covote.report import write_report

            made = write_report(estimator, report, figures=figures, truth=known, title=default_title(files))
            written += made.files
    _show(estimator, summary, written, explain=explain, as_json=json_)


def _show(estimator: Aggregator, summary: Summary, written: list[Path], *, explain: bool, as_json: bool) -> None:
    if as_json:
        facts = {**summary.as_dict(), "files": [str(p) for p in written]}
        if explain:
            facts["explanation"] = explanation_facts(estimator)
        typer.echo(json.dumps(facts, default=str, indent=2))
        return
    from covote.cli.show import show_explanation, show_summary

    show_summary(summary, written)
    if explain:
        show_explanation(estimator)


def _known_truth(truth: str | None, *, reporting: bool) -> Truth | None:
    """The truth, read before anything is fitted or written; an error where nothing would use it."""
    from covote.annotations import load_truth

    if truth is not None and not reporting:
        msg = (
            f"Option --truth {truth} is used by the report alone. Add --report report.html or --figures FOLDER, "
            "or score methods with covote compare --truth."
        )
        raise InputError(msg)
    return None if truth is None else load_truth(truth)


def explanation_facts(estimator: Aggregator) -> dict[str, Any] | None:
    """What the default found and why, as plain values; None for a named method."""
    found = estimator.fit_.details.get("explanation")
    return None if found is None else {**asdict(found), "sentences": found.explain()}


def write_results(
    estimator: Aggregator, summary: Summary, folder: Path, format: str, *, probabilities: bool = False
) -> list[Path]:
    """Write labels, annotators and, where there is one, the model."""
    from covote.estimators.summary import model_of
    from covote.model_file import save_model
    from covote.output import relation_writer, table_writer, write_folder

    table = estimator.label_table(confidence=True, probabilities=probabilities)
    files = {
        f"labels.{format}": relation_writer(table, format),
        f"annotators.{format}": table_writer(annotator_columns(summary), format),
        "model.npz": lambda path: save_model(model_of(estimator), path),
    }
    return write_folder(folder, files)


def annotator_columns(summary: Summary) -> dict[str, list[Any]]:
    """The table of annotators."""
    facts = summary.annotators
    return {
        "annotator": [f.annotator for f in facts],
        "answers": [f.answers for f in facts],
        "accuracy": [f.accuracy for f in facts],
        "bits": [f.bits for f in facts],
        "worst_class": [f.worst_class for f in facts],
        "worst_label": [f.worst_label for f in facts],
        "worst_rate": [f.worst_rate for f in facts],
    }
