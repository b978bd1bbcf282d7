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
QUICK = ("--sample", "0", "--threads", "1", "--probes", "permutation,rationale")


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
    assert "The requirement is met." in met.out
    assert f"JUnit: {junit}" in met.out
    assert ET.parse(junit).getroot().get("failures") == "0"
    assert f"Model card: {out / 'card.md'}" in met.out
    index = yaml.safe_load((out / "model-index.yml").read_text())["model-index"][0]
    assert [metric["name"] for metric in index["results"][0]["metrics"]] == ["depends"]
    required = ("--require", "depends=contradicted", "--require", "plausible=not contradicted")
    missed = assay(*command, "--resume", *required)
    assert missed.code == 1
    assert "required and not met: depends: " in missed.err
    assert "required and not met: plausible: not applicable" in missed.err
    assert "Traceback" not in missed.err
    assert ET.parse(junit).getroot().get("failures") == "2"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--require", "depend=supported"], ["no claim 'depend': did you mean 'depends'?"]),
        (
            ["--require", "depends=supported", "--require", "depends=not contradicted"],
            ["two findings are required of 'depends'", "once for each claim"],
        ),
        (
            ["--require", "stable=supported", "--require", "top weight matters=supported"],
            ["needs the probe seeds", "add --trainer", "needs the probe erase_one: add it to --pr"],
        ),
        (["--probes", "seeds"], ["the probe seeds trains the model again", "--trainer"]),
        (["--probes", "roar"], ["the probe roar trains", "`assay run`", "leave it out"]),
        (["--junit", "."], ["--junit . is a folder: name a file"]),
    ],
)
def test_mistakes_are_refused_before_the_audit(
    assay: Callable[..., Output], table: Path, tmp_path: Path, given, words
):
    out = tmp_path / "run"
    output = assay("audit", MODEL, "--data", table, *QUICK, "--out", out, *given)
    assert_refused(output, *words)
    assert not out.exists()
