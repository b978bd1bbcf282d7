"""Do all imports point one way, and does each heavy library stay behind its door?"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "assay"

# What stands further down may import what stands further up, never the reverse. Names on one
# line are neighbours: they do not import each other. A folder is one name.
FLOW = (
    ("version", "errors"),
    ("text", "files", "measures", "reference"),
    ("archives", "store", "sentence_table", "engines", "evidence", "vectors"),
    ("corpora",),
    ("batches", "word_odds"),
    ("models",),
    ("recipes", "exact"),
    ("pacing",),
    ("training", "scores", "lessons"),
    ("probes", "leaning"),
    ("auditing", "summary", "verdict", "word_vectors"),
    ("results", "settings", "work", "corpus_vectors"),
    ("trainings",),
    ("description",),
    ("runs",),
    ("report",),
    ("reproduction",),
    ("api", "controls", "asked", "listing", "spoken", "progress", "bench", "reproduce"),
    ("__init__", "cli"),
    ("__main__",),
)
RANK = {name: rank for rank, names in enumerate(FLOW) for name in names}

# Library -> the one module, or the one folder, that may import it.
DOORS = {
    "altair": "report/figures/",
    "vl_convert": "report/figures/",
    "jinja2": "report/page.py",
    "safetensors": "models/saved.py",
    "typer": "cli/",
    "captum": "scores/captum.py",
    "transformers": "models/transformer.py",
    "ray": "engines/cluster.py",
    "gensim": "word_vectors.py",
}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    """Every module that a file names, also inside functions: `a.b` for `from a import b`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import hides its arrow"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def station(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def own(path: Path) -> set[str]:
    """The stations of assay that a file imports."""
    names = [name.split(".") for name in imported(path) if name.split(".")[0] == "assay"]
    return {parts[1] if parts[1:] and parts[1] in RANK else "__init__" for parts in names}


def test_every_module_has_its_place_in_the_flow():
    homeless = {station(path) for path in modules()} - RANK.keys()
    assert not homeless, f"{', '.join(sorted(homeless))}: give it a place in FLOW above"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_arrow_points_back(path):
    here = station(path)
    back = {there for there in own(path) - {here} if RANK[there] >= RANK[here]}
    assert not back, f"{here} imports {', '.join(sorted(back))}, which stand no further left"


@pytest.mark.parametrize("library", sorted(DOORS))
def test_a_heavy_library_has_one_door(library):
    users = [
        str(path.relative_to(PACKAGE))
        for path in modules()
        if library in {name.split(".")[0] for name in imported(path)}
    ]
    assert [user for user in users if not user.startswith(DOORS[library])] == []


def test_the_report_draws_from_files_alone():
    """It may read what probes and claims declare and take intervals; it may run no model."""
    allowed = {"errors", "measures", "reference", "store", "probes", "verdict", "report", "version"}
    for path in (PACKAGE / "report").rglob("*.py"):
        assert own(path) <= allowed, path.name
        assert "torch" not in {name.split(".")[0] for name in imported(path)}, path.name


def test_the_reader_sees_what_it_must(tmp_path):
    """An arrow that points back is found wherever it hides."""
    file = tmp_path / "sneaky.py"
    file.write_text("import os\ndef f():\n    from assay.models.view import View\n")
    assert set(imported(file)) == {"os", "assay.models.view.View"}
    assert own(file) == {"models"}
