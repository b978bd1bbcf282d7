"""Tests of finished runs: which are kept, and the score that is read from them."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from assay.config import VERSION, Settings
from assay.errors import UserError
from assay.reproduction.finished_runs import complete_runs, covers, existing_manifest
from assay.runs.manifest import Fields, Manifest
from assay.statistics.intervals import score_interval

SETTINGS = Settings(corpus="motif", probes=("agreement", "permutation"), threads=1)


def manifest_of(status="complete", version=VERSION):
    versions = {"assay": version}
    values = {"status": status, "settings": SETTINGS.as_record(), "versions": versions}
    return Manifest(Fields("run.json", values))


def test_a_complete_run_covers_its_settings_and_fewer_probes():
    assert covers(manifest_of(), SETTINGS)
    assert covers(manifest_of(), replace(SETTINGS, probes=("agreement",)))


@pytest.mark.parametrize(
    ("manifest", "settings"),
    [
        (manifest_of(status="running"), SETTINGS),
        (manifest_of(version="0.0.1"), SETTINGS),
        (manifest_of(), replace(SETTINGS, seed=1)),
        (manifest_of(), replace(SETTINGS, probes=("agreement", "adversary"))),
    ],
    ids=["running", "another version", "another seed", "a further probe"],
)
def test_other_runs_are_not_covered(manifest, settings):
    assert not covers(manifest, settings)


def test_only_complete_runs_are_found_in_the_order_of_their_folders(tmp_path):
    for name, status in (("b", "complete"), ("a", "complete"), ("c", "running")):
        (tmp_path / name).mkdir()
        manifest_of(status).write(tmp_path / name)
    (tmp_path / "figures").mkdir()
    assert [run.folder.name for run in complete_runs(tmp_path)] == ["a", "b"]
    assert complete_runs(tmp_path / "none") == []


def test_a_broken_manifest_is_an_error_with_its_path(tmp_path):
    assert existing_manifest(tmp_path) is None
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(UserError, match=r"run\.json cannot be read"):
        existing_manifest(tmp_path)


@pytest.fixture
def labels_and_predictions():
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 3, 200)
    return labels, np.where(rng.random(200) < 0.7, labels, rng.integers(0, 3, 200))


def test_scores_are_those_of_scikit_learn(labels_and_predictions):
    labels, predictions = labels_and_predictions
    names = "abc"
    columns = ([names[i] for i in labels], [names[i] for i in predictions], list(names))
    accuracy, macro = (score_interval(*columns, score, 0) for score in ("accuracy", "macro_f1"))
    assert accuracy.value == pytest.approx(accuracy_score(labels, predictions))
    assert macro.value == pytest.approx(f1_score(labels, predictions, average="macro"))


def test_a_class_without_labels_and_predictions_does_not_lower_macro_f1():
    interval = score_interval(["a", "b"], ["a", "b"], ["a", "b", "c"], "macro_f1", 0)
    assert interval.value == 1


def test_the_interval_of_a_score_is_that_of_resampled_documents(labels_and_predictions):
    labels, predictions = (part % 2 for part in labels_and_predictions)
    names = ["no", "yes"]
    columns = [[names[i] for i in part] for part in (labels, predictions)]
    interval = score_interval(*columns, names, "f1", 0)
    assert interval.value == pytest.approx(f1_score(labels, predictions))
    rng = np.random.default_rng(1)
    rows = rng.integers(0, len(labels), (2000, len(labels)))
    resampled = [f1_score(labels[row], predictions[row]) for row in rows]
    bounds = np.quantile(resampled, [0.025, 0.975])
    assert [interval.low, interval.high] == pytest.approx(bounds, abs=0.01)
