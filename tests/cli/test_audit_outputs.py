"""Tests of `assay audit --require`, `--junit` and `--card`: exit codes and files."""

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from tests.builders import own_trainers as own
from tests.cli.conftest import Output
from tests.cli.test_mistakes import assert_refused

MODEL = "tests.builders.own_trainers:load"
QUICK = ("--sample", "0", "--threads", "1", "--probes", "permutation")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return own.write_table(tmp_path_factory.mktemp("table") / "all.csv", own.rows(120))


def test_requirements_decide_the_exit_code(
    assay: Callable[..., Output], table: Path, tmp_path: Path
):
    out, junit = tmp_path / "run", tmp_path / "attention.xml"
    command = ("audit", MODEL, "--data", table, *QUICK, "--out", out, "--junit", junit)
    met = assay(*command, "--require", "depends=not contradicted", "--card")
    assert met.code == 0, met.err
    assert "All 1 requirements are met." in met.out
    assert f"JUnit: {junit}" in met.out
    assert ET.parse(junit).getroot().get("failures") == "0"
    assert f"Model card: {out / 'card.md'}" in met.out
    index = yaml.safe_load((out / "model-index.yml").read_text())["model-index"][0]
    assert [metric["name"] for metric in index["results"][0]["metrics"]] == ["depends"]
    required = ("--require", "depends=contradicted", "--require", "stable=not contradicted")
    missed = assay(*command, "--resume", *required)
    assert missed.code == 1
    assert "required and not met: depends: " in missed.err
    assert "required and not met: stable: not measured" in missed.err
    assert "Traceback" not in missed.err
    assert ET.parse(junit).getroot().get("failures") == "2"


def test_a_mistyped_claim_is_refused_before_the_audit(assay, table: Path, tmp_path: Path):
    out = tmp_path / "run"
    command = ("audit", MODEL, "--data", table, *QUICK, "--out", out)
    output = assay(*command, "--require", "depend=supported")
    assert_refused(output, "there is no claim 'depend': did you mean 'depends'?")
    assert not out.exists()
