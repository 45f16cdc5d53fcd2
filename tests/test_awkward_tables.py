"""Sixty tables that invite a wrong guess: each is read as written here by hand, or refused; none is read wrong."""

import csv
import random

import pytest

from covote.annotations import load
from covote.errors import ColumnError, CovoteError

REFUSED = None
PEOPLE = ("ann", "bob", "cyd", "dan")


def cells(seed=0, n_items=15, labels=("cat", "dog", "owl")):
    """Answers of four people to fifteen items, and facts that tables like to hold beside them."""
    rng = random.Random(seed)
    out = []
    for i in range(n_items):
        truth = rng.choice(labels)
        for j, who in enumerate(PEOPLE):
            label = truth if rng.random() < 0.7 else rng.choice(labels)
            n = len(out)
            out.append({
                "item": f"i{i:02}", "who": who, "label": label, "row": f"r{n:04}", "number": n, "truth": truth,
                "text": f"this is text number {i}", "free": f"because of {n}", "rating": rng.randint(1, 5),
                "time": f"2024-01-{1 + n % 28:02}T10:{n % 60:02}", "seconds": f"{rng.uniform(1, 60):.3f}",
                "itemno": i + 1, "whono": j + 1, "labelno": labels.index(label), "empty": "", "const": "web",
                "score": f"{rng.random():.4f}", "status": rng.choice(("accept", "accept", "accept", "reject")),
                "lang": rng.choice(("de", "en")), "topic": ("a", "b", "c")[i % 3], "yes": rng.choice(("yes", "no")),
                "reply": f"the answer of the model to {i}", "model": ("m1", "m2")[i % 2], "n_ann": 4,
            })  # fmt: skip
    return out


# columns as (name, fact); what must come out: the facts read as item, annotator and label, or REFUSED
LONG = [
    # plain names in any order, with much beside them
    ("item:item annotator:who label:label", "item who label"),
    ("label:label annotator:who item:item", "item who label"),
    ("text:text label:label time:time worker:who task:item", "item who label"),
    ("task:item worker:who label:label id:row", "item who label"),
    ("Task ID:item Worker ID:who Label:label Comment:free", "item who label"),
    ("HIT:item turker:who answer:label", "item who label"),
    ("image_id:item rater:who verdict:label seconds:seconds", "item who label"),
    ("doc:item judge:who grade:label", "item who label"),
    ("id:item annotator:who label:labelno", "item who labelno"),
    ("idx:itemno annotator:whono label:labelno", "itemno whono labelno"),
    # ids that look like labels
    ("id:item annotation_id:row annotator:who sentiment:label lead_time:seconds", "item who label"),
    ("id:item annotation_id:row annotator:who choice:label lead_time:seconds", "item who label"),
    ("item:item annotator:who label_id:row", REFUSED),
    ("item:item annotator:who answer_id:row answer:label", "item who label"),
    ("item:item worker:who response:row", REFUSED),
    ("task:item worker:who annotation:number", REFUSED),
    ("task:item worker:who judgment_id:number value:label", "item who label"),
    ("item:item annotator:who label:free", REFUSED),
    ("item:item annotator:who response:reply", REFUSED),
    ("item:item annotator:who answer:score", REFUSED),
    # ids of rows that look like items or annotators
    ("id:row annotator:who label:label", REFUSED),
    ("id:row text:text annotator:who label:label", REFUSED),
    ("index:number judge:who verdict:label", REFUSED),
    ("item:item user:row label:label", REFUSED),
    ("record:row worker:who label:label", REFUSED),
    ("image:item user:who label:label id:row", "item who label"),
    ("id:row task:item worker:who label:label", "item who label"),
    # two that are as plausible
    ("item:item task:topic annotator:who label:label", REFUSED),
    ("question:text image:item annotator:who label:label", REFUSED),
    ("item:item annotator:who worker:const label:label", REFUSED),
    ("item:item rater:who judge:const label:label", REFUSED),
    ("item:item annotator:who answer:label rating:rating", REFUSED),
    ("item:item annotator:who score:rating verdict:label", REFUSED),
    ("item:item annotator:who response:reply rating:rating", REFUSED),
    ("item:item annotator:who category:topic answer:label", REFUSED),
    ("prompt:text query:item judge:who verdict:label", REFUSED),
    # a rating, a status or the truth beside the label
    ("item:item annotator:who label:label rating:rating", "item who label"),
    ("item:item annotator:who rating:rating label:label confidence:score", "item who label"),
    ("item:item annotator:who label:truth rating:rating", REFUSED),
    ("item:item annotator:who label:truth answer:label", REFUSED),
    ("item:item annotator:who label:label truth:truth", "item who label"),
    ("item:item annotator:who answer:status accept:label", REFUSED),
    ("item:item annotator:who gold:truth", REFUSED),
    # columns without values
    ("item:item expert:empty user_name:who label:label", REFUSED),
    ("subject_ids:item expert:empty annotations:label", REFUSED),
    ("item:item annotator:empty label:label", REFUSED),
    # other languages' names
    ("aufgabe:item bearbeiter:who urteil:label", REFUSED),
    ("aufgabe:itemno bearbeiter:whono urteil:labelno", REFUSED),
    ("tarea:item anotador:who etiqueta:label comentario:free", REFUSED),
    ("élément:item annotateur:who étiquette:label", REFUSED),
    ("задание:itemno исполнитель:whono ответ:labelno", REFUSED),
    ("項目:item 注釈者:who ラベル:label", REFUSED),
    ("frage:itemno person:whono antwort:labelno", REFUSED),
    # numbers as labels
    ("item:itemno worker:whono label:rating", "itemno whono rating"),
    ("unit:item contributor:who score:rating", "item who rating"),
]

WIDE = [
    # header, kinds of the columns, what must come out: the annotators' columns, or REFUSED
    ("id annotator1 annotator2 annotator3", "id a b c", ["annotator1", "annotator2", "annotator3"]),
    ("id text annotator1 annotator2 model_x", "id text a b c", ["annotator1", "annotator2"]),
    ("id Rater 1,Rater 2,gold", "id a b truth", ["Rater 1", "Rater 2"]),
    ("id ann bob gold", "id a b truth", REFUSED),
    ("id ann bob n_votes", "id a b n", REFUSED),
    ("id ann bob lang", "id a b lang", REFUSED),
    ("id ann bob majority", "id a b truth", REFUSED),
    ("id ann bob text", "id a b text", REFUSED),
    ("text ann bob cyd", "text a b c", REFUSED),
    ("id ann bob cyd", "id a b c", ["ann", "bob", "cyd"]),
    ("id ann bob cyd label", "id a b c truth", REFUSED),
    ("id age year rank", "id a b c", REFUSED),
]


def write(path, header, rows):
    with path.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([header, *rows])
    return path


def columns_of(text):
    import re

    return [tuple(part.rsplit(":", 1)) for part in re.findall(r"\S[^:]*:\w+", text)]


@pytest.mark.parametrize(("table", "expected"), LONG)
@pytest.mark.parametrize("seed", [0, 1])
def test_long(table, expected, seed, tmp_path):
    facts, columns = cells(seed), columns_of(table)
    path = write(tmp_path / "t.csv", [n for n, _ in columns], [[row[fact] for _, fact in columns] for row in facts])
    if expected is REFUSED:
        with pytest.raises(CovoteError) as refusal:
            load(path)
        assert "\n" not in str(refusal.value)
        return
    a = load(path).annotations
    found = {(a.items[i], a.annotators[w], a.classes[k]) for i, w, k in zip(a.item, a.annotator, a.label, strict=True)}
    assert found == {tuple(str(row[fact]) for fact in expected.split()) for row in facts}


@pytest.mark.parametrize(("header", "kinds", "expected"), WIDE)
def test_wide(header, kinds, expected, tmp_path):
    rng = random.Random(3)
    names = header.split(",") if "," in header else header.split(" ")
    if "," in header:
        names = [*names[0].split(" ", 1), *names[1:]]
    rows = []
    for i in range(40):
        truth = rng.choice("123")
        facts = {
            "id": f"i{i}",
            "truth": truth,
            "text": f"text {i}",
            "n": rng.choice("123"),
            "lang": rng.choice(("de", "en")),
        }
        facts |= {who: truth if rng.random() < 0.7 else rng.choice("123") for who in "abc"}
        rows.append([facts[kind] for kind in kinds.split()])
    path = write(tmp_path / "t.csv", names, rows)
    if expected is REFUSED:
        with pytest.raises(ColumnError):
            load(path)
        return
    a = load(path).annotations
    assert (a.annotators.to_list(), a.n_items, a.n_labels) == (expected, 40, 40 * len(expected))


def test_there_are_sixty():
    assert len(LONG) + len(WIDE) >= 60
