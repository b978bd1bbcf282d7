"""Tests of the cases: seeds that never meet, resumption, and answers of all claims."""

from dataclasses import replace
from pathlib import Path

import pytest

from assay.config import Execution
from assay.controls.graded import cases as cases_module
from assay.controls.graded.cases import (
    FULL,
    QUICK,
    GradedCase,
    GradedSettings,
    read_answers,
    run_case,
    run_graded,
)
from assay.controls.graded.families import DOSES, FAMILIES, ONE_MODEL, PAIRS, ROLES

LEAST_CASES = 60
FEW = GradedSettings(
    documents=40, at_ends={"calibration": 1, "test": 1}, between={"calibration": 0, "test": 0}
)


def test_no_two_cases_share_a_seed():
    cases = [case for size in (FULL, QUICK) for case in size.cases(Path("nowhere"))]
    assert len({case.seed for case in cases}) == len(cases)
    assert len({case.job.key for case in cases}) == len(cases)


def test_there_are_enough_cases():
    for size in (FULL, QUICK):
        counted = {(case.role, case.dose) for case in size.cases(Path("nowhere"))}
        assert counted == {(role, dose) for role in ROLES for dose in DOSES}
    assert FULL.documents == 500
    assert FULL.at_ends["test"] >= LEAST_CASES


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cases")


@pytest.fixture(scope="module")
def answers(folder):
    return run_graded(folder, Execution(), FEW)


def test_every_claim_is_answered_on_both_of_its_families(answers):
    found = {(one.claim, one.role, one.family, one.dose) for one in answers}
    assert found >= {
        (claim, role, pair.of(role), dose)
        for claim, pair in PAIRS.items()
        for role in ROLES
        for dose in (0.0, 1.0)
    }
    assert len(answers) == len(found)


def test_finished_cases_are_kept(folder, answers, monkeypatch):
    monkeypatch.setattr(cases_module, "answer_case", lambda case: pytest.fail("worked again"))
    assert run_graded(folder, Execution(), FEW) == answers
    with pytest.raises(pytest.fail.Exception):
        run_graded(folder, Execution(), replace(FEW, documents=41))


def test_a_case_gives_the_same_answers_again(tmp_path):
    case = GradedCase("calibration", 0.5, 3, 40, tmp_path / "one")
    places = [run_case(case), run_case(replace(case, folder=tmp_path / "two"))]
    one, other = (read_answers([place]) for place in places)
    assert one == other


def test_some_claims_alone_have_the_answers_of_a_run_with_all(folder, answers):
    wanted = ("sufficient", "stable")
    found = run_graded(folder, Execution(), FEW.error_rates(wanted))
    # Claims about several models are judged beside the first family, as in a run with all claims.
    assert {one.family for one in found} == {"learned", "blended", "equal in part"}
    assert {one.claim for one in found} == {*ONE_MODEL, "stable"}
    assert all(one in answers for one in found)
    alone = run_graded(folder, Execution(), FEW.error_rates(["right sign"]))
    assert {(one.role, one.family) for one in alone} == {("test", "learned")}
    assert all(one in answers for one in alone)


def test_a_later_family_has_seeds_of_its_own(tmp_path):
    case = GradedCase("test", 0.5, 3, 40, tmp_path)
    cases = [case for size in (FULL, QUICK) for case in size.cases(Path("nowhere"))]
    assert case.seed == case.seed_of(0)
    later = {one.seed_of(FAMILIES["learned"].seeds) for one in cases}
    assert len(later) == len(cases)
    assert not later & {one.seed for one in cases}


def test_calibration_alone_runs_no_test_family():
    cases = list(FEW.calibration().cases(Path("nowhere")))
    assert {case.role for case in cases} == {"calibration"}
