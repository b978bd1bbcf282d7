"""Tests of the page's text, and of the pages in docs/reproduction."""

from pathlib import Path

import pytest

from assay.papers.declared import known, read_paper
from assay.reproduction.comparison import RULE
from assay.reproduction.figures import caption
from assay.reproduction.models import ModelSelection
from assay.reproduction.page import Places, format_command

PAGES = Path(__file__).resolve().parents[2] / "docs" / "reproduction"
TABLE_NAMES = [name for name in known() if (PAGES / f"{name.split('/')[0]}.md").is_file()]


def test_the_command_names_no_absolute_folder(tmp_path):
    places = Places(tmp_path, data=tmp_path / "data", page=tmp_path / "page.md")
    selection = ModelSelection(("sst",), ("cnn", "average"), 2, tmp_path / "own.txt")
    assert format_command("p/t", selection, places) == (
        "assay reproduce p/t --data DATA --out OUT --page PAGE --only sst --encoder cnn,average "
        "--seeds 2 --vectors own.txt"
    )


def test_the_command_names_relative_folders():
    places = Places(Path("runs/p"), page=Path("docs/p.md"))
    command = format_command("p/t", ModelSelection(), places)
    assert command == "assay reproduce p/t --out runs/p --page docs/p.md"
    command = format_command("p/t", ModelSelection(), Places(Path("runs/p")))
    assert command == "assay reproduce p/t --out runs/p"


def test_absolute_folders_are_replaced_by_words(tmp_path):
    places = Places(tmp_path / "runs", tmp_path / "data", tmp_path / "own.txt")
    text = f"no {tmp_path}/data/a in {tmp_path}/runs, nor {tmp_path}/own.txt"
    assert places.hide(text) == "no DATA/a in OUT, nor own.txt"
    assert Places(tmp_path, Path("data")).hide("data are data") == "data are data"


def test_every_paper_has_a_committed_page():
    assert list(known()) == TABLE_NAMES


@pytest.mark.parametrize("name", TABLE_NAMES)
def test_committed_pages_have_the_sentences_of_the_program(name):
    paper, (table,) = read_paper(name)
    page = (PAGES / f"{paper.name}.md").read_text(encoding="utf-8")
    command = f"assay reproduce {paper.name} "
    assert f"--page docs/reproduction/{paper.name}.md" in page.split(command)[1].splitlines()[0]
    headings = [f"## {table.title}", *(f"### {part.title}" for part in table.parts)]
    data = page.partition("## Data")[2]  # of the corpora that were run
    notes = [grid.note.rstrip(".") for grid in paper.corpora if f"| {grid.label} |" in data]
    assert any(f"| {grid.label} |" in data for grid in paper.corpora)
    reasons = [grid.unless_named for grid in paper.corpora]
    shown = caption(table) if f"{paper.name}-{table.name}.svg" in page else ""
    rule = RULE if "--results docs/reproduction/runs" in page else ""  # not on earlier pages
    sentences = [paper.opening.strip(), rule, table.words.strip(), shown]
    for text in (*sentences, *headings, *notes, *reasons):
        assert text in page
