"""Real export files: the counts that are known of them, or a refusal that names what to pass."""

import os
from pathlib import Path

import pytest

from covote.annotations import load
from covote.errors import InputError

FOLDER = Path(os.environ.get("COVOTE_DATA", Path(__file__).parents[2] / "shared" / "data")) / "exports"
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not FOLDER.is_dir(), reason=f"the folder of exports {FOLDER} is absent; set COVOTE_DATA"),
]

READ = [
    ("prodigy_presto_distortion.jsonl", {}, (1776, 593, 3)),
    ("pandalm_testset-v1.json", {}, (2997, 999, 3)),
    ("pandalm_testset-v1.json", {"annotators": "annotator*", "item": "idx"}, (2997, 999, 3)),
    ("ls_csv_test2.json", {}, (1, 1, 1)),
    ("inspect_popularity.json", {"annotators": "scorers"}, (3, 3, 1)),
    ("inspect_popularity.json", {"annotators": "models"}, (3, 3, 1)),
    ("promptfoo_results.json", {"annotators": "providers"}, (3, 3, 1)),
    ("promptfoo_results.json", {"annotators": "graders"}, (3, 3, 2)),
    ("crowdtruth_platform_amt1.csv", {}, (27, 9, 18)),
    ("crowdtruth_platform_cf1.csv", {}, (27, 9, 18)),
    ("doccano_classification_v0.jsonl", {}, (3, 3, 1)),
    ("zooniverse_wildcam_gorongosa_sample.csv", {"multiple": True}, (80, 80, 1)),
]

REFUSED = [
    ("ls_csv_test2_result.csv", {}, "Pass question= one of:"),
    ("ls_json_min_data.json", {}, "1 polygonlabels of question 'label' (not one label for the whole task)"),
    ("inspect_popularity.json", {}, 'Pass annotators="scorers" or "models".'),
    ("inspect_popularity.eval", {}, 'Pass annotators="scorers" or "models".'),
    ("inspect_popularity.eval", {"annotators": "scorers"}, "10 samples without a score"),
    ("promptfoo_results.json", {}, 'Pass annotators="providers" or "graders".'),
    ("zooniverse_wildcam_gorongosa_sample.csv", {}, "Pass multiple=True"),
]


@pytest.mark.parametrize(("file", "options", "counts"), READ)
def test_read(file, options, counts):
    a = load(FOLDER / file, **options).annotations
    assert (a.n_labels, a.n_items, a.n_annotators) == counts


@pytest.mark.parametrize(("file", "options", "advice"), REFUSED)
def test_refused(file, options, advice):
    with pytest.raises(InputError) as refusal:
        load(FOLDER / file, **options)
    assert advice in str(refusal.value)
