"""Does the command say what came out, and fail where the verdict was wrong?"""

import json

import pytest
from typer.testing import CliRunner

from assay.cli.app import app
from assay.controls import answers as controls
from assay.controls.answers import Answer, ControlModel
from assay.errors import UserError

RIGHT = Answer(
    "needed", "reason", "text", "supported", 0.2, 0.1, 0.3, 300, "supported", "So.", True
)
WRONG = Answer("stable", "reason", "text", "undecided", None, None, None, 0, "supported",
               "Every seed is alike.", False)  # fmt: skip
OPEN = Answer("agrees", "unstable", "text", "supported", 1.0, 0.9, 1.1, 300, "not known", "?", True)
STANDING = ControlModel("reason", "text", "It is.", 1.0, 0.97,
                    ({"score": "attention", "value": 1.0, "low": 0.99, "high": 1.0, "n": 300,
                      "skipped": 0},))  # fmt: skip


def called(monkeypatch: pytest.MonkeyPatch, answers: list[Answer], *options: str):
    monkeypatch.setattr(controls, "run_controls", lambda folder, execution: (answers, [STANDING]))
    return CliRunner().invoke(app, ["controls", *options])


def test_all_right_leaves_with_nothing_to_say_but_the_tables(monkeypatch, tmp_path):
    file = tmp_path / "controls.json"
    done = called(monkeypatch, [RIGHT, OPEN], "--json", str(file))
    assert done.exit_code == 0
    assert "| needed | reason   | text | supported | 0.20 [0.10, 0.30] | supported |" in done.stdout
    assert "1 of 1 known answers came out; 1 more have no known answer." in done.stdout
    assert "1.00 [0.99, 1.00] 300" in done.stdout
    written = json.loads(file.read_text())
    assert [one["claim"] for one in written["answers"]] == ["needed", "agrees"]
    assert written["models"][0]["aucs"][0]["score"] == "attention"


def test_a_wrong_answer_is_named_and_costs_the_exit_code(monkeypatch):
    done = called(monkeypatch, [RIGHT, WRONG])
    assert done.exit_code == 1
    assert "1 of 2 known answers" in done.stdout
    assert "'stable' came out undecided on reason, text, and must be supported" in done.stderr
    assert "Every seed is alike." in done.stderr


def test_what_cannot_be_done_is_told_before_the_work(monkeypatch, tmp_path):
    file = tmp_path / "file"
    file.touch()
    asked = ["--out", str(file), "--json", str(tmp_path), "--jobs", "0", "--engine", "steam"]
    done = called(monkeypatch, [RIGHT], *asked)
    assert isinstance(done.exception, UserError)
    for said in ("--out", "--json", "--jobs 0", "'steam'"):
        assert said in str(done.exception)


def test_quiet_prints_no_tables(monkeypatch):
    done = called(monkeypatch, [RIGHT], "--quiet")
    assert (done.exit_code, done.stdout) == (0, "")
