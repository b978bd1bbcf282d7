"""Runs side by side on a page and on a terminal."""

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from assay import cli
from assay.errors import UserError
from assay.report.comparison import (
    Side,
)
from assay.report.comparison_page import comparison_lines, render_comparison
from assay.report.comparison_page import write_comparison as write
from tests.builders.compared_runs import change
from tests.builders.synthetic_run import write_run

HOSTILE = '"><img src=x onerror=window.hacked=1>'


def text_of(page: str) -> str:
    """Roughly what a reader sees."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.split("</style>")[1])).split())


@pytest.fixture
def assay(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable:
    """Call the entry point as a shell would: code, standard output, standard error."""
    monkeypatch.setenv("COLUMNS", "80")

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["assay", "compare", *map(str, arguments)])
        with pytest.raises(SystemExit) as leaving:
            cli.main()
        captured = capsys.readouterr()
        return int(leaving.value.code or 0), captured.out, captured.err

    return call


def test_the_terminal_shows_claim_by_run(
    assay: Callable, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    code, out, err = assay(*folders, "--out", tmp_path / "both.html")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "A  one/run: bilstm, additive, reviews, seed 1"
    place = next(number for number, line in enumerate(lines) if line.startswith("agrees"))
    assert lines[place].split() == ["agrees", "contradicted", "supported"]
    assert lines[place + 1].split("  ")[-1].strip() == "0.210 [0.180, 0.240]"
    assert lines[-1] == f"Comparison: {tmp_path / 'both.html'}"
    assert all(len(line) <= 80 for line in lines[:-1])
    assert (tmp_path / "both.html").stat().st_size > 0


def test_runs_that_do_not_fit_come_below(sides: tuple[Side, ...]) -> None:
    three = [*sides, replace(sides[0], letter="C", name="three")]
    lines = list(comparison_lines(three, width=80))
    assert [line.split() for line in lines if line.split() in (["A", "B"], ["C"])] == [
        ["A", "B"],
        ["C"],
    ]
    wide = list(comparison_lines(three, width=120))
    assert ["A", "B", "C"] in [line.split() for line in wide]


def test_help_shows_examples(assay: Callable) -> None:
    code, out, _ = assay("--help")
    assert code == 0
    assert " assay compare runs/bilstm runs/average" in out
    assert all(len(line) <= 80 for line in out.splitlines())


def test_what_is_no_run_is_refused_with_all_faults(
    assay: Callable, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    unfinished = write_run(tmp_path / "unfinished", documents=6)
    change(unfinished, "run.json", lambda run: run.update(status="running"))
    out = tmp_path / "x.html"
    code, printed, err = assay(tmp_path / "nowhere", empty, unfinished, folders[0], "--out", out)
    assert (code, printed) == (2, "")
    assert "nowhere is not a folder: pass the folder of a run" in err
    assert f"{empty} holds no run" in err
    assert "is not complete (status 'running')" in err
    assert "--resume" in err
    assert "Traceback" not in err
    assert not out.exists()


def test_only_a_page_is_overwritten(sides: tuple[Side, ...], folders: tuple[Path, Path]) -> None:
    before = (folders[0] / "run.json").read_bytes()
    for out in (folders[0] / "run.json", folders[0]):
        with pytest.raises(UserError, match="is not an HTML file: pass one"):
            write(sides, out)
    assert (folders[0] / "run.json").read_bytes() == before


def test_the_page_is_deterministic_and_requests_nothing(sides: tuple[Side, ...]) -> None:
    page = render_comparison(sides)
    assert page == render_comparison(sides)
    assert "<script" not in page
    assert "http" not in re.sub(r'http-equiv|"data:[^"]*"', "", page)
    assert page.lower().startswith("<!doctype html>")


def test_hostile_names_stay_text(sides: tuple[Side, ...]) -> None:
    evil = replace(sides[1], name=HOSTILE + "\u202e")
    page = render_comparison([sides[0], evil])
    assert "<img src=x" not in page
    assert f"{HOSTILE}[U+202E]" in text_of(page)
