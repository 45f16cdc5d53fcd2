"""Small faithful files of labelling and evaluation tools, made by hand: 6 items, 3 annotators, known answers."""

import csv
import io
import json
import zipfile

PEOPLE = ("ann", "bob", "cyd")
ROWS = [(i, who, "good" if (i + j) % 3 else "bad") for i in range(1, 7) for j, who in enumerate(PEOPLE)]
WANTED = {(str(i), who, label) for i, who, label in ROWS}


def by_item():
    return {i: [(who, label) for item, who, label in ROWS if item == i] for i in range(1, 7)}


def table(header, rows, delimiter=","):
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows([header, *rows])
    return out.getvalue()


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def label_studio(questions=("mood",)):
    def result(question, label):
        return {"id": "x", "type": "choices", "from_name": question, "to_name": "text", "value": {"choices": [label]}}

    tasks = []
    for item, answers in by_item().items():
        annotations = [
            {"id": 100 * item + n, "completed_by": {"id": n, "email": who}, "was_cancelled": False, "ground_truth": False,
             "result": [result(q, label) for q in questions]}
            for n, (who, label) in enumerate(answers)
        ]  # fmt: skip
        tasks.append(
            {"id": item, "data": {"text": f"text {item}"}, "annotations": annotations, "drafts": [], "predictions": []}
        )
    tasks[0]["annotations"].append({"completed_by": 9, "was_cancelled": True, "result": []})
    tasks[1]["annotations"].append({"completed_by": 9, "ground_truth": True, "result": [result("mood", "good")]})
    tasks[2]["drafts"] = [{"result": [result("mood", "bad")]}]
    tasks[3]["predictions"] = [{"model_version": "m1", "result": [result("mood", "bad")]}]
    return json.dumps(tasks)


def label_studio_csv():
    rows = [(f"text {i}", i, label, who, 10 * n, "2024-01-01", 3.5) for n, (i, who, label) in enumerate(ROWS)]
    return table(("text", "id", "mood", "annotator", "annotation_id", "created_at", "lead_time"), rows)


def label_studio_min():
    return json.dumps([
        {"text": f"text {i}", "id": i, "mood": label, "annotator": who, "annotation_id": n, "lead_time": 1.5}
        for n, (i, who, label) in enumerate(ROWS)
    ])  # fmt: skip


def prodigy():
    options = [{"id": "good", "text": "Good"}, {"id": "bad", "text": "Bad"}]
    found = [
        {"text": f"t{i}", "_input_hash": i, "_task_hash": -i, "options": options, "accept": [label], "answer": "accept",
         "_annotator_id": who, "_session_id": who, "_view_id": "choice"}
        for i, who, label in ROWS
    ]  # fmt: skip
    return lines([*found, {**found[0], "answer": "ignore", "accept": []}])


def inspect_log(version=2):
    samples = [
        {
            "id": i,
            "epoch": 1,
            "target": "good",
            "scores": {who: {"value": label, "answer": label} for who, label in found},
        }
        for i, found in by_item().items()
    ]
    head = {"version": version, "status": "success", "eval": {"task": "t", "model": "m1"}, "results": {}}
    return json.dumps({**head, "samples": samples}, indent=1)


def promptfoo(version=3):
    results = [
        {"testIdx": i, "promptIdx": 0, "provider": {"id": who, "label": ""}, "success": label == "good", "failureReason": 0,
         "gradingResult": {"componentResults": []}}
        for i, who, label in ROWS
    ]  # fmt: skip
    return json.dumps({"evalId": "e", "results": {"version": version, "results": results}, "config": {}}, indent=1)


def lm_eval(who):
    return lines([
        {"doc_id": i, "doc": {}, "target": "0", "arguments": [], "doc_hash": str(i),
         "resps": [[["-1.0", "False"]], [["-2.0", "False"]]],
         "filtered_resps": [["-1.0", "False"], ["-2.0" if label == "good" else "-0.5", "False"]], "acc": 1.0}
        for i, one, label in ROWS if one == who
    ])  # fmt: skip


def openai_evals(who):
    spec = {"spec": {"completion_fns": [who], "eval_name": "mood.dev.v0", "base_eval": "mood", "run_id": "r"}}
    events = [
        {"run_id": "r", "event_id": n, "sample_id": str(i), "type": "match",
         "data": {"correct": True, "expected": "good", "picked": label, "sampled": label}}
        for n, (i, one, label) in enumerate(ROWS) if one == who
    ]  # fmt: skip
    return lines([spec, *events, {"final_report": {"accuracy": 0.5}}])


def argilla():
    return json.dumps([
        {"id": str(i), "fields": {"text": "t"}, "metadata": {}, "suggestions": {"mood": {"value": "good", "agent": "m1", "score": 1}},
         "responses": {"mood": [{"value": label, "user_id": who} for who, label in found]}, "status": "completed"}
        for i, found in by_item().items()
    ])  # fmt: skip


def argilla_flat():
    rows = []
    for i, found in by_item().items():
        users, labels = [w for w, _ in found], [x for _, x in found]
        rows.append({"id": str(i), "text": "t", "mood.responses": [*labels, "good"], "mood.responses.users": [*users, "eve"],
                     "mood.responses.status": ["submitted"] * 3 + ["draft"], "mood.suggestion": "good"})  # fmt: skip
    return lines(rows)


def doccano(who):
    return lines([{"id": i, "text": "t", "label": [label], "Comments": []} for i, one, label in ROWS if one == who])


def doccano_old():
    return lines([
        {"id": i, "text": "t", "annotations": [{"label": label, "user": who} for who, label in found], "meta": {}}
        for i, found in by_item().items()
    ])  # fmt: skip


def mturk():
    header = ("HITId", "HITTypeId", "AssignmentId", "WorkerId", "AssignmentStatus", "Input.text", "Answer.mood")
    rows = [(i, "T", f"A{n}", who, "Approved", f"t{i}", label) for n, (i, who, label) in enumerate(ROWS)]
    return table(header, [*rows, (1, "T", "A99", "eve", "Rejected", "t1", "bad")])


def toloka():
    header = ("INPUT:image", "OUTPUT:mood", "GOLDEN:mood", "HINT:text", "ASSIGNMENT:worker_id", "ASSIGNMENT:status")
    rows = [(i, label, "good" if i == 1 else "", "", who, "APPROVED") for i, who, label in ROWS]
    return table(header, [*rows[:9], [""] * 6, *rows[9:], (1, "bad", "", "", "eve", "REJECTED")], "\t")


def appen():
    header = ("_unit_id", "_worker_id", "_tainted", "_golden", "text", "mood", "mood_gold")
    rows = [(i, who, "false", "false", f"t{i}", label, "good" if i == 2 else "") for i, who, label in ROWS]
    return table(header, [*rows, (1, "eve", "true", "false", "t1", "bad", "")])


def zooniverse():
    header = (
        "classification_id",
        "user_name",
        "user_id",
        "workflow_id",
        "expert",
        "gold_standard",
        "annotations",
        "subject_ids",
    )
    rows = [
        (n, who, "", 1, "", "", json.dumps([{"task": "T0", "task_label": "Mood?", "value": label}]), i)
        for n, (i, who, label) in enumerate(ROWS)
    ]
    return table(header, rows)


def write_zip(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return path


def inspect_members(version=2):
    log = json.loads(inspect_log(version))
    samples = {f"samples/{s['id']}_epoch_1.json": json.dumps(s) for s in log.pop("samples")}
    return {"_journal/start.json": json.dumps(log), **samples, "header.json": json.dumps(log)}
