"""Tests of the user's cache folder."""

import sys
from pathlib import Path

import pytest

from assay.data.cache import CACHE_VARIABLE, cache_folder, cached_text


def test_the_cache_is_where_the_system_keeps_caches(monkeypatch):
    for name in (CACHE_VARIABLE, "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert cache_folder() == Path.home() / ".cache" / "assay"
    monkeypatch.setenv("XDG_CACHE_HOME", "elsewhere/cache")
    assert cache_folder() == Path("elsewhere", "cache", "assay")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_folder() == Path.home() / "Library" / "Caches" / "assay"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", "local")
    assert cache_folder() == Path("local", "assay", "Cache")
    monkeypatch.setenv(CACHE_VARIABLE, "given")
    assert cache_folder() == Path("given")


def test_a_text_is_made_once(monkeypatch, tmp_path):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    assert cached_text("script.js", lambda: "näh\n") == "näh\n"
    assert cached_text("script.js", lambda: pytest.fail("it was made again")) == "näh\n"
    (tmp_path / "cache" / "script.js").unlink()
    assert cached_text("script.js", lambda: "new") == "new"


def test_without_a_cache_folder_a_text_is_made_each_time(monkeypatch, tmp_path):
    file = tmp_path / "no-folder"
    file.write_text("")
    monkeypatch.setenv(CACHE_VARIABLE, str(file))
    for text in ("one", "another"):
        assert cached_text("script.js", lambda text=text: text) == text
