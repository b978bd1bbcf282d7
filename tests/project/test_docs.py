"""Tests of the documentation: links, commands, generated parts, and explained names."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import typer

import assay
from assay.cli.app import app
from assay.data.table import COLUMN_NAMES
from assay.probes import PROBES
from assay.scores import SCORES
from assay.verdict import CLAIMS
from scripts import write_docs
from tests.builders.small_models import UNTRAINED

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
PROGRAM = typer.main.get_command(app)
COMMANDS = PROGRAM.commands
CITED = 3  # the papers of the debate

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
every_generated = pytest.mark.parametrize(
    "path", write_docs.generated_parts(), ids=lambda path: str(path.relative_to(ROOT))
)


def without_line_breaks(path: Path) -> str:
    return " ".join(path.read_text(encoding="utf-8").split())


def shown_commands(text: str) -> list[list[str]]:
    """The `assay ...` lines of code blocks and of inline code, each as its words."""
    text = re.sub(r"\\\n *", "", text)  # a line that is continued on the next one
    blocks = "".join(re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S))
    lines = re.findall(r"^(?:\w+=\S+ )?assay (.+)$", blocks, re.M)
    lines += re.findall(r"^ {4}assay (.+)$", text, re.M)
    return [
        shlex.split(line, comments=True) for line in lines + re.findall(r"`assay ([^`]+)`", text)
    ]


@every_page
def test_every_link_has_a_target(page):
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        if not target.startswith("https://"):
            assert (page.parent / target.split("#")[0]).exists(), target


@every_page
def test_every_link_to_a_heading_has_a_target(page):
    for target in re.findall(r"\]\(([^)]+#[^)]+)\)", page.read_text(encoding="utf-8")):
        file, anchor = target.split("#")
        if not file.startswith("https://"):
            linked = (page.parent / file if file else page).read_text(encoding="utf-8")
            headings = re.findall(r"^#+ (.+)$", linked, re.M)
            assert anchor in [_anchor(heading) for heading in headings], target


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@every_page
def test_every_command_exists_with_its_options(page):
    for name, *rest in shown_commands(page.read_text(encoding="utf-8")):
        command = PROGRAM if name.startswith("--") else COMMANDS.get(name)
        assert command is not None, name
        known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
        options = {word.split("=")[0] for word in (name, *rest) if word.startswith("--")}
        assert options <= known, name


def test_every_command_is_in_the_readme():
    shown = {words[0] for words in shown_commands((ROOT / "README.md").read_text())}
    assert set(COMMANDS) <= shown


@every_generated
def test_generated_parts_are_current(path):
    assert write_docs.fault_of(path, write_docs.generated_parts()[path]) is None


def test_check_names_the_stale_page(monkeypatch, tmp_path, capsys):
    stale = tmp_path / "page.md"
    stale.write_text(f"By hand.\n\n{write_docs.BEGIN}\nold\n{write_docs.END}\n\nBy hand.\n")
    monkeypatch.setattr(write_docs, "ROOT", tmp_path)
    monkeypatch.setattr(write_docs, "generated_parts", lambda: {stale: "new | part"})
    assert write_docs.main(["--check"]) == 1
    assert "page.md is out of date" in capsys.readouterr().err
    assert write_docs.main([]) == 0
    assert stale.read_text().splitlines()[2:5] == [
        write_docs.BEGIN,
        "new | part",
        write_docs.END,
    ]
    assert stale.read_text().count("By hand.") == 2
    assert write_docs.main(["--check"]) == 0


def test_check_refuses_a_page_without_markers(monkeypatch, tmp_path):
    monkeypatch.setattr(write_docs, "ROOT", tmp_path)
    (tmp_path / "bare.md").write_text("No markers.\n")
    fault = write_docs.fault_of(tmp_path / "bare.md", "part")
    assert fault is not None
    assert "needs the markers" in fault
    missing = write_docs.fault_of(tmp_path / "absent.md", "part")
    assert missing is not None
    assert "absent.md is missing" in missing


@pytest.mark.slow
def test_the_script_runs_from_any_folder(tmp_path):
    script = ROOT / "scripts" / "write_docs.py"
    done = subprocess.run([sys.executable, script, "--check"], cwd=tmp_path, check=False)
    assert done.returncode == 0


def test_no_probe_page_is_left_over():
    assert {page.stem for page in (ROOT / "docs" / "probes").glob("*.md")} == set(PROBES)


def test_every_score_is_defined():
    definitions = (ROOT / "docs" / "scores.md").read_text().split("## Definitions")[1]
    assert set(re.findall(r"^\| `(\w+)` \|", definitions, re.M)) == set(SCORES)


def test_every_recognized_column_name_is_listed():
    text = without_line_breaks(ROOT / "docs" / "your-own-data.md")
    for role, names in COLUMN_NAMES.items():
        assert f"`--{role}-column`" in text
        assert ", ".join(names) in text


def test_the_readme_links_to_every_probe():
    text = without_line_breaks(ROOT / "README.md")
    assert all(f"[{name}](docs/probes/{name}.md)" in text for name in PROBES)


def test_every_finding_and_notion_is_explained():
    text = (ROOT / "docs" / "words.md").read_text()
    for finding in ("supported", "contradicted", "undecided", "not measured", "not applicable"):
        assert f"| {finding} |" in text
    assert all(claim.notion in text for claim in CLAIMS)


@pytest.fixture(scope="module")
def audit():
    options = {"documents": "60", "length": "30"}
    corpus = assay.load_corpus("motif", options=options)
    return assay.audit(assay.train(corpus, encoder="average"), corpus, probes=UNTRAINED)


def test_the_run_directory_page_names_every_file_and_column(audit, tmp_path):
    text = (ROOT / "docs" / "run-directory.md").read_text()
    audit.write(tmp_path)
    for file in tmp_path.iterdir():
        assert f"`{file.name}`" in text
    columns = {*audit.instances.columns, *audit.evidence().columns} - SCORES.keys()
    assert all(f"`{column}`" in text for column in columns)
    assert pl.read_parquet(tmp_path / "evidence.parquet").equals(audit.evidence())


def test_citation_and_changelog_have_the_current_version():
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {assay.__version__}\n" in citation
    assert f"## {assay.__version__}\n" in (ROOT / "CHANGELOG.md").read_text()
    dois = re.findall(r"doi: (10\S+)", citation)
    assert len(dois) == CITED
    assert all(f"https://doi.org/{doi}" in (ROOT / "README.md").read_text() for doi in dois)
