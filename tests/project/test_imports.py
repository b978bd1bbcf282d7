"""Tests of the import direction, and of the one module that may import each heavy library."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "assay"

# A rank may import the ranks above it, never the reverse, and neighbors in a rank do not import
# each other. A folder is one name.
FLOW = (
    ("errors", "progress"),
    ("config", "json_log", "plugins", "statistics", "evidence"),
    ("data", "papers", "engines", "exact"),
    ("models",),
    ("training", "scores"),
    ("probes",),
    ("summary", "verdict"),
    ("runs",),
    ("report",),
    ("audits",),
    ("reproduction", "controls", "bench", "api"),
    ("cli", "testing", "__init__"),
    ("__main__",),
)
RANK = {name: rank for rank, names in enumerate(FLOW) for name in names}

# Library -> the one module, or the one folder, that may import it. The benchmark has plain loops of
# its own, which share nothing with the adapter they are compared with.
DOORS = {
    "altair": "report/charts/",
    "vl_convert": "report/charts/",
    "jinja2": "report/page.py",
    "safetensors": (
        "models/build.py",
        "training/checkpoints.py",
        "controls/export/known_answers.py",  # which is copied to folders without assay
    ),
    "typer": "cli/",
    "captum": "bench/captum_loops.py",
    "peft": "models/adapters/peft_adapters.py",
    "ray": "engines/ray.py",
    "gensim": "data/embeddings.py",
    "pytest": "testing/plugin.py",
    "transformers": (
        "models/adapters/attention_interface.py",
        "models/adapters/pretrained.py",
        "models/adapters/new_classifier.py",
        "bench/own_loops.py",
    ),
}
# What the report reads: run directories, published numbers, and what a claim declares. It runs no
# model, so that a page can be redrawn without torch.
REPORT_READS = {
    "config",
    "data",
    "errors",
    "evidence",
    "papers",
    "report",
    "runs",
    "statistics",
    "verdict",
}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    """Every module that a file imports, also inside functions: `a.b` for `from a import b`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import hides its direction"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def libraries(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imported(path)}


def top_name(path: Path) -> str:
    """The module or folder directly below the package that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def own_imports(path: Path) -> set[str]:
    """The modules and folders of assay that a file imports."""
    names = [name.split(".") for name in imported(path) if name.split(".")[0] == "assay"]
    return {parts[1] if parts[1:] and parts[1] in RANK else "__init__" for parts in names}


def test_every_module_has_a_rank():
    missing = {top_name(path) for path in modules()} - RANK.keys()
    assert not missing, f"{', '.join(sorted(missing))}: add it to FLOW"


def test_every_name_of_the_flow_exists():
    assert RANK.keys() == {top_name(path) for path in modules()}


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_import_points_backwards(path):
    name = top_name(path)
    backwards = {other for other in own_imports(path) - {name} if RANK[other] >= RANK[name]}
    assert not backwards, (
        f"{name} imports {', '.join(sorted(backwards))} of the same or a later rank"
    )


@pytest.mark.parametrize("library", sorted(DOORS))
def test_a_heavy_library_has_one_door(library):
    users = [str(path.relative_to(PACKAGE)) for path in modules() if library in libraries(path)]
    assert users, f"no module imports {library}: remove it from DOORS"
    assert [user for user in users if not user.startswith(DOORS[library])] == []


def test_the_report_is_drawn_from_files():
    for path in (PACKAGE / "report").rglob("*.py"):
        assert own_imports(path) <= REPORT_READS, path.name
        assert "torch" not in libraries(path), path.name


@pytest.mark.slow
def test_drawing_a_report_imports_neither_torch_nor_probes():
    code = "import sys, assay.report.page; print(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert not {"torch", "assay.probes", "assay.models"} & set(done.stdout.split())


@pytest.mark.parametrize("given", [None, "7"])
def test_how_long_threads_spin_is_set_before_torch_is_loaded_unless_the_user_did(given):
    code = "import os, sys, assay; print('torch' in sys.modules, os.environ['GOMP_SPINCOUNT'])"
    environment = {name: value for name, value in os.environ.items() if name != "GOMP_SPINCOUNT"}
    environment |= {} if given is None else {"GOMP_SPINCOUNT": given}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    assert done.stdout.split() == ["False", given or "1000"]


def test_an_import_inside_a_function_is_found(tmp_path):
    file = tmp_path / "module.py"
    file.write_text("import os\ndef f():\n    from assay.models.view import View\n")
    assert set(imported(file)) == {"os", "assay.models.view.View"}
    assert own_imports(file) == {"models"}


def test_the_contributors_picture_shows_every_rank_in_order():
    text = (PACKAGE.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    picture = next(block for block in text.split("```") if "errors  progress" in block)
    shown = [set(re.split(r"\s{3,}", line.strip())[0].split()) for line in picture.splitlines()]
    expected = [{name for name in names if not name.startswith("__")} for names in FLOW]
    assert [names for names in shown if names & RANK.keys()] == [
        names for names in expected if names
    ]
