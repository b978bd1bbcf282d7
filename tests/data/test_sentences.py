"""Tests of sentence splitting, and of corpora whose items are sentences."""

from dataclasses import replace

import pytest

from assay.data.catalog import SOURCES, load_corpus
from assay.data.corpus import Document
from assay.data.text import (
    PIECE_LENGTH,
    item_words,
    sentence_item,
    split_at_final_marks,
    split_into_pieces,
    to_sentences,
    words,
)
from assay.errors import UserError
from tests.builders.small_models import corpus
from tests.builders.written_files import write


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It rains. It pours!", ["it rains .", "it pours !"]),
        ("no mark at all", ["no mark at all"]),
        ("Really?! Yes... no", ["really ? !", "yes . . .", "no"]),
        ('He left. "Why?" she asked.', ["he left .", '" why ? "', "she asked ."]),
        ("It cost 3.5 dollars. 4 of us paid.", ["it cost 3 . 5 dollars .", "4 of us paid ."]),
        ("Mr. Smith of the U.S. came.", ["mr . smith of the u . s . came ."]),
        (
            "So did I. Then we left (at last.) Fine.",
            ["so did i .", "then we left ( at last . )", "fine ."],
        ),
        ("... well. !", [". . . well . !"]),
        ("Hello. ...", ["hello . . . ."]),
        ("...", [". . ."]),
    ],
)
def test_the_rule_on_example_texts(text: str, sentences: list[str]):
    assert [sentence_item(sentence) for sentence in split_at_final_marks(words(text))] == sentences


@pytest.mark.parametrize("splitter", [split_at_final_marks, split_into_pieces])
def test_no_word_is_lost_or_moved(splitter):
    tokens = words("A. B! 'c' \"d.\" e 1.5 ... f? " * 9)
    found = splitter(tokens)
    assert tuple(word for sentence in found for word in sentence) == tokens
    assert all(found)
    assert splitter(()) == []


def punctuated():
    """The toy corpus with full stops: two after every three words."""

    def dotted(document: Document) -> Document:
        tokens = [t for i, t in enumerate(document.tokens) for t in ((t, ".") if i % 3 else (t,))]
        marked = tuple(token in ("awful", "fine") for token in tokens)
        return replace(document, tokens=tuple(tokens), rationale=marked)

    small = corpus(30)
    parts = {name: tuple(map(dotted, getattr(small, name))) for name in ("train", "dev", "test")}
    return replace(small, **parts)


def test_the_words_of_an_item_can_be_recovered_from_its_text():
    flat = punctuated()
    nested = to_sentences(flat)
    for before, after in zip(flat.test, nested.test, strict=True):
        assert after.words is not None
        assert after.tokens == tuple(map(sentence_item, after.words))
        assert after.words == tuple(map(item_words, after.tokens))
        assert tuple(word for sentence in after.words for word in sentence) == before.tokens
        assert (after.id, after.label) == (before.id, before.label)


def test_a_sentence_is_marked_if_one_of_its_words_is():
    for document in to_sentences(punctuated()).test:
        marked = [any(word in ("awful", "fine") for word in s) for s in document.words or ()]
        assert list(document.rationale or ()) == marked
        assert sum(marked) == 1


def test_fingerprint_and_notes_differ_from_those_of_the_original_corpus():
    flat = punctuated()
    nested = to_sentences(flat)
    assert nested.fingerprint != flat.fingerprint
    assert nested.vocabulary is flat.vocabulary
    assert "`final marks`" in nested.notes[-1]
    documents = nested.train + nested.dev + nested.test
    single = sum(len(d.tokens) == 1 for d in documents)
    assert f"{single} have one sentence only" in nested.notes[-1]
    words_elsewhere = replace(
        nested, test=tuple(replace(d, words=(("other",),) * len(d.tokens)) for d in nested.test)
    )
    assert words_elsewhere.fingerprint != nested.fingerprint


def test_text_without_final_marks_is_split_into_pieces():
    small = corpus(30)
    assert f"`pieces of {PIECE_LENGTH} words`" in to_sentences(small).notes[-1]


def test_pair_tasks_are_refused():
    with pytest.raises(UserError, match="two texts"):
        to_sentences(replace(corpus(30), task="pair"))


def test_ratings_are_read_from_the_names_of_the_files(tmp_path):
    for split in ("train", "test"):
        for rating in SOURCES["imdb_ratings"].classes or ():
            reviews = {
                f"{number}_{rating}.txt": f"A film.<br />It gets {rating} of 10, number {number}!"
                for number in range(12)
            }
            side = "neg" if int(rating) < 5 else "pos"
            write(tmp_path / "imdb" / "aclImdb" / split / side, reviews)
    read = load_corpus("imdb_ratings", data=tmp_path)
    assert read.classes == ("1", "2", "3", "4", "7", "8", "9", "10")
    for document in read.test:
        assert read.classes[document.label] == document.tokens[5]
    assert (len(read.train) + len(read.dev), len(read.test)) == (96, 96)
    nested = to_sentences(read)
    assert {len(document.tokens) for document in nested.test} == {2}
