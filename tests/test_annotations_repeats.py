"""Repeats of an (item, annotator) pair: the policies equal a slow reference, for every kind of table."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covote.annotations import load
from covote.errors import ConflictError, InputError

ROWS = st.lists(
    st.tuples(st.sampled_from("xyz"), st.sampled_from("ab"), st.sampled_from("123")), min_size=1, max_size=12
)
PICK = {
    "first": lambda labels: labels[0],
    "last": lambda labels: labels[-1],
    "majority": lambda labels: max(labels, key=lambda k: (labels.count(k), -labels.index(k))),
}


def settle_slowly(rows, policy):
    labels = {}
    for item, annotator, label in rows:
        labels.setdefault((item, annotator), []).append(label)
    return {pair: PICK[policy](given) for pair, given in labels.items()}


def answers_of(a):
    return {(a.items[i], a.annotators[m]): a.classes[k] for i, m, k in zip(a.item, a.annotator, a.label, strict=True)}


@pytest.mark.parametrize("policy", PICK)
@settings(deadline=None)
@given(ROWS)
def test_policies_equal_the_slow_reference(policy, rows):
    a = load(rows, duplicates=policy).annotations
    assert answers_of(a) == settle_slowly(rows, policy)
    assert a.classes.to_list() == sorted({label for _, _, label in rows})


@settings(deadline=None)
@given(ROWS)
def test_only_conflicts_are_errors(rows):
    labels = settle_slowly(rows, "first")
    if labels == settle_slowly(rows, "last") and len({*rows}) == len(labels):
        assert answers_of(load(rows).annotations) == labels
    else:
        with pytest.raises(ConflictError):
            load(rows)


MANY = [(f"i{n % 17}", f"a{n % 3}", f"c{(n * n) % 7}") for n in range(400)]
NUMBERS = [(n % 17, n % 3, (n * n) % 7) for n in range(400)]


def tables(rows, folder):
    columns = dict(zip(("item", "annotator", "label"), zip(*rows, strict=True), strict=True))
    pa.parquet.write_table(pa.table({k: list(v) for k, v in columns.items()}), folder / "a.parquet", row_group_size=50)
    pd.DataFrame(columns).to_csv(folder / "a.csv", index=False)
    return [
        folder / "a.parquet",
        folder / "a.csv",
        pd.DataFrame(columns),
        pl.DataFrame(columns),
        pl.DataFrame(columns).to_arrow(),
    ]


@pytest.mark.parametrize("policy", PICK)
@pytest.mark.parametrize("rows", [MANY, NUMBERS], ids=["text", "numbers"])
def test_every_kind_of_table_follows_the_policy(policy, rows, tmp_path):
    wanted = settle_slowly(rows, policy)
    for table in tables(rows, tmp_path):
        found = answers_of(load(table, duplicates=policy).annotations)
        if str(table).endswith("csv"):
            found = {(type(rows[0][0])(i), type(rows[0][1])(m)): type(rows[0][2])(k) for (i, m), k in found.items()}
        assert found == wanted


def test_the_sentence_about_a_conflict():
    with pytest.raises(ConflictError) as error:
        load([("x", "ann", "cat"), ("y", "bob", "cat"), ("y", "bob", "dog")])
    assert str(error.value) == (
        "Annotator 'bob' labels item 'y' both 'cat' and 'dog'. "
        'Pass duplicates="first", "last" or "majority" to keep one label.'
    )  # fmt: skip
    with pytest.raises(InputError) as unknown:
        load([("x", "ann", "cat")], duplicates="mean")
    assert str(unknown.value) == 'duplicates=\'mean\' is not known. Pass one of "error", "first", "last", "majority".'


def test_an_empty_repeat_is_no_answer():
    rows = [("x", "ann", "cat"), ("x", "ann", None), ("x", "ann", "")]
    assert answers_of(load(rows).annotations) == {("x", "ann"): "cat"}
