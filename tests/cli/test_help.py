"""Tests of the version, the help texts, their speed, and shell completion."""

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from assay import cli
from assay.config import VERSION
from assay.models.build import MODELS

HEAVY = ("torch", "polars", "altair", "sklearn", "scipy", "ray")


def test_version_is_that_of_the_package(assay):
    output = assay("--version")
    assert (output.code, output.out, output.err) == (0, f"assay {VERSION}\n", "")


@pytest.mark.parametrize(
    "command",
    ["run", "audit", "check", "report", "compare", "corpora", "probes", "vectors", "bench"],
)
def test_help_shows_one_example_per_line(assay, command):
    output = assay(command, "--help")
    assert output.code == 0
    examples = [line for line in output.out.splitlines() if line.startswith(f" assay {command}")]
    assert examples, output.out
    assert re.search(r"Examples?:", output.out)
    assert all(len(line) <= 80 for line in output.out.splitlines())


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["corpora", "--help"]])
def test_help_imports_no_heavy_library(arguments):
    """Torch alone takes seconds to import; the help must answer in a third of a second."""
    code = (
        "import sys\n"
        f"sys.argv = ['assay', *{arguments!r}]\n"
        "from assay.cli import main\n"
        "try:\n"
        "    main()\n"
        "finally:\n"
        f"    print(sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "Usage: assay" in process.stdout
    assert process.stderr.strip() == "[]"


def test_help_repeats_the_encoders():
    assert f"{', '.join(MODELS)}." == cli.run.ENCODERS


def in_bash(command: str, home: Path, **environment: str) -> str:
    """The output of a bash command; bash itself must be found as the user's shell."""
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    process = subprocess.run(
        ["bash", "--norc", "-c", f"{command}; exit $?"],  # keeps bash as the parent process
        env={**os.environ, "HOME": str(home), "PATH": path, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return process.stdout


def test_completion_is_shown_and_installed(tmp_path):
    script = in_bash("assay --show-completion", tmp_path)
    assert "complete -o default -F _assay_completion assay" in script
    assert not list(tmp_path.iterdir())
    in_bash("assay --install-completion", tmp_path)
    installed = tmp_path / ".bash_completions" / "assay.sh"
    assert installed.read_text().strip() == script.strip()
    assert str(installed) in (tmp_path / ".bashrc").read_text()


def test_completion_proposes_commands_and_options(tmp_path):
    request = {"_ASSAY_COMPLETE": "complete_bash"}
    commands = in_bash("assay", tmp_path, COMP_WORDS="assay re", COMP_CWORD="1", **request)
    assert commands.split() == ["report", "reproduce"]
    options = in_bash("assay", tmp_path, COMP_WORDS="assay run --se", COMP_CWORD="2", **request)
    assert options.split() == ["--seed", "--seeds"]
