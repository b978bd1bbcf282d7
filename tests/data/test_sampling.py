"""Tests of a limit that is applied while a corpus is read."""

from collections import Counter
from pathlib import Path

import pytest

from assay.data import sampling
from assay.data.catalog import load_corpus
from assay.data.corpus import Corpus, Raw
from assay.data.sampling import LEAST_PER_LABEL, read_sample


def documents(count: int, rare: int = 0) -> list[Raw]:
    """Sorted by label: a worst case for a sample that depends on the order."""
    labels = ["a"] * (count // 2) + ["b"] * (count - count // 2 - rare) + ["rare"] * rare
    return [Raw(f"row-{i}", ("w", str(i)), label) for i, label in enumerate(labels)]


def test_documents_that_fit_are_all_held() -> None:
    raws = documents(500)
    assert read_sample(iter(raws), 10, seed=0) == (raws, 0)


def test_of_more_documents_an_even_sample_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "HELD", 1000)
    raws = documents(20_000, rare=40)
    pool, passed_over = read_sample(iter(raws), 10, seed=0)
    assert 300 < len(pool) <= 1000 + 3 * LEAST_PER_LABEL
    assert len(pool) + passed_over == len(raws)
    counts = Counter(raw.label for raw in pool)
    assert counts["rare"] >= LEAST_PER_LABEL
    assert abs(counts["a"] - counts["b"]) < 0.2 * len(pool)
    # Every part of the file has the same chance, in any order of the documents.
    early = sum(int(raw.id[4:]) < 5000 for raw in pool if raw.label == "a")
    assert abs(early - counts["a"] / 2) < 0.2 * counts["a"]
    assert [raw.id for raw in pool] == sorted((raw.id for raw in pool), key=lambda i: int(i[4:]))


def test_the_seed_decides_and_the_order_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "HELD", 1000)
    raws = documents(20_000)
    ids = {raw.id for raw in read_sample(raws, 10, seed=0)[0]}
    assert ids == {raw.id for raw in read_sample(raws[::-1], 10, seed=0)[0]}
    assert ids != {raw.id for raw in read_sample(raws, 10, seed=1)[0]}


def table(path: Path, rows: int) -> Path:
    lines = [f"{'ab'[i % 2]},word{i} word{i * 7 % 1000} {'ab'[i % 2]}x" for i in range(rows)]
    path.write_text("\n".join(["label,text", *lines]) + "\n", encoding="utf-8")
    return path


def ids(corpus: Corpus) -> set[str]:
    return {d.id for part in (corpus.train, corpus.dev, corpus.test) for d in part}


def test_a_large_table_gives_the_limit_and_says_how_many_were_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = table(tmp_path / "a.csv", 3000)
    whole = load_corpus("table", data=path, limit=60)
    monkeypatch.setattr(sampling, "HELD", 400)
    sampled = load_corpus("table", data=path, limit=60)
    for corpus in (whole, sampled):
        assert len(ids(corpus)) == 60
        assert corpus.dropped["over the limit of 60"] == 2940
        assert len(corpus.test) == 12
        assert min(Counter(d.label for d in corpus.test).values()) >= 4
    assert any("3,000 documents were read" in note for note in sampled.notes)
    assert not any("documents were read" in note for note in whole.notes)
