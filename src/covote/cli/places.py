"""Where `covote aggregate` works: the name of a place and files in, a table that an engine can open out."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from covote.cli.options import check_choice
from covote.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from covote.engines.base import Engine
    from covote.estimators.base import Aggregator
    from covote.model import Progress

PLACES = ("auto", "memory", "disk", "spark")
_OLD = {"duckdb": "disk", "polars": "disk"}


def place_of(name: str) -> str:
    """The place named; those of old are held on disk now, which gives the same answer."""
    return check_choice("engine", _OLD.get(name, name), PLACES)


def open_place(
    place: str,
    files: Any,
    gold: str | None,
    reading: dict[str, Any],
    *,
    use_gold: bool = False,
    threads: int | None = None,
    memory_limit: str | None = None,
) -> Engine:
    """The engine over the files at this place; exports, and options for them, are for memory alone."""
    from covote.annotations import Reading, load
    from covote.annotations.exports import plain_files
    from covote.estimators.tables import open_engine

    if use_gold:
        _check_use_gold(place, gold)
        loaded = load(files, **reading)
        if not loaded.gold:
            msg = "--use-gold: the file holds no true labels. Leave it out, or pass --gold FILE."
            raise InputError(msg)
        return open_engine(loaded, loaded.gold, {}, place="memory", threads=threads)
    if place == "spark":
        frame = _scan_spark(plain_files(files, Reading.of(reading), place), reading)
        return open_engine(frame, gold, {**reading, "columns": None, "delimiter": None}, threads=threads)
    return open_engine(files, gold, reading, place=place, threads=threads, memory_limit=memory_limit)


def _check_use_gold(place: str, gold: str | None) -> None:
    if gold is not None:
        msg = f"Both --gold {gold} and --use-gold were given. Pass one of them."
        raise InputError(msg)
    if place in ("disk", "spark"):
        msg = f"Option --use-gold needs --engine memory, and engine {place} was asked for. Leave one of them out."
        raise InputError(msg)


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


def _scan_spark(table: Any, reading: dict[str, Any]) -> Any:
    """A frame over Parquet or text files, with the delimiter and the names of columns that memory would find."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        msg = "Engine spark needs the package pyspark. Install it with: pip install 'covote[spark]'"
        raise MissingExtraError(msg) from None
    from covote.annotations.files import find_files
    from covote.annotations.text import sniff

    paths = find_files(table)
    with open(paths[0], "rb") as stream:
        start = stream.read(2**16)
    if start[:1] in (b"{", b"["):
        msg = f"Engine spark reads Parquet and text tables, and '{paths[0]}' is JSON. Use --engine disk."
        raise InputError(msg)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers need the packages of this interpreter
    try:
        session = SparkSession.builder.appName("covote").config("spark.ui.enabled", "false").getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
    except Exception as error:  # pyspark raises many kinds when Java is missing
        msg = "Spark could not start. It needs Java 17 or 21; scripts/install-java.sh installs it on Debian."
        raise MissingExtraError(msg) from error
    if start[:4] == b"PAR1":
        return session.read.parquet(*paths)
    names = [name.strip() for name in reading["columns"].split(",")] if reading["columns"] else None
    given = [reading[role] for role in ("item", "annotator", "label") if reading[role] is not None]
    head = start.decode("utf-8-sig", errors="ignore")
    head = head[: head.rfind("\n") + 1] if len(start) == 2**16 else head
    layout = sniff(head, delimiter=reading["delimiter"], columns=names, given=given)
    schema = ", ".join(f"`{name}` string" for name in layout.names)
    return session.read.option("header", layout.header).option("sep", layout.delimiter).schema(schema).csv(paths)
