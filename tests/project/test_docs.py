"""Do the pages still say what the code does?"""

import re
import shlex
from pathlib import Path

import polars as pl
import pytest
import typer

import assay
from assay.cli.app import app
from assay.data.table import COLUMN_NAMES
from assay.probes import PROBES
from assay.scores import SCORES
from tests.small_models import UNTRAINED

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
COMMANDS = typer.main.get_command(app).commands

by_name = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def flat(path: Path) -> str:
    return " ".join(path.read_text(encoding="utf-8").split())


@by_name
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        if not target.startswith("https://"):
            assert (page.parent / target.split("#")[0]).exists(), target


@by_name
def test_commands_exist_with_the_options_they_are_shown_with(page):
    """Fenced lines and inline code that begin with `assay`."""
    text = page.read_text(encoding="utf-8")
    shown = re.findall(r"^(?:\w+=\S+ )?(assay .+)$", text, re.M) + re.findall(
        r"`(assay [^`]+)`", text
    )
    for line in shown:
        if not re.match(r"assay [a-z-]", line) or line.startswith("assay tests"):
            continue  # a sentence that begins with the name
        name, *rest = shlex.split(line)[1:]
        assert name in COMMANDS, line
        known = {option for parameter in COMMANDS[name].params for option in parameter.opts}
        assert {word for word in rest if word.startswith("--")} <= known, line


@pytest.mark.parametrize("probe", PROBES.values(), ids=list(PROBES))
def test_a_probe_s_page_repeats_its_declaration(probe):
    page = ROOT / "docs" / "probes" / f"{probe.name}.md"
    assert page.exists(), f"write {page}: its facts must be those of the declaration"
    text = flat(page)
    for fact in (f"**{probe.question}**", f"Null hypothesis: {probe.null}",
                 f"Paper: {probe.paper}", f"Needs: {probe.needs}",
                 f"Scores: {', '.join(probe.scores)}"):  # fmt: skip
        assert fact in text
    rows = re.findall(
        r"^\| `(\w+)` \| (.+?) \| (.+?) \| (.+?) \| (.+?) \|$", page.read_text(), re.M
    )
    assert rows == [
        (q.name, q.meaning, q.unit or "-", q.direction, ", ".join(q.statistics) or "-")
        for q in probe.quantities
        if not q.detail
    ]


def test_every_probe_has_a_page_and_no_page_is_left_over():
    assert {page.stem for page in (ROOT / "docs" / "probes").glob("*.md")} == set(PROBES)
    index = (ROOT / "docs" / "README.md").read_text()
    assert all(f"(probes/{name}.md)" in index for name in PROBES)


def test_recognised_column_names_are_all_told():
    text = flat(ROOT / "docs" / "your-own-data.md")
    for role, names in COLUMN_NAMES.items():
        assert f"`--{role}-column`" in text
        assert ", ".join(names) in text


def test_the_readme_leads_to_every_probe():
    text = flat(ROOT / "README.md")
    assert all(f"[{name}](docs/probes/{name}.md)" in text for name in PROBES)


def test_findings_are_all_explained():
    text = (ROOT / "docs" / "words.md").read_text()
    for finding in ("supported", "contradicted", "undecided", "not measured", "not applicable"):
        assert f"| {finding} |" in text


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


def test_the_citation_and_the_changes_are_of_this_version():
    assert f"\nversion: {assay.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"## {assay.__version__}\n" in (ROOT / "CHANGELOG.md").read_text()
    dois = re.findall(r"doi: (10\S+)", (ROOT / "CITATION.cff").read_text())
    assert len(dois) == 3
    assert all(f"https://doi.org/{doi}" in (ROOT / "README.md").read_text() for doi in dois)
