"""A lazy frame of answers -> who answered what how often (fetched: small), and the answers in codes (lazy: large)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from covote.annotations.classes import in_order, order_classes
from covote.annotations.encode import Coded
from covote.engines.frame.backends import Column, beside, fetched
from covote.errors import ConflictError, InputError

Lazy = nw.LazyFrame[Any]


@dataclass(frozen=True, eq=False)
class Crowd:
    """Every distinct answer (annotator, label) met in the frame; `row = annotator * n_classes + label` is its code."""

    annotators: tuple[Hashable, ...]
    classes: tuple[Hashable, ...]
    row: NDArray[np.int64]  # (answers met,)

    @property
    def who(self) -> NDArray[np.int64]:
        return self.row // max(len(self.classes), 1)

    def table(self, frame: Lazy, columns: dict[str, Column]) -> Lazy:
        """A small table beside `frame`, to be joined to it on annotator and label: the code `row` and `columns`."""
        what = self.row % max(len(self.classes), 1)
        keys: dict[str, Column] = {
            "annotator": [self.annotators[m] for m in self.who.tolist()],
            "label": [self.classes[k] for k in what.tolist()],
            "row": self.row,
        }
        like = {name: frame.collect_schema()[name] for name in ("annotator", "label")}
        return beside(frame, {**keys, **columns}, like)

    def coded(self, frame: Lazy) -> Lazy:
        """The answers as (item, who, row)."""
        return frame.join(self.table(frame, {"who": self.who}), on=["annotator", "label"]).select("item", "who", "row")


def standard(frame: Lazy, item: str, annotator: str | None, label: str) -> Lazy:
    """Columns item, annotator and label; rows without a label are left out, odd types are compared as text."""
    names = {"item": item, "annotator": annotator, "label": label}
    chosen = frame.select(nw.col(name).alias(role) for role, name in names.items() if name is not None)
    schema = chosen.collect_schema()
    odd = [role for role in ("annotator", "label") if role in schema and not _plain(schema[role])]
    chosen = chosen.with_columns(nw.col(role).cast(nw.String) for role in odd) if odd else chosen
    return chosen.filter(~_is_missing("label", chosen))


def _plain(dtype: Any) -> bool:
    return bool(dtype.is_integer() or dtype.is_float() or dtype in (nw.String, nw.Boolean))


def _is_missing(role: str, frame: Lazy) -> nw.Expr:
    dtype, missing = frame.collect_schema()[role], nw.col(role).is_null()
    if dtype.is_float():
        return missing | nw.col(role).is_nan()
    return missing | (nw.col(role) == "") if dtype == nw.String else missing


def survey_plan(frame: Lazy) -> Lazy:
    """Per (annotator, label): answers, and those of them that lack their item or annotator."""
    lost = [_is_missing(role, frame).cast(nw.Int64).alias(f"no_{role}") for role in ("item", "annotator")]
    sums = [nw.col(f"no_{role}").sum() for role in ("item", "annotator")]
    return frame.with_columns(*lost).group_by("annotator", "label").agg(nw.len().alias("n"), *sums)


def survey(frame: Lazy, classes: Iterable[Hashable] | None, unseen: Iterable[Hashable]) -> Crowd:
    """Fetch the vocabularies; `classes` come first, as given, `unseen` are further classes that nobody answered."""
    met = fetched(survey_plan(frame))
    for role in ("item", "annotator"):
        if int(met[f"no_{role}"].sum()):
            msg = (
                f"{int(met[f'no_{role}'].sum())} rows have a label but no {role}. "
                "Give every label its item and its annotator, or remove the rows."
            )
            raise InputError(msg)
    people, said = met["annotator"].tolist(), met["label"].tolist()
    labels = list(dict.fromkeys([*said, *unseen]))
    ordered = order_classes(Coded(np.arange(len(labels)), labels), classes)
    code = dict(zip(labels, ordered.codes.tolist(), strict=True))
    answered = [i for i, x in enumerate(said) if code[x] >= 0]
    if not answered:
        msg = "The table holds no answers. Pass one with at least one labelled item."
        raise InputError(msg)
    annotators = in_order(list(dict.fromkeys(people[i] for i in answered)))
    place = {name: m for m, name in enumerate(annotators)}
    K = len(ordered.values)
    row = np.array([place[people[i]] * K + code[said[i]] for i in answered], dtype=np.int64)
    return Crowd(tuple(annotators), tuple(ordered.values), np.sort(row))


def repeats_plan(answers: Lazy) -> Lazy:
    """Per (item, annotator) with more than one answer: the smallest and the largest code given."""
    low, high = nw.col("row").min().alias("low"), nw.col("row").max().alias("high")
    return answers.group_by("item", "who").agg(nw.len().alias("n"), low, high).filter(nw.col("n") > 1)


def settled(answers: Lazy, crowd: Crowd) -> Lazy:
    """One answer an (item, annotator): repeats that agree collapse, repeats that conflict are an error."""
    repeats = repeats_plan(answers)
    differ = (nw.col("low") < nw.col("high")).cast(nw.Int64).alias("conflict")
    found = fetched(repeats.with_columns(differ).group_by("conflict").agg(nw.len().alias("times")))
    if not len(found["times"]):
        return answers
    if not found["conflict"].any():
        return answers.unique(["item", "who", "row"])
    example = fetched(repeats.filter(nw.col("low") < nw.col("high")).select("item", "low", "high").head(1))
    item, low, high = (example[name].tolist()[0] for name in ("item", "low", "high"))
    annotator, one, other = (
        crowd.annotators[low // len(crowd.classes)],
        crowd.classes[low % len(crowd.classes)],
        crowd.classes[high % len(crowd.classes)],
    )
    msg = (
        f"Annotator {annotator!r} labels item {item!r} both {one!r} and {other!r}. "
        "Keep one answer an item and annotator in the frame."
    )
    raise ConflictError(msg)


def gold_codes(gold: Lazy, crowd: Crowd) -> Lazy:
    """True classes as (item, gold); an item may come several times if its labels agree."""
    like = {"label": gold.collect_schema()["label"]}
    codes = beside(gold, {"label": list(crowd.classes), "code": np.arange(len(crowd.classes))}, like)
    low, high = nw.col("code").min().alias("gold"), nw.col("code").max().alias("high")
    per_item = gold.join(codes, on="label").group_by("item").agg(low, high)
    example = fetched(per_item.filter(nw.col("gold") < nw.col("high")).head(1))
    if len(example["item"]):
        one, other = (crowd.classes[int(example[name][0])] for name in ("gold", "high"))
        msg = (
            f"The truth gives item {example['item'].tolist()[0]!r} both {one!r} and {other!r}. "
            "Keep one true label an item."
        )
        raise InputError(msg)
    return per_item.select("item", "gold")
