"""Any table or file of answers -> `Loaded`: encoded annotations, and the way back to tables of the user's kind."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from covote.annotations import frames
from covote.annotations.arrays import encode_matrix, encode_triples
from covote.annotations.classes import order_classes
from covote.annotations.columns import Long, choose
from covote.annotations.encode import Coded, encode_integers, encode_objects
from covote.annotations.files import columns_of, is_paths, open_files
from covote.annotations.native import to_list
from covote.annotations.repeats import check_ids, settle
from covote.annotations.value import NO_CODE, Annotations
from covote.annotations.wide import check_cells, from_matrix
from covote.errors import InputError


@dataclass(frozen=True)
class Loaded:
    """Encoded annotations with what is needed to answer in the user's own kind of table."""

    annotations: Annotations
    kind: str
    names: tuple[str, str, str]

    def item_table(self, columns: Mapping[str, Any]) -> Any:
        """A table with a row an item, in the order of the codes: the item's column and those given."""
        return self._table(self.names[0], self.annotations.items.values, columns)

    def annotator_table(self, columns: Mapping[str, Any]) -> Any:
        """A table with a row an annotator, in the order of the codes: the annotator's column and those given."""
        return self._table(self.names[1], self.annotations.annotators.values, columns)

    def _table(self, name: str, values: Any, columns: Mapping[str, Any]) -> Any:
        if self.kind == "mapping":
            given = [
                to_list(column) if not isinstance(column, (list, tuple)) else column for column in columns.values()
            ]
            rows = given[0] if len(given) == 1 else zip(*given, strict=True)
            return dict(zip(to_list(values), rows, strict=True))
        return frames.make_frame(self.kind, {name: values, **columns})


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
) -> Loaded:
    """Read, check and encode a table of answers.

    >>> loaded = load([("x", "ann", "cat"), ("x", "bob", "dog"), ("y", "bob", "cat")])
    >>> loaded.annotations.classes.to_list(), loaded.item_table({"label": ["dog", "cat"]})
    (['cat', 'dog'], {'x': 'dog', 'y': 'cat'})
    """
    roles = {"item": item, "annotator": annotator, "label": label}
    if isinstance(table, np.ndarray) and shape != "long":
        codes, cells = encode_matrix(table)
        ordered = order_classes(cells, classes)
        rows, people = np.arange(table.shape[0]), np.arange(table.shape[1])
        found = from_matrix(
            ordered.codes.reshape(codes.shape), Coded(rows, rows), people, ordered.values, duplicates=duplicates
        )
        return Loaded(_answered(found), "mapping", ("item", "annotator", "label"))
    if is_paths(table):
        import duckdb

        given = [name for name in roles.values() if name is not None]
        relation = open_files(table, duckdb.connect(), columns=columns_of(columns), delimiter=delimiter, given=given)
        return _from_frame(relation, "duckdb", "file", roles, shape, duplicates, classes)
    kind = frames.kind_of(table)
    if kind is not None:
        return _from_frame(table, kind, kind, roles, shape, duplicates, classes)
    triples = encode_triples(table)
    return Loaded(_long(*triples, duplicates, classes), "mapping", ("item", "annotator", "label"))


def _from_frame(table: Any, kind: str, out: str, roles: Any, shape: str, duplicates: str, classes: Any) -> Loaded:
    if kind == "polars-lazy":
        table, kind = table.collect(), "polars"
    chosen = choose(frames.names_of(table, kind), shape=shape, **roles)
    if isinstance(chosen, Long):
        coded = [_encode(table, name, kind) for name in (chosen.item, chosen.annotator, chosen.label)]
        return Loaded(_long(coded[0], coded[1], coded[2], duplicates, classes), out, chosen.names)
    cells = [_encode(table, name, kind) for name in chosen.annotators]
    if not chosen.sure:
        check_cells([set(to_list(column.values)) for column in cells], chosen.annotators)
    values: dict[Any, int] = {}
    for column in cells:
        for value in to_list(column.values):
            values.setdefault(value, len(values))
    n_rows = len(cells[0].codes)
    matrix = np.full((n_rows, len(cells)), NO_CODE, dtype=np.int32)
    for position, column in enumerate(cells):
        new = np.array([values[value] for value in to_list(column.values)] + [NO_CODE], dtype=np.int32)
        matrix[:, position] = new[column.codes]
    ordered = order_classes(Coded(matrix.reshape(-1), list(values)), classes)
    rows = np.arange(n_rows)
    items = Coded(rows, rows) if chosen.item is None else _encode(table, chosen.item, kind)
    found = from_matrix(
        ordered.codes.reshape(matrix.shape), items, list(chosen.annotators), ordered.values, duplicates=duplicates
    )
    name = "item" if chosen.item is None else str(chosen.item)
    return Loaded(_answered(found), out, (name, "annotator", "label"))


def _encode(table: Any, name: Hashable, kind: str) -> Coded:
    if kind != "duckdb":
        return frames.encode_column(table, name, kind)
    column = table.select(f'"{name}"')
    if column.types[0].id in ("bigint", "integer", "smallint", "tinyint"):
        array = column.fetchnumpy()[name]
        if not np.ma.isMaskedArray(array):
            return encode_integers(array)
    return encode_objects(row[0] for row in column.fetchall())


def _long(item: Coded, annotator: Coded, label: Coded, duplicates: str, classes: Any) -> Annotations:
    label = order_classes(label, classes)
    keep = label.codes >= 0
    if not keep.all():
        check_ids(item.rows(keep), annotator.rows(keep))
        item, annotator, label = item.rows(keep).compact(), annotator.rows(keep).compact(), label.rows(keep)
    check_ids(item, annotator)
    return _answered(settle(item, annotator, label, duplicates=duplicates))


def _answered(annotations: Annotations) -> Annotations:
    if not annotations.n_labels:
        msg = "The table holds no answers. Pass one with at least one labelled item."
        raise InputError(msg)
    return annotations
