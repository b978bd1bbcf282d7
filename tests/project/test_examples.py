"""Tests of the example scripts: each runs as it is and prints what it promises."""

import re
import runpy
import sys
from pathlib import Path

import pytest

from assay.data.sources import SOURCES
from assay.probes import PROBES
from assay.scores import SCORES
from assay.verdict import CLAIMS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def registries():
    """Restore the registries afterwards: an example registers for the whole process."""
    known = (PROBES, SCORES, SOURCES)
    before = [dict(registry) for registry in known]
    yield
    for registry, entries in zip(known, before, strict=True):
        registry.clear()
        registry.update(entries)


@pytest.fixture
def example(monkeypatch, capsys, registries):
    """Run a script as from a shell; returns what it printed."""

    def run(name, *arguments):
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")
        return capsys.readouterr().out

    return run


def test_every_example_is_tested():
    tested = set(re.findall(r"example\(\"(\w+\.py)\"", Path(__file__).read_text()))
    assert {path.name for path in (ROOT / "examples").glob("*.py")} == tested


@pytest.mark.slow
def test_quickstart(example, tmp_path):
    page = tmp_path / "report.html"
    printed = example("quickstart.py", page)
    assert all(claim.says in printed for claim in CLAIMS)
    assert printed.endswith(f"Report: {page}\n")
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.slow
def test_own_model(example):
    printed = example("own_model.py")
    assert all(claim.says in printed for claim in CLAIMS)
    assert re.search(r"supported +The prediction depends", printed), printed


@pytest.mark.slow
def test_own_csv(example, tmp_path):
    printed = example("own_csv.py", tmp_path)
    for name in ("all", "fixed", "open"):
        assert re.search(rf"│ {name} +┆ -?0\.\d+", printed), printed
    assert (tmp_path / "report.html").stat().st_size > 0


@pytest.mark.slow
def test_own_probe(example):
    printed = example("own_probe.py")
    assert re.search(r"changes the decision in \d+% of 12 documents", printed), printed


@pytest.mark.slow
def test_own_score(example):
    printed = example("own_score.py")
    assert re.search(r"attention and contribution: -?\d\.\d\d \[-?\d\.\d\d, ", printed), printed


@pytest.mark.slow
def test_own_corpus(example):
    """One word decides, so attention must find it far more often than chance."""
    found = re.search(r"AUC of (\d\.\d\d)", example("own_corpus.py"))
    assert found is not None
    assert float(found[1]) > 0.8


@pytest.mark.slow
def test_motif_model(example):
    """Items are 3-mers: the network finds the site, and attention marks its middle alone."""
    printed = example("motif_model.py")
    assert "accuracy: 1.00" in printed
    assert re.search(r"supported +The prediction depends", printed), printed
    marked = dict(re.findall(r"(\w+), planted site, auc: (\d\.\d\d)", printed))
    assert float(marked["gradient"]) > 0.95
    assert float(marked["attention"]) < float(marked["gradient"])


@pytest.mark.slow
def test_tapped_module(example):
    printed = example("tapped_module.py")
    assert "1: MultiheadAttention in encoder.layers.1.self_attn" in printed
    assert "Network: 15 of 15 checks passed on 16 documents" in printed
    assert all(claim.says in printed for claim in CLAIMS)


def test_the_readme_calls_the_same_functions_as_the_quickstart():
    verbs = r"assay\.load_corpus|assay\.train|assay\.audit|audit\.report"
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    readme = text.split("```python", 1)[1].split("```", 1)[0]
    script = (ROOT / "examples" / "quickstart.py").read_text(encoding="utf-8")
    assert re.findall(verbs, readme) == re.findall(verbs, script)
    assert len(re.findall(verbs, script)) == 4
