"""Is the verdict right on models whose answer is known, and would we notice if it were not?"""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

from assay.config import Execution
from assay.controls.answers import answers_of, control_model, told, wrong_answers
from assay.controls.corpora import DATA
from assay.controls.expected import EXPECTED
from assay.controls.trials import CONTROLS, run_trials
from assay.scores import SCORES
from assay.verdict import CLAIMS
from tests.controls.small_controls import FURTHER, small_trials

TRAINED = {"needed", "stable"}
CHECKED = {"attention", "leave_one_out", "random"}
UNASKED = {"guides", "exclusive per model"}


@pytest.fixture(scope="module")
def tried(tmp_path_factory):
    asked = small_trials(tmp_path_factory.mktemp("controls"))
    assert len(list(run_trials(asked, Execution(engine="processes", workers=2)))) == len(
        CONTROLS
    ) * len(DATA)
    return asked


def test_the_verdict_is_what_must_be(tried):
    answers = answers_of(tried)
    assert wrong_answers(answers) == []
    everywhere = {claim.name for claim in CLAIMS} - TRAINED - UNASKED
    found = {(one.claim, one.control, one.data) for one in answers}
    assert found >= {(claim, control.name, data) for claim in everywhere
                     for control in CONTROLS for data in DATA}  # fmt: skip
    assert sum(one.claim in TRAINED for one in answers) == sum(map(len, FURTHER.values()))


def test_a_wrong_declaration_is_noticed(tried):
    """Say of every known answer the opposite: each must come out wrong."""
    other = {"supported": "contradicted", "contradicted": "supported",
             "not supported": "supported"}  # fmt: skip
    turned = [replace(one, known=other.get(one.known, one.known)) for one in EXPECTED]
    answers = answers_of(tried, turned)
    assert wrong_answers(answers) == [one for one in answers if one.counted]
    assert "WRONG" in "\n".join(told(answers, []))


def test_models_are_what_they_are_said_to_be(tried):
    found = {(one.control, one.data): one for one in map(control_model, tried)}
    for data in DATA:
        assert all(found[control.name, data].accuracy > 0.9 for control in CONTROLS)
        assert found["reason", data].mass > 0.9
        assert found["decoupled", data].mass < 0.05


def test_scores_find_the_planted_items_as_scikit_learn_says(tried):
    trial = next(trial for trial in tried if trial.control.name == "decoupled")
    instances = pl.read_parquet(trial.place / "instances.parquet")
    marks = instances["rationale"].to_list()
    aucs = control_model(trial).aucs
    assert {row["score"] for row in aucs} > CHECKED
    for row in (row for row in aucs if row["score"] in CHECKED):
        lists = instances[row["score"]].to_list()
        sized = np.abs if SCORES[row["score"]].signed else np.asarray
        each = [roc_auc_score(m, sized(values)) for m, values in zip(marks, lists, strict=True)]
        assert row["value"] == pytest.approx(np.mean(each), abs=1e-9)
        assert row["low"] <= row["value"] <= row["high"]
        assert (row["n"], row["skipped"]) == (len(each), 0)


def test_where_every_item_is_planted_there_is_nothing_to_find(tried):
    assert all(not control_model(t).aucs for t in tried if t.control.name == "unstable")


def test_every_claim_is_declared_for_every_control_once():
    declared = [(one.claim, one.control) for one in EXPECTED]
    assert sorted(declared) == sorted((a.name, b.name) for a in CLAIMS for b in CONTROLS)
    assert all(one.because.endswith(".") for one in EXPECTED)


@pytest.mark.parametrize("claim", [claim.name for claim in CLAIMS])
def test_some_control_supports_and_some_other_speaks_against_a_claim(claim):
    known = {one.known for one in EXPECTED if one.claim == claim}
    assert "supported" in known
    assert known & {"contradicted", "not supported"}


def test_the_page_declares_what_the_code_does():
    text = (Path(__file__).resolve().parents[2] / "docs" / "controls.md").read_text()
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+\.) \|$", text, re.M)
    assert rows == [(one.claim, one.control, one.known, one.because) for one in EXPECTED]
