"""Tests of `assay corpora` and `assay probes`."""

import json

import pytest

from assay.cli.lists import _USER_TABLE
from assay.data.sources import SOURCES
from assay.data.sources.table import SOURCE as USER_TABLE
from assay.probes import PROBES


@pytest.mark.parametrize("width", [80, 120])
def test_corpora_fit_the_width_and_nothing_is_cut(assay, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    output = assay("corpora")
    lines = output.out.splitlines()
    assert all(len(line) <= width for line in lines)
    assert "…" not in output.out
    words = " ".join(output.out.split())
    for source in SOURCES.values():
        assert source.name in {line.split()[0] for line in lines if line[:1].strip()}
        assert source.title in words
        assert source.size in words
    assert SOURCES["sst"].get in words
    assert words.index("motif generated") < words.index("sst missing")


def test_the_users_table_is_listed_under_its_name():
    assert USER_TABLE.name == _USER_TABLE


def test_one_corpus_is_shown_in_full(assay):
    output = assay("corpora", "motif")
    assert output.code == 0
    words = " ".join(output.out.split())
    assert SOURCES["motif"].licence in words
    assert "documents=4000" in words
    assert "sst" not in words


def test_corpora_are_found_in_the_data_folder(assay, tmp_path):
    for name in ("train.txt", "dev.txt", "test.txt"):
        (tmp_path / name).write_text("(3 (2 a) (4 b))\n")
    rows = json.loads(assay("corpora", "--data", tmp_path, "--json").out)
    assert {row["name"]: row["status"] for row in rows}["sst"] == "present"
    assert [row["name"] for row in rows] == list(SOURCES)


def test_probes_are_listed_with_their_declarations(assay):
    words = " ".join(assay("probes").out.split())
    rows = {row["name"]: row for row in json.loads(assay("probes", "--json").out)}
    for probe in PROBES.values():
        assert probe.question in words
        assert probe.null in words
        assert rows[probe.name]["paper"] == probe.paper
        assert all(q.name in words for q in probe.quantities if not q.detail)
