"""Tests of the verdict on small control models, including that a wrong verdict is noticed."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

from assay.config import Execution
from assay.controls.answers import answers_of, control_model, table_lines, wrong_answers
from assay.controls.corpora import DATA
from assay.controls.expected import EXPECTED
from assay.controls.trials import CONTROLS, run_trials
from assay.scores import SCORES
from assay.verdict import CLAIMS
from tests.builders.small_controls import FURTHER, small_trials

TRAINED = {"needed", "stable"}
CHECKED = {"attention", "leave_one_out", "random"}
NOT_MEASURED = {"guides", "exclusive per model"}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    trials = small_trials(tmp_path_factory.mktemp("controls"))
    folders = list(run_trials(trials, Execution(engine="processes", workers=2)))
    assert len(folders) == len(CONTROLS) * len(DATA)
    return trials


def test_the_verdict_is_as_expected(finished):
    answers = answers_of(finished)
    # Three models and 150 documents are too few to decide every claim about several models.
    wrong = [one for one in wrong_answers(answers) if one.claim not in TRAINED]
    assert wrong == []
    undecided = [one for one in wrong_answers(answers) if one.claim in TRAINED]
    assert {one.finding for one in undecided} <= {"undecided"}
    everywhere = {claim.name for claim in CLAIMS} - TRAINED - NOT_MEASURED
    found = {(one.claim, one.control, one.data) for one in answers}
    needed = {
        (claim, control.name, data) for claim in everywhere for control in CONTROLS for data in DATA
    }
    assert found >= needed
    assert sum(one.claim in TRAINED for one in answers) == sum(map(len, FURTHER.values()))


def test_a_wrong_verdict_is_noticed(finished):
    """If the opposite of every known answer is expected, every answer is wrong."""
    opposite = {
        "supported": "contradicted",
        "contradicted": "supported",
        "not supported": "supported",
        "not contradicted": "contradicted",
    }
    opposites = [replace(one, known=opposite.get(one.known, one.known)) for one in EXPECTED]
    answers = answers_of(finished, opposites)
    assert wrong_answers(answers) == [one for one in answers if one.is_counted]
    assert "WRONG" in "\n".join(table_lines(answers, []))


def test_models_are_as_described(finished):
    found = {(one.control, one.data): one for one in map(control_model, finished)}
    for data in DATA:
        assert all(found[control.name, data].accuracy > 0.9 for control in CONTROLS)
        assert found["reason", data].mass > 0.9
        assert found["decoupled", data].mass < 0.05


def test_aucs_of_scores_are_those_of_scikit_learn(finished):
    trial = next(trial for trial in finished if trial.control.name == "decoupled")
    instances = pl.read_parquet(trial.out / "instances.parquet")
    marks = instances["rationale"].to_list()
    aucs = control_model(trial).aucs
    assert {row["score"] for row in aucs} > CHECKED
    for row in (row for row in aucs if row["score"] in CHECKED):
        lists = instances[row["score"]].to_list()
        size = np.abs if SCORES[row["score"]].signed else np.asarray
        each = [roc_auc_score(m, size(values)) for m, values in zip(marks, lists, strict=True)]
        assert row["value"] == pytest.approx(np.mean(each), abs=1e-9)
        assert row["low"] <= row["value"] <= row["high"]
        assert (row["n"], row["skipped"]) == (len(each), 0)


def test_models_with_only_planted_items_have_no_auc(finished):
    unstable = [trial for trial in finished if trial.control.name == "unstable"]
    assert all(not control_model(trial).aucs for trial in unstable)
