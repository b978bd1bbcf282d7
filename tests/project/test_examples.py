"""Do the examples run as they stand?"""

import re
import runpy
import sys
from pathlib import Path

import pytest

from assay.verdict import CLAIMS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def example(monkeypatch, capsys):
    """Run a script with one argument, as from a shell; returns what it printed."""

    def run(name, argument):
        monkeypatch.setattr(sys, "argv", [name, str(argument)])
        runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")
        return capsys.readouterr().out

    return run


def test_every_example_is_run_here():
    tested = set(re.findall(r"example\(\"(\w+\.py)\"", Path(__file__).read_text()))
    assert {path.name for path in (ROOT / "examples").glob("*.py")} == tested


def test_quickstart(example, tmp_path):
    page = tmp_path / "report.html"
    printed = example("quickstart.py", page)
    assert all(claim.says in printed for claim in CLAIMS)
    assert printed.endswith(f"Report: {page}\n")
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_own_csv(example, tmp_path):
    printed = example("own_csv.py", tmp_path)
    for name in ("all", "fixed", "open"):
        assert re.search(rf"│ {name} +┆ -?0\.\d+", printed), printed
    assert (tmp_path / "report.html").stat().st_size > 0


def test_the_readme_s_python_is_that_of_the_quickstart():
    """The four verbs, in the same order and with the same names."""
    verbs = r"assay\.load_corpus|assay\.train|assay\.audit|audit\.report"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    script = (ROOT / "examples" / "quickstart.py").read_text(encoding="utf-8")
    assert re.findall(verbs, readme) == re.findall(verbs, script)
    assert len(re.findall(verbs, script)) == 4
