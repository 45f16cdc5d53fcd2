"""Any table or file of answers -> `Loaded`: encoded annotations, and the way back to tables of the user's kind."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from covote.annotations import frames
from covote.annotations.arrays import encode_matrix, encode_triples
from covote.annotations.columns import Long, Wide
from covote.annotations.distinct_rows import DistinctRows
from covote.annotations.encode import Coded
from covote.annotations.exports import as_arrow, in_folders, open_answers
from covote.annotations.guesses import check_long, check_names, check_pairs, check_texts
from covote.annotations.native import IntArray, take, to_list
from covote.annotations.reading import LOG, Reading
from covote.annotations.repeats import annotations_from
from covote.annotations.tables import make_table
from covote.annotations.value import NO_CODE, Annotations, Vocabulary
from covote.annotations.wide import annotations_from_wide, check_cells, labels_of
from covote.errors import InputError
from covote.importers.value import Answers

PLAIN_NAMES = ("item", "annotator", "label")


@dataclass(frozen=True, eq=False)
class Loaded:
    """Encoded annotations, with what is needed to answer in the user's own kind of table."""

    annotations: Annotations
    kind: str  # "pandas", "polars", "polars-lazy", "pyarrow", "duckdb", "mapping" (triples, arrays), "file"
    names: tuple[str, str, str]  # the user's names for item, annotator and label
    labels: Any = field(default=None, repr=False)  # distinct labels in the user's own kind of column, any order
    origin: Any = field(default=None, repr=False)  # the user's DuckDB relation
    account: str = ""  # one line: which columns were recognised and why, or what an export held and what was left out
    gold: Mapping[Hashable, Hashable] = field(
        default_factory=dict, repr=False
    )  # true labels that the file itself holds

    def item_table(self, columns: Mapping[str, Any]) -> Any:
        """A table of the user's kind with a row an item, in the order of the codes: its id and the columns given.

        The kind "mapping" gives a dict from item to the value, or to the tuple of values of several columns; the
        kind "file" gives a DuckDB relation. A column is a sequence, an array, or what `label_column` returns.
        """
        return make_table(self.kind, self.names[0], self.annotations.items.values, columns, origin=self.origin)

    def annotator_table(self, columns: Mapping[str, Any]) -> Any:
        """The same with a row an annotator."""
        return make_table(self.kind, self.names[1], self.annotations.annotators.values, columns, origin=self.origin)

    def label_column(self, codes: IntArray) -> Coded:
        """Class codes -> a column for the tables above, decoded in the user's own type, no Python object a row."""
        classes = self.annotations.classes.to_list()
        place = Vocabulary(to_list(self.labels)).encode(classes) if self.labels is not None else np.array([NO_CODE])
        if np.any(place < 0):  # a class that no annotator named
            return Coded(codes, classes)
        return Coded(codes, take(self.labels, place))


def load(
    table: Any,
    *,
    item: Hashable | None = None,
    annotator: Hashable | None = None,
    label: Hashable | None = None,
    columns: Sequence[str] | str | None = None,
    shape: str = "auto",
    duplicates: str = "error",
    delimiter: str | None = None,
    classes: Iterable[Hashable] | None = None,
    question: str | None = None,
    annotators: Sequence[str] | str | None = None,
    where: Sequence[str] | str | None = None,
    gold_column: str | None = None,
    multiple: bool = False,
) -> Loaded:
    """Read, check and encode a table of answers.

    `table` is the path of a file (CSV, TSV, JSON lines, Parquet, Arrow; compressed or not), a glob, a list of paths,
    "-" for standard input; a frame of pandas, Polars, PyArrow, DuckDB or any library that narwhals knows; a NumPy
    matrix of labels (items x annotators; -1 or NaN: no answer); or an iterable of triples (item, annotator, label).

    `item`, `annotator` and `label` name the columns; without them the usual synonyms are recognised. `columns` names
    the columns of a file without header; three columns that look like data from the first line on are taken for
    item, annotator and label. `shape` is "long" (a row an answer), "wide" (a row an item, a column an annotator) or
    "auto": long when the three columns are found; wide when neither an annotator nor a label column is found, the
    cells hold at most 100 distinct labels and at least half of these come in more than one column; else an error.

    Files that a labelling or evaluation tool wrote are recognised by their content (`covote formats` lists them);
    `question` chooses one of several questions. `annotators` names the columns of a wide file (names, globs), `where`
    keeps rows (NAME=VALUE, NAME!=VALUE), `item` may name several columns ("a,b"), columns may be paths in nested JSON
    ("votes.worker"), `gold_column` holds true labels, and with `multiple` an answer may be a list of labels.

    An answer that is null, NaN or empty is no answer. Repeats of an (item, annotator) pair that agree collapse; for
    those that conflict `duplicates` is "error", "first", "last" or "majority". Items and annotators are
    numbered as they appear; classes are sorted, after those that `classes` names.

    >>> loaded = load([("x", "ann", "cat"), ("x", "bob", "dog"), ("y", "bob", "cat")])
    >>> loaded.annotations.classes.to_list(), loaded.item_table({"label": ["dog", "cat"]})
    (['cat', 'dog'], {'x': 'dog', 'y': 'cat'})
    """
    reading = Reading(
        item=item,
        annotator=annotator,
        label=label,
        columns=columns,
        shape=shape,
        duplicates=duplicates,
        delimiter=delimiter,
        classes=classes,
        question=question,
        annotators=annotators,
        where=where,
        gold_column=gold_column,
        multiple=multiple,
    )
    return read(table, reading)


def read(table: Any, reading: Reading) -> Loaded:
    """`load` with its options as one value."""
    reader = _Reader(reading)
    if is_paths(table):
        found = None if reading.plain else open_answers(table, reading)
        if found is not None:
            return reader.answers(found)
        table = in_folders(table)
        return reader.files(table) if is_paths(table) else reader.frame(table, "pyarrow")
    reading.check_no_file()
    if isinstance(table, np.ndarray):
        return reader.array(table)
    if isinstance(table, Answers):
        return reader.answers(table)
    table = frames.unwrapped(as_arrow(table))
    kind = None if isinstance(table, (list, tuple)) else frames.kind_of(table)
    if kind is not None:
        return reader.relation(table) if kind == "duckdb" else reader.frame(table, kind)
    return reader.triples(table)


def is_paths(table: Any) -> bool:
    """Whether this is a path or a list of paths.

    >>> is_paths("a.csv"), is_paths(["a.csv", "b.csv"]), is_paths([("x", "ann", "cat")])
    (True, True, False)
    """
    if isinstance(table, (str, os.PathLike)):
        return True
    return isinstance(table, (list, tuple)) and bool(table) and all(isinstance(p, (str, os.PathLike)) for p in table)


@dataclass(frozen=True)
class _Reader:
    """One method for each kind of table."""

    reading: Reading

    def array(self, matrix: Any) -> Loaded:
        if self.reading.shape == "long":
            return self.triples(matrix.tolist())
        label = encode_matrix(matrix)
        cells = [Coded(column, label.values) for column in label.codes.reshape(matrix.shape).T]
        rows, people = (np.arange(size) for size in matrix.shape)
        return self._wide(Coded(rows, rows), cells, people, "mapping", PLAIN_NAMES)

    def triples(self, triples: Any) -> Loaded:
        if not isinstance(triples, Iterable):
            kind = type(triples).__name__
            msg = f"An object of type {kind} is no table of answers. Pass a file, a frame, a label matrix or triples."
            raise InputError(msg)
        return self._long(encode_triples(triples), "mapping", PLAIN_NAMES)

    def answers(self, answers: Answers) -> Loaded:
        loaded = self._long(encode_triples(answers), "file", PLAIN_NAMES)
        line = answers.account.sentence()
        LOG.info(line)
        return replace(loaded, account=line, gold=answers.gold)

    def frame(self, table: Any, kind: str) -> Loaded:
        table, library = frames.collect(table, kind)
        chosen = self.reading.choose(frames.names_of(table, library))
        out = library if kind == "other" else kind
        if isinstance(chosen, Long):
            names = (chosen.item, chosen.annotator, chosen.label)
            coded = [frames.encode_column(table[n], library, r) for n, r in zip(names, PLAIN_NAMES, strict=True)]
            return self._guessed((coded[0], coded[1], coded[2]), out, chosen, frames.names_of(table, library))
        cells = frames.encode_cells(table, chosen.annotators, library)
        if not chosen.sure:
            check_cells(labels_of(cells), chosen.annotators)
        items = frames.encode_items(table, chosen.item, library)
        names = ("item" if chosen.item is None else str(chosen.item), "annotator", "label")
        return self._guessed_wide(items, cells, out, names, chosen, frames.names_of(table, library))

    def files(self, paths: Any) -> Loaded:
        from covote.annotations.source import read_files

        reading = self.reading
        return read_files(
            paths, self._source, columns=reading.columns, delimiter=reading.delimiter, given=reading.given
        )

    def relation(self, relation: Any) -> Loaded:
        from covote.annotations.source import read_relation

        return replace(read_relation(relation, self._source), kind="duckdb", origin=relation)

    def _source(self, source: Any) -> Loaded:
        from covote.annotations.sql import encode_long
        from covote.annotations.sql_wide import encode_wide

        chosen = self.reading.choose(source.names)
        if isinstance(chosen, Long):
            coded = encode_long(source, chosen, in_order=self.reading.duplicates != "error")
            return self._guessed(coded, "file", chosen, source.names)
        items, cells = encode_wide(source, chosen)
        names = ("item" if chosen.item is None else str(chosen.item), "annotator", "label")
        return self._guessed_wide(items, cells, "file", names, chosen, source.names)

    def _guessed(self, coded: tuple[Coded, Coded, Coded], kind: str, chosen: Long, names: Sequence[Hashable]) -> Loaded:
        check_long(coded, chosen, names, self.reading.roles)
        return replace(self._long(coded, kind, chosen.names), account=self.reading.tell(chosen, names))

    def _guessed_wide(
        self,
        items: Coded,
        cells: Sequence[Coded] | DistinctRows,
        kind: str,
        roles: tuple[str, str, str],
        chosen: Wide,
        names: Sequence[Hashable],
    ) -> Loaded:
        check_texts(cells if isinstance(cells, Sequence) else cells.cells, chosen)
        if not chosen.sure:
            check_names(chosen)
            if isinstance(cells, Sequence) or len(cells.index) == len(cells.cells[0].codes):  # all rows are distinct
                check_pairs(cells if isinstance(cells, Sequence) else cells.cells, chosen)
        loaded = self._wide(items, cells, list(chosen.annotators), kind, roles)
        return replace(loaded, account=self.reading.tell(chosen, names))

    def _long(self, coded: tuple[Coded, Coded, Coded], kind: str, names: tuple[str, str, str]) -> Loaded:
        item, annotator, label = coded
        labels = label.values
        found = annotations_from(
            item, annotator, label, duplicates=self.reading.duplicates, classes=self.reading.classes
        )
        return Loaded(_answered(found), kind, names, labels)

    def _wide(
        self,
        items: Coded,
        cells: Sequence[Coded] | DistinctRows,
        annotators: Any,
        kind: str,
        names: tuple[str, str, str],
    ) -> Loaded:
        found = annotations_from_wide(
            items, cells, annotators, duplicates=self.reading.duplicates, classes=self.reading.classes
        )
        columns = cells.cells if isinstance(cells, DistinctRows) else cells
        return Loaded(_answered(found), kind, names, columns[0].values if columns else None)


def _answered(annotations: Annotations) -> Annotations:
    if not annotations.n_labels:
        msg = "The table holds no answers. Pass one with at least one labelled item."
        raise InputError(msg)
    return annotations
