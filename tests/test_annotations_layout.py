"""Headers, delimiters, synonyms and the order of classes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from covote.annotations import Annotations, Vocabulary, load
from covote.annotations.columns import SYNONYMS, Long, choose
from covote.annotations.encode import encode_integers
from covote.annotations.text import sniff
from covote.errors import ColumnError, InputError


def write(path, text):
    path.write_bytes(text.encode())
    return path


def test_every_synonym_is_recognised_whatever_its_spelling():
    for item, annotator, label in itertools.product(SYNONYMS["item"], SYNONYMS["annotator"], SYNONYMS["label"]):
        assert choose([label, annotator, item]) == Long(item, annotator, label)
    for names in (
        ["Task ID", "workerId", "ANSWER"],
        ["task_id", "Worker-Name", "answers"],
        ["task", "worker", "label"],
    ):
        assert choose(names) == Long(*names)


def test_the_commoner_name_wins_and_names_given_win_over_all():
    assert choose(["id", "item", "user", "label", "value"]) == Long("item", "user", "label")
    assert choose(["id", "item", "user", "label", "value"], item="id", label="value") == Long("id", "user", "value")
    assert choose(["label", "worker", "item"], item="worker", annotator="item") == Long("worker", "item", "label")


@pytest.mark.parametrize("delimiter", ["\t", ",", ";", "|", " "])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_numbers_without_header_are_item_annotator_label(delimiter, end, tmp_path):
    rows = [("1", "1", "2"), ("1", "2", "1"), ("07", "1", "2")]
    text = end.join(delimiter.join(row) for row in rows)
    for final in ("", end):
        a = load(write(tmp_path / "crowd.txt", text + final)).annotations
        assert (a.items.to_list(), a.annotators.to_list(), a.classes.to_list()) == (["1", "07"], ["1", "2"], ["1", "2"])
        assert a.n_labels == 3


def test_a_header_is_told_from_data():
    assert sniff("item,annotator,label\n1,2,3\n").header
    assert sniff("a,label,c\n1,2,3\n").header
    assert sniff("item,1,2\nx,yes,no\n").names == ("item", "1", "2")
    assert not sniff("i1,w1,correct\ni1,w2,wrong\ni2,w1,correct\n").header
    assert not sniff("i1,w1,yes\ni1,w2,no\n").header
    assert sniff("a,b,c,d\n1,2,3,4\n").header
    assert sniff("foo,bar,baz\nq,r,s\n").header
    assert sniff("what,who,says\n1,2,3\n", given=["who"]).header


def test_columns_name_a_file_without_header(tmp_path):
    path = write(tmp_path / "a.csv", "cat,ann,x\ndog,bob,x\n")
    for columns in ("label,annotator,item", ["label", "annotator", "item"], ("says", "worker", "task")):
        a = load(path, columns=columns, label=columns[0] if columns[0] == "says" else None).annotations
        assert (a.items.to_list(), a.annotators.to_list(), a.classes.to_list()) == (
            ["x"],
            ["ann", "bob"],
            ["cat", "dog"],
        )
    path = write(tmp_path / "b.csv", "item,annotator,label\nx,ann,cat\n")
    assert load(path, columns="item,annotator,label").annotations.n_labels == 1
    with pytest.raises(ColumnError, match="names 2 columns, but the first line has 3"):
        load(path, columns="item,label")


def test_delimiters_may_be_given(tmp_path):
    path = write(tmp_path / "a.txt", "item~annotator~label\nx,1~ann~cat;dog\n")
    a = load(path, delimiter="~").annotations
    assert (a.items.to_list(), a.classes.to_list()) == (["x,1"], ["cat;dog"])
    path = write(tmp_path / "b.txt", "item\tannotator\tlabel\nx,1\ta n\tcat;dog\n")
    for delimiter in (None, "\t", "\\t", "tab"):
        assert load(path, delimiter=delimiter).annotations.items.to_list() == ["x,1"]


def test_text_with_other_delimiters_inside_is_split_by_the_header(tmp_path):
    path = write(tmp_path / "a.csv", "item;annotator;label\n1,5;a;x\n2,5;b;y\n")
    assert load(path).annotations.items.to_list() == ["1,5", "2,5"]


def test_files_with_columns_in_another_order_are_joined_by_name(tmp_path):
    write(tmp_path / "1.csv", "item,annotator,label\nx,ann,cat\n")
    write(tmp_path / "2.csv", "label;note;annotator;item\ndog;?;bob;y\n")
    write(tmp_path / "3.csv", "")
    a = load(tmp_path / "*.csv").annotations
    assert (a.items.to_list(), a.annotators.to_list(), a.classes.to_list()) == (
        ["x", "y"],
        ["ann", "bob"],
        ["cat", "dog"],
    )


def test_a_file_whose_name_looks_like_a_glob(tmp_path):
    write(tmp_path / "1.csv", "item,annotator,label\nx,ann,cat\n")
    path = write(tmp_path / "[1]*.csv", "item,annotator,label\ny,ann,cat\n")
    assert load(path).annotations.items.to_list() == ["y"]


CLASSES = [
    ([10, 9, 1], [1, 9, 10]),
    (["10", "9", "1"], ["1", "10", "9"]),
    ([2.5, 1, True], [1, 2.5]),
    (["b", 2, "a", 1], [1, 2, "a", "b"]),
    ([(2, "x"), (1, "z")], [(1, "z"), (2, "x")]),
    ([1j, 0j], [1j, 0j]),
]


@pytest.mark.parametrize(("labels", "ordered"), CLASSES)
def test_classes_are_sorted(labels, ordered):
    rows = [(n, "ann", label) for n, label in enumerate(labels)]
    a = load(rows).annotations
    assert a.classes.to_list() == ordered
    assert [a.classes[k] for k in a.label] == labels


def test_classes_given_come_first():
    rows = [(n, "ann", label) for n, label in enumerate(["d", "b", "a"])]
    loaded = load(rows, classes=["c", "b"])
    a = loaded.annotations
    assert a.classes.to_list() == ["c", "b", "a", "d"]
    assert [a.classes[k] for k in a.label] == ["d", "b", "a"]
    assert loaded.item_table({"label": loaded.label_column(np.array([0, 1, 3]))}) == {0: "c", 1: "b", 2: "d"}


@pytest.mark.parametrize("low", [0, -(2**63), 2**62])
@pytest.mark.parametrize("spread", [1, 7, 10**9])
@pytest.mark.parametrize("order", ["sorted", "shuffled", "falling"])
def test_integers_are_numbered_by_first_appearance(low, spread, order):
    rng = np.random.default_rng(1)
    column = low + np.sort(rng.integers(0, 5000, size=20000)) * spread
    column = {"sorted": column, "shuffled": rng.permutation(column), "falling": column[::-1]}[order]
    coded = encode_integers(column)
    assert coded.values.tolist() == list(dict.fromkeys(column.tolist()))
    assert np.array_equal(coded.values[coded.codes], column)


def test_codes_in_any_order_give_the_same_annotations():
    rng = np.random.default_rng(2)
    pairs = rng.permutation(50 * 20)[:600]
    item, annotator, label = pairs // 20, pairs % 20, rng.integers(0, 3, 600)
    a = Annotations.from_codes(item, annotator, label)
    order = np.lexsort((annotator, item))
    assert np.array_equal(a.item, item[order])
    assert np.array_equal(a.annotator, annotator[order])
    assert np.array_equal(a.label, label[order])
    some = a.select(np.array([7, 3]))
    keep = np.isin(a.annotator, [3, 7])
    assert np.array_equal(some.item, a.item[keep])
    assert sorted(zip(some.item, np.array([7, 3])[some.annotator], some.label, strict=True)) == sorted(
        zip(a.item[keep], a.annotator[keep], a.label[keep], strict=True)
    )
    assert some.annotators.to_list() == [7, 3]


def test_repeated_or_too_many_codes_are_refused():
    with pytest.raises(InputError, match="answers the same item twice"):
        Annotations.from_codes([0, 0], [1, 1], [0, 1])
    many = Vocabulary(np.broadcast_to(np.int8(0), 2**16))
    with pytest.raises(InputError) as error:
        Annotations.from_codes([0], [0], [0], items=many, annotators=many, classes=many)
    assert str(error.value) == "65536 items x 65536 annotators x 65536 classes are too many. Load the items in parts."
    assert Annotations.from_codes([], [], []).n_labels == 0
