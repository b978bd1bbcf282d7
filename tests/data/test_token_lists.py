"""Tests of a corpus made from lists in memory."""

import pytest

from assay.data.lists import corpus_from_lists
from assay.data.vocabulary import SPECIALS
from assay.errors import UserError

CLASSES = ("no", "yes")
DOCUMENTS = [["a", "b"], ["b", "c", "c"]]


def test_all_documents_are_in_the_test_split():
    marks = [[True, False], [False, False, True]]
    corpus = corpus_from_lists(DOCUMENTS, ["yes", "no"], classes=CLASSES, rationales=marks)
    assert (corpus.train, corpus.dev) == ((), ())
    assert [document.tokens for document in corpus.test] == [("a", "b"), ("b", "c", "c")]
    assert [document.label for document in corpus.test] == [1, 0]
    assert corpus.test[1].rationale == (False, False, True)
    assert set(corpus.vocabulary.words) == {*SPECIALS, "a", "b", "c"}


def test_the_words_of_the_model_keep_their_order():
    corpus = corpus_from_lists(DOCUMENTS, ["yes", "no"], classes=CLASSES, words=["c", "a"])
    first, unknown = len(SPECIALS), 1
    assert corpus.vocabulary.encode(["c", "a", "b"]) == [first, first + 1, unknown]


@pytest.mark.parametrize(
    ("documents", "labels", "message"),
    [
        ([], [], "at least one list"),
        (DOCUMENTS, ["yes"], "2 documents and 1 labels"),
        (DOCUMENTS, ["yes", "maybe"], r"'maybe'.*\(no, yes\)"),
        ([["a"], "b c"], ["yes", "no"], "document 1 is text.*split"),
        ([["a"], []], ["yes", "no"], "document 1 has no tokens"),
    ],
)
def test_a_mistake_is_named_with_its_cure(documents, labels, message):
    with pytest.raises(UserError, match=message):
        corpus_from_lists(documents, labels, classes=CLASSES)


def test_marks_must_fit_the_tokens():
    with pytest.raises(UserError, match="document 0 has 2 tokens and 1 marks"):
        corpus_from_lists(DOCUMENTS, ["yes", "no"], classes=CLASSES, rationales=[[True], []])
