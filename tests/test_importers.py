"""Importers: a faithful file of every tool gives its answers; cut files and unknown versions give one sentence."""

import json
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from tests import exported as made

import covote
from covote.annotations import load
from covote.errors import CovoteError, FileError, InputError
from covote.importers import FORMATS, read_export, registry
from covote.importers.json_stream import elements
from covote.importers.peek import peek
from covote.importers.registry import recognise
from covote.importers.value import Options

ONE_FILE = {
    "label-studio": ("a.json", made.label_studio, {}, {"skipped": 1, "ground truths (kept as gold)": 1, "drafts": 1}),
    "label-studio-table": ("a.csv", made.label_studio_csv, {}, {}),
    "label-studio-table, min": ("a.json", made.label_studio_min, {}, {}),
    "prodigy": ("a.jsonl", made.prodigy, {}, {"ignored": 1}),
    "inspect": ("a.json", made.inspect_log, {"annotators": ("scorers",)}, {}),
    "promptfoo": ("a.json", made.promptfoo, {"annotators": ("providers",)}, {}),
    "argilla": ("a.json", made.argilla, {}, {}),
    "argilla, flat": ("a.jsonl", made.argilla_flat, {}, {"draft": 6}),
    "doccano": ("a.jsonl", made.doccano_old, {}, {}),
    "mturk": ("a.csv", made.mturk, {}, {"rejected": 1}),
    "toloka": ("a.tsv", made.toloka, {}, {"rejected": 1}),
    "appen": ("a.csv", made.appen, {}, {"tainted": 1}),
    "zooniverse": ("a.csv", made.zooniverse, {}, {}),
}
WORDS = {"good": "pass", "bad": "fail"}


def triples(answers):
    return {(str(i), str(w), str(k)) for i, w, k in answers}


def wanted(name):
    if name == "promptfoo":
        return {(f"test {i}", who, WORDS[label]) for i, who, label in made.WANTED}
    return made.WANTED


@pytest.mark.parametrize("name", ONE_FILE)
def test_a_faithful_file(name, tmp_path):
    file, make, options, left_out = ONE_FILE[name]
    path = tmp_path / file
    path.write_text(make(), encoding="utf-8")
    assert recognise(peek(str(path))).name == name.split(",")[0]
    answers = read_export(path, Options(**options))
    assert triples(answers) == wanted(name)
    assert len(answers) == 18
    assert answers.account.left_out == left_out
    odd = tmp_path / "no-known-ending"  # the name of a file says nothing
    odd.write_text(make(), encoding="utf-8")
    assert triples(read_export(odd, Options(**options))) == wanted(name)


@pytest.mark.parametrize("name", ONE_FILE)
@pytest.mark.parametrize("share", [0.35, 0.6, 0.93])
def test_a_file_cut_in_the_middle(name, share, tmp_path, capfd):
    """One sentence, or for tables cut between two rows the rows before the cut; never other answers."""
    file, make, options, _ = ONE_FILE[name]
    text = make()
    path = tmp_path / file
    path.write_text(text[: int(len(text) * share)], encoding="utf-8")
    try:
        found = load(path, **{k: ",".join(v) for k, v in options.items()}).annotations
    except CovoteError as error:
        sentence = str(error)
    else:
        sentence = "."
        assert file.endswith(("csv", "tsv"))
        rows = {(str(found.items[i]), found.annotators[w]) for i, w in zip(found.item, found.annotator, strict=True)}
        assert rows <= {(i, who) for i, who, _ in made.WANTED}
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert [p.name for p in tmp_path.iterdir()] == [file]


UNKNOWN = {
    "label-studio": lambda: made.label_studio().replace('"result"', '"results_v3"'),
    "label-studio-table": lambda: made.label_studio_csv().replace(",ann,", ",,"),
    "prodigy": lambda: made.prodigy().replace('"answer": "accept"', '"answer": "yes"'),
    "inspect": lambda: made.inspect_log(version=9),
    "promptfoo": lambda: made.promptfoo(version=9),
    "argilla": lambda: made.argilla().replace('"user_id"', '"annotator_ref"'),
    "doccano": lambda: made.doccano_old().replace('"user": "bob"', '"member": "bob"'),
    "mturk": lambda: made.mturk().replace("Answer.mood", "Result_mood"),
    "toloka": lambda: made.toloka().replace("OUTPUT:", "OUT:"),
    "zooniverse": lambda: made.zooniverse().replace('""value""', '""values""'),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_version(name, tmp_path):
    file, _, options, _ = ONE_FILE[name]
    path = tmp_path / file
    path.write_text(UNKNOWN[name](), encoding="utf-8")
    with pytest.raises(InputError) as refusal:
        load(path, **{k: ",".join(v) for k, v in options.items()})
    assert "\n" not in str(refusal.value)
    assert [p.name for p in tmp_path.iterdir()] == [file]


def test_inspect_json_and_zip_are_one(tmp_path):
    plain, packed = tmp_path / "a.json", made.write_zip(tmp_path / "a.eval", made.inspect_members())
    plain.write_text(made.inspect_log())
    with pytest.raises(InputError, match=r'Pass annotators="scorers" or "models"\.'):
        load(plain)
    for who in ("scorers", "models"):
        options = Options(annotators=(who,), question=None if who == "scorers" else "bob")
        assert triples(read_export(plain, options)) == triples(read_export(packed, options))
    answers = read_export(packed, Options(annotators=("models",), question="bob.answer"))
    assert set(answers.gold.values()) == {"good"}
    broken = tmp_path / "cut.eval"
    broken.write_bytes(packed.read_bytes()[:-300])
    with pytest.raises(FileError, match="cut short or damaged"):
        load(broken)
    with pytest.raises(InputError, match="its version is 9"):
        load(made.write_zip(tmp_path / "new.eval", made.inspect_members(9)), annotators="scorers")


def test_aspects_of_a_score_are_questions_and_no_judges(tmp_path):
    log = json.loads(made.inspect_log())
    for sample in log["samples"]:
        sample["scores"] = {who: {"value": {"mood": s["value"], "tone": 1}} for who, s in sample["scores"].items()}
    path = tmp_path / "a.json"
    path.write_text(json.dumps(log))
    assert triples(covote.read(path, annotators="scorers", question="mood")) == made.WANTED
    with pytest.raises(InputError, match=r"mood \(18 answers\), tone \(18 answers\)"):
        covote.read(path, annotators="scorers")


@pytest.mark.parametrize(("name", "make", "labels"), [
    ("lm-eval", made.lm_eval, {"good": "0", "bad": "1"}), ("openai-evals", made.openai_evals, {"good": "good", "bad": "bad"}),
])  # fmt: skip
def test_one_file_per_model(name, make, labels, tmp_path):
    for who in made.PEOPLE:
        (tmp_path / who).mkdir()
        (tmp_path / who / "samples_mood_2024-05-14T10-11-12.345678.jsonl").write_text(make(who))
    answers = read_export(str(tmp_path / "*" / "*.jsonl"), Options())
    assert triples(answers) == {(i, who, labels[label]) for i, who, label in made.WANTED}
    assert len(answers.gold) == 6
    path = tmp_path / "ann" / "cut.jsonl"
    path.write_text(make("ann")[:-40])
    with pytest.raises(FileError, match=r"record \d+, which starts at character \d+, is not whole"):
        load(path)
    path.write_text(make("ann").replace('"resps"', '"r"').replace('"completion_fns"', '"c"'))
    with pytest.raises(CovoteError):
        load(path)


def test_doccano_folder_and_zip(tmp_path):
    folder = tmp_path / "export"
    folder.mkdir()
    for who in made.PEOPLE:
        (folder / f"{who}.jsonl").write_text(made.doccano(who))
    packed = made.write_zip(tmp_path / "export.zip", {f"{who}.jsonl": made.doccano(who) for who in made.PEOPLE})
    assert triples(covote.read(folder)) == triples(covote.read(packed)) == made.WANTED
    (folder / "bob.jsonl").write_text(made.doccano("bob")[:-30])
    with pytest.raises(FileError, match=r"bob\.jsonl"):
        covote.read(folder)


def test_argilla_parquet(tmp_path):
    rows = [json.loads(line) for line in made.argilla_flat().splitlines()]
    pa.parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    assert triples(covote.read(tmp_path / "a.parquet")) == made.WANTED


def test_several_questions_are_asked_for(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(made.label_studio(("mood", "tone")))
    with pytest.raises(
        InputError, match=r"holds 2 questions. Pass question= one of: mood \(18 answers\), tone \(18 answers\)"
    ):
        load(path)
    loaded = load(path, question="tone")
    assert loaded.account == (
        "Label Studio (JSON): 18 answers from 6 records; question 'tone' of 2; "
        "left out: 1 skipped, 1 ground truths (kept as gold), 1 drafts."
    )
    with pytest.raises(InputError, match="has no question 'mod'"):
        load(path, question="mod")


def test_predictions_are_annotators_on_request(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(made.label_studio())
    assert triples(covote.read(path, annotators="people,predictions")) == {*made.WANTED, ("4", "m1", "bad")}
    assert covote.read(path).gold == {2: "good"}


def test_options_without_meaning_are_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(made.mturk())
    for options in ({"annotators": "models"}, {"where": "AssignmentStatus=Approved"}, {"gold_column": "x"}):
        with pytest.raises(InputError, match="is for plain tables, and the file is of MTurk batch"):
            load(path, **options)
    named = load(path, item="HITId", annotator="WorkerId", label="Answer.mood", where="AssignmentStatus=Approved")
    assert named.annotations.n_labels == 18


def test_answers_of_forms_on_mturk(tmp_path):
    def form(label):
        return json.dumps([{"mood": {x: x == label for x in ("good", "bad")}, "tone": {"label": "x"}, "note": "n"}])

    rows = [(i, who, form(label)) for i, who, label in made.ROWS]
    path = tmp_path / "a.csv"
    path.write_text(made.table(("HITId", "WorkerId", "Answer.taskAnswers"), rows))
    assert triples(covote.read(path, question="mood")) == made.WANTED
    with pytest.raises(InputError, match=r"mood \(18 answers\), tone \(18 answers\), note \(18 answers\)"):
        covote.read(path)
    path.write_text(made.table(("HITId", "WorkerId", "Answer.taskAnswers"), [(1, "ann", "{}")]))
    with pytest.raises(InputError, match=r"Answer.taskAnswers is no list of one record"):
        covote.read(path)


def test_lists_of_labels_with_a_named_annotator_are_not_doccano(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(made.lines([{"id": i, "text": "t", "label": [x], "annotator": who} for i, who, x in made.ROWS]))
    assert triples(covote.read(path, item="id", annotator="annotator", label="label")) == made.WANTED
    with pytest.raises(InputError, match="Column 'label' holds lists or records"):
        covote.read(path)


def test_answers_go_wherever_a_table_goes(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(made.prodigy())
    assert sorted(covote.aggregate(covote.read(path)).labels_.fetchall()) == sorted(
        covote.aggregate(path).labels_.fetchall()
    )


def test_every_format_explains_itself():
    assert len({f.name for f in FORMATS}) == len(FORMATS) == 13
    assert all(f.title and f.holds and f.example.startswith("covote ") for f in FORMATS)


def test_hugging_face_folders(tmp_path):
    schema = pa.schema(
        [("id", pa.int64()), ("worker", pa.string()), ("label", pa.int64())],
        metadata={
            "huggingface": json.dumps(
                {"info": {"features": {"label": {"names": ["good", "bad"], "_type": "ClassLabel"}}}}
            )
        },
    )
    columns = list(zip(*made.ROWS, strict=True))
    table = pa.table([columns[0], columns[1], [["good", "bad"].index(x) for x in columns[2]]], schema=schema)
    folder = tmp_path / "saved"
    folder.mkdir()
    for name, text in (("state.json", "{}"), ("dataset_info.json", "{}")):
        (folder / name).write_text(text)
    with pa.OSFile(str(folder / "data-00000-of-00001.arrow"), "wb") as out, pa.ipc.new_stream(out, schema) as writer:
        writer.write_table(table)
    assert triples(covote.read(folder)) == made.WANTED
    hub = tmp_path / "hub" / "data"
    hub.mkdir(parents=True)
    pa.parquet.write_table(table, hub / "train-00000-of-00001.parquet")
    assert len(covote.read(tmp_path / "hub")) == 18
    pa.parquet.write_table(table, hub / "test-00000-of-00001.parquet")
    with pytest.raises(InputError, match="holds the splits test, train"):
        covote.read(tmp_path / "hub")
    (tmp_path / "both").mkdir()
    (tmp_path / "both" / "dataset_dict.json").write_text("{}")
    folder.rename(tmp_path / "both" / "train")
    with pytest.raises(InputError, match="holds the splits train"):
        covote.read(tmp_path / "both")


def test_the_example_of_the_docs_is_a_format_of_another_package(tmp_path, monkeypatch):
    page = (Path(__file__).parents[1] / "docs" / "formats.md").read_text(encoding="utf-8")
    space = {}
    exec(page.split("```python\n")[1].split("```")[0], space)

    class Point:
        def load(self):
            return space["FORMAT"]

    monkeypatch.setattr(registry, "entry_points", lambda group: [Point()] if group == "covote.importers" else [])
    registry.formats.cache_clear()
    try:
        path = tmp_path / "panel.jsonl"
        path.write_text(
            made.lines([{"panel_id": i, "verdicts": {**dict(f), "eve": None}} for i, f in made.by_item().items()])
        )
        answers = covote.read(path)
        assert triples(answers) == made.WANTED
        assert answers.account.sentence() == "Panel logs (.jsonl): 18 answers from 6 records; left out: 6 abstentions."
    finally:
        registry.formats.cache_clear()
    assert all(f"| {name}" in page for name in ("Label Studio", "Prodigy", "promptfoo", "Zooniverse"))


class Endless:
    """A JSON array of 20 MB that is made while it is read."""

    def __init__(self, record, count):
        self.parts = iter(["[", *(record + "," for _ in range(count - 1)), record, "]"])
        self.kept = ""

    def read(self, size):
        while len(self.kept) < size and (part := next(self.parts, None)) is not None:
            self.kept += part
        out, self.kept = self.kept[:size], self.kept[size:]
        return out


def test_an_array_is_read_in_pieces():
    record = json.dumps({"id": 1, "text": "x" * 20_000})
    stream = Endless(record, 1000)
    tracemalloc.start()
    count = sum(1 for _ in elements(stream))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (count, peak < 2**23) == (1000, True)
