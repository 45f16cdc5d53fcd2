"""Answers on Spark: the user's frame in, an engine over its partitions out; passes run there by `mapInArrow`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from covote.annotations import Reading, Truth
from covote.annotations.columns import Long, Wide
from covote.engines.chunked import ChunkedEngine, Work
from covote.engines.machine import free_memory
from covote.engines.passes import Sums
from covote.engines.rows import ARRAYS, Code, Piece, code_of, encode, packed, shown, unpacked
from covote.errors import InputError, MissingExtraError

_ANSWERS_A_PARTITION = 2_000_000


def open_spark(frame: Any, reading: Reading, truth: Truth | None = None) -> ChunkedEngine:
    """An engine over a Spark frame: repartitioned by item, encoded once, persisted."""
    reading.check_frame("a Spark frame")
    rows, chosen = _rows(frame, reading)
    met = _surveyed(_run_job(_survey(rows).collect))
    code = code_of([row[:5] for row in met], chosen, reading, truth)
    answers = sum(row[5] for row in met)
    parts = max(-(-answers // _ANSWERS_A_PARTITION), _parallelism(frame))
    kept = rows if isinstance(chosen, Wide) else rows.where(_present(rows, "label"))
    encoded = kept.repartition(parts, "item").mapInArrow(partial(_encoded, code=code), _schema(rows))
    home = Spark(encoded.persist(), code.sizes, rows.schema)
    engine = ChunkedEngine(home, code.crowd)
    if truth is not None and not any(part[0].any() for part in home.run(_has_gold)):
        msg = f"The truth shares no item with the annotations: its first item is {truth.items[0]!r}. "
        raise InputError(msg + "Check that both use the same ids.")
    return engine


def _rows(frame: Any, reading: Reading) -> tuple[Any, Long | Wide]:
    """The frame as item, annotator, label and row; a wide one with a row for every cell."""
    from pyspark.sql import functions as f

    chosen = reading.choose_and_tell(list(frame.columns))
    number = f.monotonically_increasing_id().alias("row")
    if isinstance(chosen, Long):
        names = zip(chosen.names, ("item", "annotator", "label"), strict=True)
        return frame.select(*(f.col(f"`{name}`").alias(role) for name, role in names), number), chosen
    if chosen.item is None:
        msg = 'A Spark frame has no row numbers, so a wide one needs a column of items. Pass item="...".'
        raise InputError(msg)
    cells = [f.col(f"`{name}`").alias(str(name)) for name in chosen.annotators]
    numbered = frame.select(f.col(f"`{chosen.item}`").alias("covote item"), *cells, number)
    long = numbered.unpivot(["covote item", "row"], [str(name) for name in chosen.annotators], "annotator", "label")
    return long.select(f.col("`covote item`").alias("item"), "annotator", "label", "row"), chosen


def _present(rows: Any, role: str) -> Any:
    from pyspark.sql import functions as f

    kind, column = rows.schema[role].dataType.typeName(), f.col(role)
    if kind in ("float", "double"):
        return column.isNotNull() & ~f.isnan(column)
    return column.isNotNull() & (column != "") if kind == "string" else column.isNotNull()


def _survey(rows: Any) -> Any:
    from pyspark.sql import functions as f

    lost = [f.sum((~_present(rows, role)).cast("int")) for role in ("item", "annotator")]
    found = rows.where(_present(rows, "label")).groupBy("annotator", "label")
    return found.agg(f.min("row"), *lost, f.count(f.lit(1)))


def _surveyed(rows: Sequence[Any]) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in rows]


def _parallelism(frame: Any) -> int:
    try:
        return int(frame.sparkSession.sparkContext.defaultParallelism)
    except Exception:  # Spark Connect has no context
        return int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions"))


def _schema(rows: Any) -> Any:
    from pyspark.sql.types import ArrayType, BinaryType, IntegerType, StructField, StructType

    items = StructField("ids", ArrayType(rows.schema["item"].dataType))
    arrays = [StructField(name, BinaryType()) for name in ARRAYS]
    return StructType([StructField("part", IntegerType()), items, *arrays])


def _part() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


def _encoded(batches: Iterator[Any], code: Code) -> Iterator[Any]:
    """On a worker: the rows of a partition -> one row that holds them encoded."""
    import pyarrow as pa

    tables = [pa.Table.from_batches([batch]) for batch in batches if batch.num_rows]
    if not tables:
        return
    piece = encode(pa.concat_tables(tables), code)
    ids = pa.ListArray.from_arrays(pa.array([0, len(piece.ids)], pa.int32()), piece.ids)
    arrays = [pa.array([packed([piece.arrays[name]])], pa.binary()) for name in ARRAYS]
    yield pa.RecordBatch.from_arrays([pa.array([_part()], pa.int32()), ids, *arrays], ["part", "ids", *ARRAYS])


def _pieces(batches: Iterator[Any]) -> Iterator[Piece]:
    for batch in batches:
        names = batch.schema.names
        for row in range(batch.num_rows):
            arrays = {name: unpacked(batch[name][row].as_py())[0] for name in ARRAYS}
            yield Piece(batch["ids"][row].values if "ids" in names else None, arrays)


def _worked(batches: Iterator[Any], work: Work, sizes: tuple[int, int]) -> Iterator[Any]:
    """On a worker: the result of the work on the chunk of a partition."""
    import pyarrow as pa

    for piece in _pieces(batches):
        result = pa.array([packed(work(piece.chunk(sizes)))], pa.large_binary())
        yield pa.RecordBatch.from_arrays([pa.array([_part()], pa.int32()), result], ["part", "result"])


def _shown(
    batches: Iterator[Any], work: Work, sizes: tuple[int, int], columns: Sequence[str], classes: Any
) -> Iterator[Any]:
    for piece in _pieces(batches):
        yield from shown(piece.ids, work(piece.chunk(sizes)), columns, classes).to_batches(max_chunksize=2**16)


def _has_gold(chunk: Any) -> Sums:
    return ((chunk.gold >= 0),)


@dataclass(frozen=True, eq=False)
class Spark:
    """The home of chunks in the partitions of a persisted Spark frame."""

    encoded: Any
    sizes: tuple[int, int]
    schema: Any  # of item, annotator, label and row

    def run(self, work: Work, keys: bool = False) -> Iterator[Sums]:
        del keys  # pieces have them
        arrays = self.encoded.select("part", *ARRAYS)
        found = arrays.mapInArrow(partial(_worked, work=work, sizes=self.sizes), "part int, result binary")
        rows = _run_job(found.collect)
        return iter([unpacked(bytes(row[1])) for row in sorted(rows, key=lambda row: row[0])])

    def table(self, work: Work, columns: Sequence[str], classes: Sequence[Hashable] | None) -> Any:
        """A lazy Spark frame."""
        import pyarrow as pa
        from pyspark.sql.pandas.types import to_arrow_type
        from pyspark.sql.types import DoubleType, StructField, StructType

        label = self.schema["label"].dataType
        values = None if classes is None else pa.array(list(classes), to_arrow_type(label))
        known = [self.schema["item"].dataType, *([] if classes is None else [label])]
        kinds = known + [DoubleType()] * (len(columns) - len(known))
        schema = StructType([StructField(name, kind) for name, kind in zip(columns, kinds, strict=True)])
        what: dict[str, Any] = {"work": work, "sizes": self.sizes, "columns": list(columns), "classes": values}
        return self.encoded.mapInArrow(partial(_shown, **what), schema)

    def ids(self) -> Sequence[Any]:
        rows = sorted(_run_job(self.encoded.select("part", "ids").collect), key=lambda row: row[0])
        return [value for row in rows for value in row[1]]

    def free(self) -> int:
        return free_memory() // 2


def _run_job(job: Callable[[], Any]) -> Any:
    """Run a job; a worker that cannot import covote is one sentence, and errors of ours are what they were there."""
    try:
        return job()
    except Exception as error:
        text = str(error)
        if "No module named 'covote'" in text:
            msg = (
                "covote cannot be imported on the workers of Spark. Install it there as a cluster library, pack the "
                "environment and name it in spark.archives, or send it with addPyFile."
            )
            raise MissingExtraError(msg) from None
        for line in text.splitlines():
            kind, _, sentence = line.strip().partition(": ")
            if kind.startswith("covote.errors."):
                from covote import errors

                raise getattr(errors, kind.rsplit(".", 1)[1], InputError)(sentence) from None
        raise
