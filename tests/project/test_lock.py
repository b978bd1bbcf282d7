"""Tests of the hashed lock file: it agrees with the pins, and `make` installs it first."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("write_lock", ROOT / "scripts" / "write_lock.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_lock_has_every_pin_but_torch(script: ModuleType) -> None:
    assert script.disagreements() == []
    assert set(script.pins()) - set(script.locked(script.LOCK.read_text())) == {"torch"}


def test_every_version_has_distinct_hashes_and_no_index_is_named(script: ModuleType) -> None:
    text = script.LOCK.read_text(encoding="utf-8")
    for name, (_, hashes) in script.locked(text).items():
        assert hashes, name
        assert len(set(hashes)) == len(hashes), name
    assert "://" not in text
    assert "index-url" not in text


def test_a_changed_pin_is_noticed(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = tmp_path / "constraints.txt"
    pins = {**script.pins(), "numpy": "0.0.1", "another": "1.0"}
    changed.write_text("\n".join(f"{name}=={version}" for name, version in pins.items()))
    monkeypatch.setattr(script, "PINS", changed)
    assert [line.partition(":")[0] for line in script.disagreements()] == ["another", "numpy"]


def test_a_file_of_the_index_belongs_to_its_version(script: ModuleType) -> None:
    page = script._Links(
        f'<a href="../x/a_b-1.0-py3-none-any.whl#sha256={"0" * 64}">a</a>'
        f'<a href="../x/a_b-1.0.tar.gz#sha256={"1" * 64}">a</a><a href="a_b-1.0.exe">a</a>'
    )
    assert page.hashes == {"a_b-1.0-py3-none-any.whl": "0" * 64, "a_b-1.0.tar.gz": "1" * 64}
    assert [str(script.file_version(name)) for name in page.hashes] == ["1.0", "1.0"]
    assert script.file_version("a_b-1.0.exe") is None


def test_make_installs_the_lock_before_anything_else() -> None:
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    installs = [line for line in lines if "pip install" in line]
    assert "--no-deps --require-hashes" in installs[0]
    assert "requirements.lock" in installs[0]
