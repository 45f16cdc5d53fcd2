"""Aggregation where the answers lie: files opened by DuckDB, Polars or Spark, or a model from counts made before."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covote.cli.options import check_choice, check_crowd
from covote.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from covote.estimators.base import Aggregator
    from covote.estimators.summary import Summary
    from covote.model import Progress

ENGINES = ("auto", "memory", "duckdb", "polars", "spark")

_BYTES_IN_MEMORY = 6
"""A byte of a Parquet file takes about this many in memory while it is encoded."""


def choose_engine(name: str, files: list[str], gold: str | None, shape: str) -> str:
    """The engine to use: the one named, or by the size of the files against the memory of the machine."""
    check_choice("engine", name, ENGINES)
    if name != "auto":
        if name != "memory" and shape == "wide":
            msg = f"Engine {name} reads long tables only. Use --engine memory for a wide one."
            raise InputError(msg)
        return name
    size = sum(Path(f).stat().st_size for f in files if Path(f).is_file())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return "duckdb" if size * _BYTES_IN_MEMORY > memory / 2 and gold is None and shape != "wide" else "memory"


def learn_from_counts(
    estimator: Aggregator, counts: str, table: Any, reading: dict[str, Any], progress: Progress | None
) -> None:
    """Fit on counts made before, then label this table with what was learnt."""
    from covote.counts_file import load_counts
    from covote.estimators.streams import CountsAggregator

    if not isinstance(estimator, CountsAggregator):
        msg = "Only multispa and multispa-kl learn from counts alone. Pass --method multispa or --method multispa-kl."
        raise InputError(msg)
    estimator.fit_counts(load_counts(counts), progress=progress).label(table, **reading)


@dataclass(frozen=True)
class Elsewhere:
    """One job on a frame engine: fit, summarise and write labels without bringing the items into this process."""

    estimator: Aggregator
    engine: str
    memory_limit: str | None
    folder: Path
    format: str
    probabilities: bool

    def run(
        self, table: Any, gold: str | None, reading: dict[str, Any], progress: Progress
    ) -> tuple[Summary, list[Path]]:
        """The summary and the files written."""
        if self.engine == "duckdb":
            return self._duckdb(table, gold, reading, progress)
        frame = _scan_polars(table, reading) if self.engine == "polars" else _scan_spark(table, reading)
        return self._fit(frame, gold, reading, progress)

    def _duckdb(
        self, table: Any, gold: str | None, reading: dict[str, Any], progress: Progress
    ) -> tuple[Summary, list[Path]]:
        from covote.annotations.source import Source, read_files

        def work(source: Source) -> tuple[Summary, list[Path]]:
            if self.memory_limit is not None:
                _limit_memory(source.con, self.memory_limit)
            source.use(source.names)
            return self._fit(source.con.table("source"), gold, reading, progress)

        given = [reading[role] for role in ("item", "annotator", "label") if reading[role] is not None]
        columns, delimiter = reading["columns"], reading["delimiter"]
        return read_files(table, work, columns=columns, delimiter=delimiter, given=given)

    def _fit(
        self, frame: Any, gold: str | None, reading: dict[str, Any], progress: Progress
    ) -> tuple[Summary, list[Path]]:
        from covote.cli.aggregate import annotator_columns
        from covote.estimators.summary import model_of, summarise
        from covote.model_file import save_model
        from covote.output import table_writer, write_folder

        names = {role: reading[role] for role in ("item", "annotator", "label")}
        fit = self.estimator.set_params(engine="frame").fit(frame, gold=gold, progress=progress, **names)
        check_crowd(fit.annotators_, fit.classes_)
        summary = summarise(fit, fit.method_name)
        files = {
            f"labels.{self.format}": lambda path: self._write_labels(fit, path),
            f"annotators.{self.format}": table_writer(annotator_columns(summary), self.format),
            "model.npz": lambda path: save_model(model_of(fit), path),
        }
        return summary, write_folder(self.folder, files)

    def _write_labels(self, fit: Aggregator, path: Path) -> None:
        labels = fit.labels_
        item, _, label = fit.engine_.names
        wanted = list(labels.columns) if self.probabilities else [item, label, "confidence"]
        if self.engine == "duckdb":
            chosen = labels.select(*(f'"{name}"' for name in wanted))
            chosen.write_parquet(str(path)) if self.format == "parquet" else chosen.write_csv(str(path), header=True)
        elif self.engine == "polars":
            chosen = labels.select(wanted)
            chosen.sink_parquet(path) if self.format == "parquet" else chosen.sink_csv(path)
        else:  # Spark writes a folder of parts
            writer = labels.select(*wanted).write.mode("error")
            writer.parquet(str(path)) if self.format == "parquet" else writer.option("header", True).csv(str(path))


def check_memory_limit(limit: str | None) -> None:
    """Raise for a limit that DuckDB does not take, whichever engine is used in the end."""
    if limit is not None:
        import duckdb

        with duckdb.connect() as con:
            _limit_memory(con, limit)


def _limit_memory(con: Any, limit: str) -> None:
    import duckdb

    try:
        con.execute("SET preserve_insertion_order = false")
        con.execute(f"SET memory_limit = '{limit.replace(chr(39), '')}'")
    except duckdb.Error:
        msg = f"Option --memory-limit needs a size such as 4GB, got '{limit}'."
        raise InputError(msg) from None


def _scan_polars(table: Any, reading: dict[str, Any]) -> Any:
    try:
        import polars as pl
    except ImportError:
        msg = "Engine polars needs the package polars. Install it with: pip install 'covote[frames]'"
        raise MissingExtraError(msg) from None
    paths = _paths(table)
    if paths[0].endswith(".parquet"):
        return pl.scan_parquet(paths)
    return pl.scan_csv(paths, infer_schema=False, separator=_separator(paths[0], reading))


def _scan_spark(table: Any, reading: dict[str, Any]) -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        msg = "Engine spark needs the package pyspark. Install it with: pip install 'covote[spark]'"
        raise MissingExtraError(msg) from None
    try:
        session = SparkSession.builder.appName("covote").config("spark.ui.enabled", "false").getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
    except Exception as error:  # pyspark raises many kinds when Java is missing
        msg = "Spark could not start. It needs Java 17 or 21; scripts/install-java.sh installs it on Debian."
        raise MissingExtraError(msg) from error
    paths = _paths(table)
    if paths[0].endswith(".parquet"):
        return session.read.parquet(*paths)
    return session.read.option("header", True).option("sep", _separator(paths[0], reading)).csv(paths)


def _paths(table: Any) -> list[str]:
    from covote.annotations.files import find_files

    return find_files(table)


def _separator(path: str, reading: dict[str, Any]) -> str:
    return str(reading["delimiter"] or ("\t" if path.endswith((".tsv", ".txt")) else ","))
