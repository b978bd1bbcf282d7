"""Tests of `assay controls`: its tables, and its exit code if the verdict is wrong."""

import json

import pytest
from typer.testing import CliRunner

from assay.cli.app import app
from assay.controls import answers as answers_module
from assay.controls.answers import Answer, ControlModel
from assay.errors import UserError


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


@pytest.fixture
def controls(monkeypatch):
    """A function that calls the command with given answers instead of training models."""

    def call(answers, *options):
        result = (answers, [MODEL])
        monkeypatch.setattr(answers_module, "run_controls", lambda folder, execution: result)
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
    written = json.loads(file.read_text())
    assert [one["claim"] for one in written["answers"]] == ["needed", "agrees"]
    assert written["models"][0]["aucs"][0]["score"] == "attention"


def test_a_wrong_answer_is_named_and_exits_with_1(controls):
    result = controls([RIGHT, WRONG])
    assert result.exit_code == 1
    assert "1 of 2 known answers" in result.stdout
    message = "the finding of 'stable' on reason, text is undecided and should be supported"
    assert message in result.stderr
    assert "Equal seeds." in result.stderr


def test_all_mistakes_are_reported_before_the_work(controls, tmp_path):
    file = tmp_path / "file"
    file.touch()
    options = ["--out", str(file), "--json", str(tmp_path), "--jobs", "0", "--engine", "steam"]
    result = controls([RIGHT], *options)
    assert isinstance(result.exception, UserError)
    for text in ("--out", "--json", "--jobs 0", "'steam'"):
        assert text in str(result.exception)


def test_quiet_prints_no_tables(controls):
    result = controls([RIGHT], "--quiet")
    assert (result.exit_code, result.stdout) == (0, "")
