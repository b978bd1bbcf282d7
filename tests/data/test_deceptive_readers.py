"""Tests of the pronoun and sst_wiki readers (Pruthi et al. 2020): labels and rationales."""

import re
from pathlib import Path

import pytest

from assay.data.catalog import load_corpus
from assay.errors import UserError
from tests.builders.rationale_files import pronoun, sst_wiki
from tests.builders.small_corpora import number
from tests.builders.written_files import pack


def test_pronouns_are_marked_and_nothing_else(tmp_path: Path):
    corpus = load_corpus("pronoun", data=pronoun(tmp_path))
    assert corpus.classes == ("man", "woman")
    first, second = corpus.train[:2]
    assert (first.id, first.label, second.label) == ("train-1", 0, 1)
    assert first.tokens == ("in", number(0), "he", "lost", "his", "way", ".")
    assert first.rationale == (False, False, True, False, True, False, False)
    assert second.rationale == (False, False, True, False, True)


def test_the_words_of_the_film_sentence_are_marked(tmp_path: Path):
    corpus = load_corpus("sst_wiki", data=sst_wiki(tmp_path))
    assert corpus.classes == ("negative", "positive")
    first, second = corpus.test[:2]
    assert (first.label, first.tokens) == (1, ("a", "fine", "film", number(0), "."))
    assert first.rationale == (True, True, True, False, False)
    assert second.rationale == (True, False, False, False, False)


@pytest.mark.parametrize(
    ("name", "write_files", "folder"),
    [
        ("pronoun", pronoun, "deceptive_attention/pronoun"),
        ("sst_wiki", sst_wiki, "deceptive_attention/sst-wiki"),
    ],
)
def test_packed_files_below_a_data_folder_are_found(tmp_path: Path, name, write_files, folder):
    plain = load_corpus(name, data=write_files(tmp_path / folder))
    pack(tmp_path / folder)
    assert load_corpus(name, data=tmp_path).fingerprint == plain.fingerprint


def test_a_broken_line_is_an_error(tmp_path: Path):
    (pronoun(tmp_path) / "dev.txt").write_text("M\the is\nX\tit is\n")
    with pytest.raises(UserError, match=r"dev.txt, line 2: 'X\tit is' does not begin with M or F"):
        load_corpus("pronoun", data=tmp_path)


@pytest.mark.parametrize(
    ("marks", "words"),
    [
        ("1 1 1 0\n", "line 1: '1 1 1 0' does not have a 0 or 1 for each of the 5 words"),
        ("1 1 1 0 0\n1 0 0 2 0\n", "line 2: '1 0 0 2 0'"),
        ("1 1 1 0 0\n", "line 2: ''"),
    ],
)
def test_marks_of_the_wrong_length_are_an_error(tmp_path: Path, marks: str, words: str):
    (sst_wiki(tmp_path) / "train.txt.block").write_text(marks)
    with pytest.raises(UserError, match=re.escape(words)):
        load_corpus("sst_wiki", data=tmp_path)
