"""Answers on Dask: the user's frame in, an engine over its partitions out; passes run where the partitions are."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from covote.annotations import Reading, Truth
from covote.annotations.columns import Long, Wide
from covote.engines.chunked import ChunkedEngine, Work
from covote.engines.machine import free_memory
from covote.engines.passes import Sums
from covote.engines.rows import Code, Piece, code_of, encode, shown
from covote.errors import InputError

ROLES = ["item", "annotator", "label"]


def open_dask(frame: Any, reading: Reading, truth: Truth | None = None) -> ChunkedEngine:
    """An engine over a Dask frame: shuffled by item, encoded once, persisted."""
    import dask
    import pandas as pd

    reading.check_frame("a Dask frame")
    chosen = reading.choose_and_tell(list(frame.columns))
    if isinstance(chosen, Wide) and chosen.item is None:
        msg = 'A Dask frame has no row numbers, so a wide one needs a column of items. Pass item="...".'
        raise InputError(msg)
    numbered = [dask.delayed(_rows)(part, number, chosen) for number, part in enumerate(frame.to_delayed())]
    met = pd.concat(dask.compute(*[dask.delayed(_survey)(part) for part in numbered]))
    rows = met.groupby(["annotator", "label"], dropna=False, sort=False).agg(
        {"row": "min", "no_item": "sum", "no_annotator": "sum"}
    )
    code = code_of(
        [(*key, *values) for key, values in zip(rows.index, rows.to_numpy().tolist(), strict=True)],
        chosen,
        reading,
        truth,
    )
    import dask.dataframe as dd

    meta = _rows(frame._meta, 0, chosen)
    shuffled = dd.from_delayed(numbered, meta=meta).shuffle(on="item")
    pieces = dask.persist(*[dask.delayed(_encoded)(part, code) for part in shuffled.to_delayed()])
    home = Dask(pieces, code.sizes, meta)
    if truth is not None and not any((part[0] >= 0).any() for part in home.run(_gold)):
        msg = f"The truth shares no item with the annotations: its first item is {truth.items[0]!r}. "
        raise InputError(msg + "Check that both use the same ids.")
    return ChunkedEngine(home, code.crowd)


def _rows(part: Any, number: int, chosen: Long | Wide) -> Any:
    """A pandas partition as item, annotator, label and row; a wide one with a row for every cell."""
    import numpy as np

    order = np.arange(len(part), dtype=np.int64) + (number << 40)
    if isinstance(chosen, Long):
        rows = part[[chosen.item, chosen.annotator, chosen.label]].set_axis(ROLES, axis=1)
        return rows.assign(row=order).reset_index(drop=True)
    cells = part[list(chosen.annotators)].set_axis([str(name) for name in chosen.annotators], axis=1)
    wide = cells.assign(**{"covote item": part[chosen.item], "row": order})
    long = wide.melt(["covote item", "row"], var_name="annotator", value_name="label")
    return long.rename(columns={"covote item": "item"})[[*ROLES, "row"]]


def _missing(column: Any) -> Any:
    return column.isna() | (column == "")


def _survey(rows: Any) -> Any:
    rows = rows[~_missing(rows["label"])]
    lost = {f"no_{role}": _missing(rows[role]).astype("int64") for role in ("item", "annotator")}
    found = rows.assign(**lost).groupby(["annotator", "label"], dropna=False, sort=False, observed=True)
    return found.agg({"row": "min", "no_item": "sum", "no_annotator": "sum"}).reset_index()


def _encoded(rows: Any, code: Code) -> Piece:
    import pyarrow as pa

    return encode(pa.Table.from_pandas(rows, preserve_index=False), code)


def _worked(piece: Piece, work: Work, sizes: tuple[int, int]) -> Sums:
    return work(piece.chunk(sizes))


def _shown(piece: Piece, work: Work, sizes: tuple[int, int], columns: Sequence[str], classes: Any, meta: Any) -> Any:
    return shown(piece.ids, work(piece.chunk(sizes)), columns, classes).to_pandas().astype(meta.dtypes.to_dict())


def _gold(chunk: Any) -> Sums:
    return (chunk.gold,)


@dataclass(frozen=True, eq=False)
class Dask:
    """The home of chunks in the partitions of a Dask frame."""

    pieces: tuple[Any, ...]
    sizes: tuple[int, int]
    meta: Any  # an empty pandas frame of item, annotator, label and row

    def run(self, work: Work, keys: bool = False) -> Iterator[Sums]:
        del keys  # pieces have them
        import dask

        run = dask.delayed(partial(_worked, work=work, sizes=self.sizes))
        return iter(dask.compute(*[run(piece) for piece in self.pieces]))

    def table(self, work: Work, columns: Sequence[str], classes: Sequence[Hashable] | None) -> Any:
        """A lazy Dask frame."""
        import dask
        import dask.dataframe as dd
        import pandas as pd
        import pyarrow as pa

        known = [self.meta["item"].dtype, *([] if classes is None else [self.meta["label"].dtype])]
        kinds = known + ["float64"] * (len(columns) - len(known))
        meta = pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in zip(columns, kinds, strict=True)})
        what = {"work": work, "sizes": self.sizes, "columns": columns, "meta": meta}
        what["classes"] = None if classes is None else pa.array(list(classes))
        run = dask.delayed(partial(_shown, **what))
        return dd.from_delayed([run(piece) for piece in self.pieces], meta=meta)

    def ids(self) -> Sequence[Any]:
        import dask

        return [v for piece in dask.compute(*self.pieces) for v in piece.ids.to_pylist()]

    def free(self) -> int:
        return free_memory() // 2
