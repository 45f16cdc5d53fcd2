"""Tables that are not plain: wide columns by name, compound items, lists, nested JSON, conditions, gold, lists of labels."""

import csv
import json
import logging
import time

import pytest
from tests import exported as made

import covote
from covote.annotations import load
from covote.cli.app import run
from covote.errors import ColumnError, InputError

LONG = made.WANTED


def triples(answers):
    return {(str(i), str(w), str(k)) for i, w, k in answers}


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def wide(tmp_path, extra=()):
    header = ["uid", "text", "note", *made.PEOPLE, *(name for name, _ in extra)]
    rows = [
        [i, f"a long text {i}", f"free {i}", *(x for _, x in found), *(make(i) for _, make in extra)]
        for i, found in made.by_item().items()
    ]
    return write(tmp_path / "w.csv", made.table(header, rows))


@pytest.mark.parametrize("annotators", ["ann,bob,cyd", "?[noy][nbd]", ["ann", "bob", "cyd"]])
def test_wide_columns_by_name_or_glob(annotators, tmp_path):
    assert triples(covote.read(wide(tmp_path), item="uid", annotators=annotators)) == LONG
    assert triples(covote.read(wide(tmp_path), annotators=annotators)) == LONG  # the item is recognised


def test_wide_columns_that_are_not_there(tmp_path):
    with pytest.raises(
        ColumnError, match=r"Column 'eve' of annotators= not found. Columns are: uid, text, note, ann, bob, cyd\."
    ):
        load(wide(tmp_path), annotators="ann,eve")
    with pytest.raises(InputError, match="at least two annotators"):
        load(wide(tmp_path), annotators="ann")
    with pytest.raises(InputError, match="Pass one of the two"):
        load(wide(tmp_path), annotators="ann,bob", label="cyd")


def test_compound_items_and_conditions(tmp_path):
    rows = [(f"d{i // 3}", i % 3, who, label, "APPROVED") for i, who, label in made.ROWS]
    path = write(
        tmp_path / "a.csv",
        made.table(("doc", "part", "worker", "label", "status"), [*rows, ("d0", 1, "eve", "bad", "NO")]),
    )
    found = triples(covote.read(path, item="doc,part", where="status=APPROVED"))
    assert found == {(f"d{int(i) // 3} | {int(i) % 3}", who, label) for i, who, label in LONG}
    assert found == triples(covote.read(path, item=("doc", "part"), where=["status!=NO"]))
    with pytest.raises(ColumnError, match="Column 'state' of where= not found"):
        load(path, item="doc,part", where="state=APPROVED")
    with pytest.raises(InputError, match="where= needs NAME=VALUE"):
        load(path, where="APPROVED")


def test_list_columns(tmp_path):
    rows = [(i, ",".join(w for w, _ in f), ",".join(x for _, x in f)) for i, f in made.by_item().items()]
    path = write(tmp_path / "a.csv", made.table(("uid", "who", "what"), rows))
    assert triples(covote.read(path, item="uid", annotator="who", label="what")) == LONG
    records = [{"uid": i, "who": [w for w, _ in f], "what": [x for _, x in f]} for i, f in made.by_item().items()]
    for name, text in (("a.json", json.dumps(records)), ("a.jsonl", made.lines(records))):
        assert triples(covote.read(write(tmp_path / name, text), item="uid", annotator="who", label="what")) == LONG
    records[2]["what"].pop()
    with pytest.raises(InputError, match="hold lists of 3 and 2"):
        load(write(tmp_path / "b.json", json.dumps(records)), item="uid", annotator="who", label="what")


def test_nested_json_by_path(tmp_path):
    records = [
        {"meta": {"id": i}, "votes": [{"by": {"name": w}, "says": x} for w, x in f]} for i, f in made.by_item().items()
    ]
    path = write(tmp_path / "a.json", json.dumps(records))
    for who, what in (("votes.by.name", "votes.says"), ("votes[].by.name", "votes[].says")):
        assert triples(covote.read(path, item="meta.id", annotator=who, label=what)) == LONG


def test_objects_keyed_by_id(tmp_path):
    flat = {str(i): dict(f) for i, f in made.by_item().items()}
    assert triples(covote.read(write(tmp_path / "a.json", json.dumps(flat)), annotators="*")) == LONG
    nested = {str(i): [{"worker": w, "label": x} for w, x in f] for i, f in made.by_item().items()}
    assert triples(covote.read(write(tmp_path / "b.json", json.dumps(nested)))) == LONG
    inside = {"data": [{"task": i, "worker": w, "label": x} for i, w, x in made.ROWS]}
    assert triples(covote.read(write(tmp_path / "c.json", json.dumps(inside)))) == LONG


def test_gold_column(tmp_path):
    path = wide(tmp_path, [("gold", lambda i: "good" if i < 3 else "")])
    loaded = load(path, annotators="ann,bob,cyd", gold_column="gold")
    assert loaded.gold == {"1": "good", "2": "good"}
    clash = write(tmp_path / "b.csv", "task,worker,label,gold\nx,ann,a,a\nx,bob,a,b\n")
    with pytest.raises(InputError, match="both 'a' and 'b'"):
        load(clash, gold_column="gold")


def test_a_guess_beside_options_is_as_strict(tmp_path):
    rows = [(i, who, f"text {i}", label, n, "ok") for n, (i, who, label) in enumerate(made.ROWS)]
    path = write(tmp_path / "a.csv", made.table(("task", "judge", "response", "rating", "nr", "status"), rows))
    with pytest.raises(ColumnError, match='Pass label="response" or "rating"'):
        load(path, where="status=ok")
    path = write(tmp_path / "b.csv", made.table(("task", "judge", "text", "mood", "vote", "status"), rows))
    with pytest.raises(
        ColumnError, match="Column 'vote' was recognised as the label, but it holds 18 different values"
    ):
        load(path, where="status=ok")
    assert load(path, where="status=ok", label="mood").annotations.n_labels == 18


def test_question_of_a_table(tmp_path):
    path = write(tmp_path / "a.csv", "task,worker,tone,mood\n" + "".join(f"{i},{w},{i},{x}\n" for i, w, x in made.ROWS))
    assert triples(covote.read(path, question="mood")) == LONG
    with pytest.raises(ColumnError, match="Column 'mod' of label= not found"):
        load(path, question="mod")


def test_many_judges_beside_texts_are_quick(tmp_path):
    names = [f"judge {k}" for k in range(9)]
    rows = [[i, f"text {i} " * 20, f"reply {i} " * 20, *((i * k) % 3 for k in range(9))] for i in range(1200)]
    path = write(
        tmp_path / "a.csv", made.table(["idx", "prompt", "reply", *(n.replace(" ", "_x") for n in names)], rows)
    )
    start = time.process_time()
    a = load(path, annotators="judge_*").annotations
    assert (a.n_items, a.n_annotators, time.process_time() - start < 2) == (1200, 9, True)
    start = time.process_time()
    with pytest.raises(ColumnError):  # the texts are nobody's labels, also where the table is said to be wide
        load(path, shape="wide", item="idx")
    assert time.process_time() - start < 2


def test_a_guess_is_told(tmp_path, caplog):
    path = write(tmp_path / "a.csv", "Task ID,rater,verdict,time\nx,ann,a,1\nx,bob,b,2\n")
    with caplog.at_level(logging.INFO, logger="covote.reading"):
        logging.getLogger("covote.reading").propagate = True
        account = load(path).account
    assert account == "Columns recognised by name: item 'Task ID', annotator 'rater', label 'verdict'; not used: time."
    assert load(path, item="Task ID", annotator="rater", label="verdict").account == ""


# ---- the command line


@pytest.fixture
def cli(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)

    def typed(*arguments):
        code = run([str(a) for a in arguments])
        out, err = capfd.readouterr()
        return code, out, err

    return typed


def test_aggregate_an_export_by_question(cli, tmp_path):
    path = write(tmp_path / "a.json", made.label_studio(("mood", "tone")))
    code, _, err = cli("aggregate", path, "-o", "out")
    assert (code, (tmp_path / "out").exists()) == (2, False)
    assert "Pass --question one of: mood (18 answers), tone (18 answers)." in err
    code, _, err = cli("aggregate", path, "--question", "mood", "-o", "out", "--use-gold", "--write", "label-studio")
    assert (code, err.startswith("Read: Label Studio (JSON): 18 answers from 6 records; question 'mood' of 2;")) == (
        0,
        True,
    )
    tasks = json.loads((tmp_path / "out" / "label-studio.json").read_text())
    assert len(tasks) == 6
    prediction = tasks[1]["predictions"][0]
    assert prediction["model_version"] == "covote auto"
    assert prediction["result"] == [
        {"from_name": "mood", "to_name": "text", "type": "choices", "value": {"choices": ["good"]}}
    ]
    assert 0.99 < prediction["score"] <= 1  # the gold of this task


def test_look_and_formats_change_nothing(cli, tmp_path):
    path = write(tmp_path / "a.json", made.label_studio(("mood", "tone")))
    code, out, _ = cli("look", path)
    assert code == 0
    assert (
        "Format: Label Studio (JSON)\nQuestion mood: 18 answers, 6 items, 3 annotators, gold for 1; 2 labels: bad, good\n"
        in out
    )
    assert "covote asks: " in out
    assert "covote reads: Label Studio (JSON): 18 answers" in cli("look", path, "--question", "tone")[1]
    plain = write(tmp_path / "b.csv", "task,worker,label\nx,ann,a\nx,bob,b\n")
    assert cli("look", plain)[1].startswith("Format: a plain table\nQuestion label: 2 answers, 1 items, 2 annotators")
    assert json.loads(cli("look", plain, "--json")[1])["questions"]["label"]["answers"] == 2
    assert cli("look", "absent.csv")[::2] == (2, "Error: File 'absent.csv' not found. Check the path.\n")
    code, out, _ = cli("formats")
    assert (code, "label-studio: Label Studio (JSON)" in out, "prodigy: Prodigy" in out) == (0, True, True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.json", "b.csv"]


def test_lists_of_labels_and_the_way_back(cli, tmp_path):
    rows = [
        {"text": "t", "_input_hash": i, "options": [], "accept": [label, "big"] if i % 2 else [label], "answer": "accept",
         "_annotator_id": who, "config": {"choice_style": "multiple"}}
        for i, who, label in made.ROWS
    ]  # fmt: skip
    path = write(tmp_path / "a.jsonl", made.lines(rows))
    write(tmp_path / "items.csv", "nr,title\n" + "".join(f"{i},title {i}\n" for i in range(1, 8)))
    assert "Pass --multiple to read one yes/no question per label." in cli("aggregate", path)[2]
    more = ("--join", "items.csv", "--write", "argilla", "--write", "dataset")
    code, _, _ = cli("aggregate", path, "--multiple", "-o", "out", "-m", "majority-vote", *more)
    assert code == 0
    with (tmp_path / "out" / "items.csv").open() as file:
        labels = {row["item"]: set(row["label"].split("; ")) for row in csv.DictReader(file)}
    assert {item: "big" in found for item, found in labels.items()} == {str(i): i % 2 == 1 for i in range(1, 7)}
    with (tmp_path / "out" / "joined.csv").open() as file:
        joined = list(csv.DictReader(file))
    assert [row["title"] for row in joined] == [f"title {i}" for i in range(1, 8)]
    assert set(joined[0]["covote_label"].split("; ")) == labels["1"]
    assert joined[6]["covote_label"] == ""
    suggestion = json.loads((tmp_path / "out" / "argilla.json").read_text())[0]
    assert set(suggestion) == {"id", "label.suggestion", "label.suggestion.score", "label.suggestion.agent"}
    assert (tmp_path / "out" / "dataset.parquet").exists()
