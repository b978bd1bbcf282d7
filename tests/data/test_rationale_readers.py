"""Tests of the readers of human rationales, eraser_movies and yelp_hat, on small files."""

import re
from pathlib import Path

import pytest

from assay.data.catalog import load_corpus
from assay.errors import UserError
from tests.builders.rationale_files import HEADER, maps, movies, review, spans
from tests.builders.small_corpora import number
from tests.builders.written_files import csv_text, pack, write


@pytest.mark.parametrize("archive", [True, False])
def test_spans_of_a_review_are_marked(tmp_path: Path, archive: bool):
    corpus = load_corpus("eraser_movies", data=movies(tmp_path, archive=archive))
    assert corpus.classes == ("negative", "positive")
    assert [len(part) for part in (corpus.train, corpus.dev, corpus.test)] == [8, 8, 8]
    first, second = corpus.test[:2]
    assert (first.id, first.label, second.label) == ("posR_test0", 1, 0)
    assert first.tokens == ("a", "fine", "film", number(0), ".", "so", "it", "is")
    assert first.rationale == (False, True, True, False, False, False, True, True)
    assert second.rationale is None  # nothing is marked


def test_a_word_is_marked_where_most_readers_highlighted_it(tmp_path: Path):
    corpus = load_corpus("yelp_hat", data=maps(tmp_path))
    documents = {d.id: d for part in (corpus.train, corpus.dev, corpus.test) for d in part}
    assert len(documents) == 24
    good, bad = documents["ham_part1_50words-1"], documents["ham_part1_50words-2"]
    assert (good.label, bad.label) == (1, 0)
    assert good.tokens == ("loved", "the", "food", ",", number(0), "truly", ".")
    # Highlighted by three, one and two of three readers; punctuation is not marked.
    assert good.rationale == (True, False, True, False, False, False, False)
    assert bad.tokens == ("never", number(100), "again", "&", "again", "!")
    assert bad.rationale == (True, False, False, False, False, False)  # one of two is no majority


@pytest.mark.parametrize(
    ("name", "write_files", "folder"),
    [("eraser_movies", movies, "eraser_movies"), ("yelp_hat", maps, "yelp_hat")],
)
def test_packed_files_below_a_data_folder_are_found(tmp_path: Path, name, write_files, folder):
    plain = load_corpus(name, data=write_files(tmp_path / folder))
    archive = tmp_path / folder / "docs.tar.gz"
    if archive.exists():
        archive.rename(tmp_path / "docs.tar.gz")
    pack(tmp_path / folder)
    if (tmp_path / "docs.tar.gz").exists():
        (tmp_path / "docs.tar.gz").rename(archive)
    assert load_corpus(name, data=tmp_path).fingerprint == plain.fingerprint


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            review("posR_train0.txt", "GOOD"),
            "review 1: the classification 'GOOD' is neither NEG nor",
        ),
        (review("gone.txt", "POS"), "review 1: there is no text 'gone.txt' in docs"),
        (
            review("posR_train0.txt", "POS", (3, 90)),
            "from token 3 to 90 does not lie in a text of 8",
        ),
        (review("posR_train0.txt", "POS", (5, 3)), "from token 5 to 3 does not"),
        (
            '{"annotation_id": "posR_train0.txt", "classification": "POS", "evidences": [[7]]}',
            "the evidences '[[7]]' are not lists of spans",
        ),
        ('{"annotation_id": "posR_train0.txt", "classification": "POS"}', "the evidences 'None'"),
    ],
)
def test_a_broken_review_is_an_error(tmp_path: Path, line: str, words: str):
    (movies(tmp_path) / "train.jsonl").write_text(line + "\n")
    with pytest.raises(UserError, match=re.escape(words)):
        load_corpus("eraser_movies", data=tmp_path)


def test_missing_texts_are_an_error(tmp_path: Path):
    (movies(tmp_path) / "docs.tar.gz").unlink()
    with pytest.raises(UserError, match=r"has no docs.tar \(plain or .gz\)"):
        load_corpus("eraser_movies", data=tmp_path)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (["2", "so so", "yes", spans("so so", set())], "row 1: the label '2' is neither 0 nor 1"),
        (
            ["1", "so so", "yes", spans("so la", set())],
            "does not have the words of the text 'so so'",
        ),
        (["1", "so so", "yes", ""], "row 1: the map '' does not have the words"),
    ],
)
def test_a_broken_map_is_an_error(tmp_path: Path, row: list[str], words: str):
    write(tmp_path, {"ham_part9.csv": csv_text([HEADER, row])})
    with pytest.raises(UserError, match=re.escape(words)):
        load_corpus("yelp_hat", data=tmp_path)


def test_tags_of_a_browser_extension_are_ignored(tmp_path: Path):
    folder = maps(tmp_path)
    path = folder / "ham_part7.csv"
    text = path.read_text()
    path.write_text(text.replace(">Loved<", '><i class=""x"">Loved</i><'))
    assert load_corpus("yelp_hat", data=folder).fingerprint == (
        load_corpus("yelp_hat", data=maps(tmp_path)).fingerprint
    )
