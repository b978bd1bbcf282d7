"""Tests of the page's text: no folder of this machine appears in it."""

from pathlib import Path

from assay.reproduction.models import ModelSelection
from assay.reproduction.page import Places, format_command


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
