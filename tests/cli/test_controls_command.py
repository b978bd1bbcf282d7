"""Tests of `assay controls`: its tables, and its exit code if the verdict is wrong."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from assay.cli.app import app
from assay.controls import answers as answers_module
from assay.controls.answers import Answer, ControlModel
from assay.controls.graded import cases as graded_module
from assay.errors import UserError
from tests.controls.graded.test_rates import at_ends

DOCS = Path(__file__).resolve().parents[2] / "docs"


def answer(claim, control, finding, interval, known, because, right):
    effect, low, high = interval
    return Answer(claim, control, "text", finding, effect, low, high, 300, known, because, right)


RIGHT = answer("needed", "reason", "supported", (0.2, 0.1, 0.3), "supported", "So.", right=True)
WRONG = answer(
    "stable", "reason", "undecided", (None, None, None), "supported", "Equal seeds.", right=False
)
UNKNOWN = answer("agrees", "unstable", "supported", (1.0, 0.9, 1.1), "not known", "?", right=True)
AUC = {"score": "attention", "value": 1.0, "low": 0.99, "high": 1.0, "n": 300, "skipped": 0}
MODEL = ControlModel("reason", "text", "It is.", 1.0, 0.97, (AUC,))


CASES = at_ends({"contradicted": 20}, {"supported": 20})
FAILED_CASES = at_ends({"supported": 5, "contradicted": 15}, {"supported": 20})


@pytest.fixture
def controls(monkeypatch):
    """A function that calls the command with given answers instead of training models."""

    def call(answers, *options, cases=CASES):
        result = (answers, [MODEL])
        monkeypatch.setattr(answers_module, "run_controls", lambda folder, execution: result)
        monkeypatch.setattr(graded_module, "run_graded", lambda folder, execution, size: cases)
        return CliRunner().invoke(app, ["controls", *options])

    return call


def test_right_answers_exit_with_0_and_print_the_tables(controls, tmp_path):
    file = tmp_path / "controls.json"
    result = controls([RIGHT, UNKNOWN], "--json", str(file))
    assert result.exit_code == 0
    row = "| needed | reason   | text | supported | 0.20 [0.10, 0.30] | supported |"
    assert row in result.stdout
    assert "1 of 1 known answers are right; 1 more have no known answer." in result.stdout
    assert "1.00 [0.99, 1.00] 300" in result.stdout
    assert re.search(r"\| depends \| mixing +\| 0 of 20 \(0%\)", result.stdout)
    written = json.loads(file.read_text())
    assert [one["claim"] for one in written["answers"]] == ["needed", "agrees"]
    assert written["models"][0]["aucs"][0]["score"] == "attention"
    assert len(written["graded"]) == len(CASES)


def test_a_wrong_answer_is_named_and_exits_with_1(controls):
    result = controls([RIGHT, WRONG])
    assert result.exit_code == 1
    assert "1 of 2 known answers" in result.stdout
    message = "the finding of 'stable' on reason, text is undecided and should be supported"
    assert message in result.stderr
    assert "Equal seeds." in result.stderr


def test_a_rule_that_errs_too_often_is_named_and_exits_with_1(controls):
    result = controls([RIGHT], cases=FAILED_CASES)
    assert result.exit_code == 1
    message = "'depends' on the family 'mixing': supported in 5 of 20 cases of dose 0."
    assert message in " ".join(result.stderr.split())


def test_the_parts_can_be_run_alone(controls):
    graded = controls([WRONG], "--part", "graded")
    assert (graded.exit_code, "known answers" in graded.stdout) == (0, False)
    trained = controls([RIGHT], "--part", "trained", cases=FAILED_CASES)
    assert (trained.exit_code, "dose" in trained.stdout) == (0, False)
    quick = controls([WRONG], "--quick")
    assert (quick.exit_code, "known answers" in quick.stdout) == (0, False)


def test_the_rates_and_the_page_are_written(controls, tmp_path):
    rates, page = tmp_path / "rates.json", tmp_path / "controls.md"
    page.write_text((DOCS / "controls.md").read_text())
    result = controls([RIGHT], "--write-rates", str(rates), "--write-page", str(page))
    assert result.exit_code == 0, result.stderr
    assert json.loads(rates.read_text())["depends"]["decided"] == [40, 40]
    assert "0 of 20 (0%)" in page.read_text()
    assert "1 of 1 known answers are right" in page.read_text()
    assert (tmp_path / "figures" / "operating-curves.svg").exists()


def test_all_mistakes_are_reported_before_the_work(controls, tmp_path):
    file = tmp_path / "file"
    file.touch()
    options = ["--out", str(file), "--json", str(tmp_path), "--jobs", "0", "--engine", "steam"]
    options += ["--part", "grade", "--write-rates", str(tmp_path), "--write-page", str(tmp_path)]
    result = controls([RIGHT], *options)
    assert isinstance(result.exception, UserError)
    for text in (
        "--out",
        "--json",
        "--jobs 0",
        "'steam'",
        "did you mean 'graded'",
        f"--write-rates {tmp_path} cannot",
        f"--write-page {tmp_path} is no file",
    ):
        assert text in str(result.exception)


def test_some_claims_alone_run_the_graded_test_families(controls, monkeypatch):
    sizes = []

    def run_graded(folder, execution, size):
        sizes.append(size)
        return CASES

    result = controls([WRONG], "--claims", "depends, right sign")  # trained controls are not run
    assert result.exit_code == 0
    assert "known answers" not in result.stdout
    assert re.search(r"\| depends \| mixing +\| 0 of 20 \(0%\)", result.stdout)
    monkeypatch.setattr(graded_module, "run_graded", run_graded)
    CliRunner().invoke(app, ["controls", "--claims", "depends, right sign"])
    assert sizes == [graded_module.FULL.error_rates(("depends", "right sign"))]


def test_claims_that_are_unknown_or_not_graded_are_named(controls):
    result = controls([RIGHT], "--claims", "depend", "--part", "trained")
    assert isinstance(result.exception, UserError)
    for text in ("did you mean 'depends'", "leave --part trained out"):
        assert text in str(result.exception)


def test_some_claims_alone_keep_the_rates_of_the_others(controls, tmp_path):
    rates, page = tmp_path / "rates.json", tmp_path / "controls.md"
    page.write_text((DOCS / "controls.md").read_text())
    other = {"wrong_at_0": [0, 80], "wrong_at_1": [0, 80], "decided": [160, 160]}
    rates.write_text(json.dumps({"stable": other, "depends": other}))
    written = ["--write-rates", str(rates), "--write-page", str(page)]
    result = controls([RIGHT], "--claims", "depends", *written)
    assert result.exit_code == 0, result.stderr
    found = json.loads(rates.read_text())
    assert (found["stable"], found["depends"]["decided"]) == (other, [40, 40])
    lines = page.read_text().splitlines()
    assert any(re.match(r"\| depends +\| mixing +\| 0 of 20 \(0%\)", line) for line in lines)
    assert any(re.match(r"\| stable +\| equal in part +\| 0 of 80", line) for line in lines)


def test_rates_of_the_calibration_families_cannot_be_written(controls, tmp_path):
    options = ["--part", "calibration", "--write-rates", str(tmp_path / "rates.json")]
    with pytest.raises(UserError, match="--part all or --part graded"):
        raise controls([RIGHT], *options).exception


def test_quiet_prints_no_tables(controls):
    result = controls([RIGHT], "--quiet")
    assert (result.exit_code, result.stdout) == (0, "")


def test_log_json_writes_messages_as_objects(controls):
    result = controls([RIGHT], "--log-json", cases=FAILED_CASES)
    assert result.exit_code == 1
    lines = [json.loads(line) for line in result.stderr.splitlines()]
    assert any("depends" in line["message"] for line in lines)
