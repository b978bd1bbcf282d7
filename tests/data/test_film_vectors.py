"""Vectors from co-occurrence counts, and their cache: oracles, equal bytes, damaged files."""

from pathlib import Path

import numpy as np
import pytest

from assay.data import film_vectors as films
from assay.data.cache import CACHE_VARIABLE
from assay.data.embeddings import load_vectors
from assay.data.film_vectors import CooccurrenceSettings, cooccurrence_vectors
from assay.data.vocabulary import Vocabulary
from assay.errors import UserError

ANIMALS, TOOLS = ("cat", "dog", "cow", "hen"), ("saw", "axe", "nail", "bolt")
SMALL = CooccurrenceSettings(dimension=3, window=2, min_count=1)


def texts(count: int = 300) -> list[tuple[str, ...]]:
    rng = np.random.default_rng(0)
    return [tuple(rng.choice((ANIMALS, TOOLS)[i % 2], 8).tolist()) for i in range(count)]


def test_words_of_similar_contexts_are_closer_and_random_embeddings_have_the_same_scale():
    found = cooccurrence_vectors(texts(), SMALL)
    assert np.mean(found.matrix**2) == pytest.approx(1, abs=1e-5)
    unit = {
        word: row / np.linalg.norm(row) for word, row in zip(found.words, found.matrix, strict=True)
    }
    assert unit["cat"] @ unit["dog"] > unit["cat"] @ unit["axe"] + 0.5
    assert unit["saw"] @ unit["nail"] > unit["saw"] @ unit["hen"] + 0.5


def test_a_full_factorization_gives_the_information_of_every_pair():
    """By hand: counts in nested loops, logarithms cell by cell, products of the vectors."""
    some = [("a", "b", "c", "a"), ("b", "b", "d"), ("c", "d", "e", "a", "b")]
    words = sorted({word for text in some for word in text})
    counts = np.zeros((5, 5))
    for text in some:
        for i, one in enumerate(text):
            for j, other in enumerate(text):
                if 0 < abs(i - j) <= 2:
                    counts[words.index(one), words.index(other)] += (3 - abs(i - j)) / 2
    smoothed = counts.sum(1) ** 0.75
    with np.errstate(divide="ignore"):
        pairs = np.log(counts / counts.sum(1)[:, None] / (smoothed / smoothed.sum()))
    information = np.maximum(pairs, 0)
    found = cooccurrence_vectors(some, CooccurrenceSettings(dimension=5, window=2, min_count=1))
    order = [found.words.index(word) for word in words]
    left, strengths, _ = np.linalg.svd(information)
    expected = left * np.sqrt(strengths)
    # Equal up to the sign of each dimension, and to the scale.
    products = found.matrix[order] @ found.matrix[order].T
    expected /= np.sqrt(np.mean(expected**2))
    np.testing.assert_allclose(products, expected @ expected.T, atol=1e-3)


def test_rare_words_have_no_vector_and_frequent_ones_come_first():
    some = [("a", "b", "a", "c"), ("a", "b", "d", "b", "a")]
    found = cooccurrence_vectors(some, CooccurrenceSettings(dimension=1, min_count=3))
    assert found.words == ("a", "b")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and few reviews to compute the vectors from."""
    reviews = [(number, " ".join(text), "positive") for number, text in enumerate(texts())]
    monkeypatch.setattr(films, "packaged_reviews", lambda kind: iter(reviews))
    monkeypatch.setattr(films, "SETTINGS", SMALL)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_the_file_is_computed_once_and_has_the_same_bytes_every_time(cache: Path, tmp_path: Path):
    file = films.film_vectors(tmp_path / "run")
    assert file.parent == cache
    content, written = file.read_bytes(), file.stat().st_mtime_ns
    assert films.film_vectors(tmp_path / "run") == file
    assert file.stat().st_mtime_ns == written
    file.unlink()
    assert films.film_vectors(tmp_path / "run").read_bytes() == content
    assert list(cache.iterdir()) == [file]
    assert not (tmp_path / "run").exists()


def test_a_damaged_file_is_computed_again(cache: Path, tmp_path: Path):
    file = films.film_vectors(tmp_path)
    content = file.read_bytes()
    for damaged in (content[: len(content) // 2], content[:100] + b"????" + content[104:], b""):
        file.write_bytes(damaged)
        assert films.film_vectors(tmp_path).read_bytes() == content


def test_without_a_writable_cache_the_file_is_kept_with_the_run(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    cache.write_text("a file, not a folder")
    file = films.film_vectors(tmp_path / "run")
    assert file.parent == tmp_path / "run"
    monkeypatch.setattr(films, "packaged_reviews", None)  # the kept file is used again
    assert films.film_vectors(tmp_path / "run") == file


def test_settings_and_libraries_are_in_the_name(cache: Path, monkeypatch: pytest.MonkeyPatch):
    before = films.identity()
    monkeypatch.setattr(films, "SETTINGS", CooccurrenceSettings(dimension=4))
    assert films.identity() != before
    monkeypatch.setattr(films, "SETTINGS", SMALL)
    assert films.identity() == before
    monkeypatch.setattr(films, "version", lambda library: "0")
    assert films.identity() != before


def test_the_vectors_of_the_vocabulary_are_read(cache: Path, tmp_path: Path):
    vocabulary = Vocabulary.build([("cat", "axe", "unseen")])
    vectors = load_vectors(films.film_vectors(tmp_path), vocabulary)
    assert (vectors.found, vectors.dimension) == (2, 3)
    found = cooccurrence_vectors(texts(), SMALL)
    for word in ("cat", "axe"):
        row = found.matrix[found.words.index(word)]
        np.testing.assert_array_equal(vectors.matrix[vocabulary.index[word]], row)
    assert not vectors.matrix[vocabulary.index["unseen"]].any()


def test_an_archive_of_something_else_is_refused(tmp_path: Path):
    np.savez(tmp_path / "other.npz", numbers=np.zeros(3))
    (tmp_path / "text.npz").write_text("no archive")
    for name in ("other.npz", "text.npz"):
        with pytest.raises(UserError, match=f"{name} holds no words and vectors"):
            load_vectors(tmp_path / name, Vocabulary.build([("cat",)]))
