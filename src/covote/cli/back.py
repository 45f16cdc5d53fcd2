"""The way back: labels beside the user's own table, as predictions, suggestions or a dataset, and per item of lists."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from covote.cli.options import check_choice
from covote.errors import InputError

if TYPE_CHECKING:
    from covote.estimators.base import Aggregator

KINDS = ("label-studio", "argilla", "dataset")


@dataclass(frozen=True)
class WayBack:
    """What is written beside labels, annotators and model."""

    join: str | None
    kinds: tuple[str, ...]

    @classmethod
    def of(cls, join: str | None, kinds: list[str] | None) -> Self:
        """Checked before any work is done."""
        for kind in kinds or []:
            check_choice("write", kind, KINDS)
        if join is not None and not Path(join).is_file():
            msg = f"File '{join}' of --join not found. Check the path."
            raise InputError(msg)
        return cls(join, tuple(kinds or ()))

    def write(self, estimator: Aggregator, folder: Path, format: str, files: Any, export: dict[str, Any]) -> list[Path]:
        """The files, written into the folder of the results; items stay where they are if nothing is asked for."""
        if self.join is None and not self.kinds and not export.get("multiple"):
            return []
        from covote import ways_back as back
        from covote.output import table_writer, write_folder

        labels = back.Labels.of(estimator)
        out: dict[str, Any] = {}
        if export.get("multiple"):
            labels = back.joined_lists(labels)
            out[f"items.{format}"] = table_writer(labels.columns(), format)
        if self.join is not None:
            out[f"joined.{format}"] = back.join_writer(self.join, labels, format)
        question = export.get("question")
        for kind in self.kinds:
            if kind == "label-studio":
                out["label-studio.json"] = back.label_studio_writer(files, labels, question)
            elif kind == "argilla":
                out["argilla.json"] = back.argilla_writer(labels, question or "label")
            else:
                out["dataset.parquet"] = table_writer(labels.columns(), "parquet")
        return write_folder(folder, out)
