"""Are the words' log-odds those of scikit-learn on counts made by hand, and of train alone?"""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from assay.data.corpus import Document
from assay.data.vocabulary import SPECIALS, Vocabulary
from assay.probes.inputs import MOST_CLASSES, fit_word_odds, word_occurrences
from tests.builders.small_models import corpus

TOY = corpus(200)


def plain(documents, labels):
    """The textbook's way: a vectoriser of its own, then the regression."""
    counter = CountVectorizer(binary=True, analyzer=lambda document: document.tokens)
    model = LogisticRegression(l1_ratio=1.0, solver="liblinear", class_weight="balanced", tol=1e-8)
    fitted = model.fit(counter.fit_transform(documents), labels)
    return dict(zip(counter.get_feature_names_out(), np.abs(fitted.coef_[0]), strict=True))


def test_logits_are_the_sizes_of_the_coefficients():
    odds = fit_word_odds(TOY.train, TOY.vocabulary)
    expected = plain(TOY.train, [document.label for document in TOY.train])
    for word, size in expected.items():
        # Both stop within a tolerance of the optimum.
        assert odds.logits[TOY.vocabulary.index[word]] == pytest.approx(size, abs=0.01)
    assert set(np.argsort(odds.logits)[-2:]) == {TOY.vocabulary.index[w] for w in ("awful", "fine")}


def test_more_classes_count_with_the_largest():
    third = [replace(d, label=2) if "word3" in d.tokens else d for d in TOY.train]
    odds = fit_word_odds(third, TOY.vocabulary)
    each = [plain(third, [d.label == one for d in third]) for one in range(3)]
    for word in each[0]:
        largest = max(sizes[word] for sizes in each)
        assert odds.logits[TOY.vocabulary.index[word]] == pytest.approx(largest, abs=0.01)


def test_stop_words_get_nothing_and_unknown_words_zero():
    vocabulary = Vocabulary((*SPECIALS, "The", "of", "fine", "awful", "unseen"))
    train = [
        Document(str(i), ("The", "of", "fine" if i % 2 else "awful"), i % 2) for i in range(20)
    ]
    logits = fit_word_odds(train, vocabulary).logits
    assert np.isneginf(logits[[4, 5]]).all()
    assert (logits[[6, 7]] > 0).any()
    assert (logits[[1, 8]] == 0).all()


def test_a_word_counts_once_and_unknown_ones_never():
    vocabulary = Vocabulary((*SPECIALS, "a", "b"))
    held = word_occurrences(
        [Document("1", ("a", "a", "z"), 0), Document("2", ("b", "<pad>"), 1)], vocabulary
    )
    assert held.toarray().tolist() == [[0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]


@pytest.mark.parametrize("classes", [1, MOST_CLASSES + 1])
def test_too_few_or_too_many_classes_are_said(classes):
    train = [Document(str(i), ("a",), i % classes) for i in range(200)]
    odds = fit_word_odds(train, Vocabulary((*SPECIALS, "a")))
    assert f"has {classes}" in odds.unfit
    assert not len(odds.logits)


def test_sentences_have_no_log_odds():
    train = [Document(str(i), ("a b",), i % 2, words=(("a", "b"),)) for i in range(4)]
    assert "sentences" in fit_word_odds(train, TOY.vocabulary).unfit


def test_the_digest_is_of_the_content():
    one, other = (fit_word_odds(TOY.train, TOY.vocabulary) for _ in range(2))
    assert one.digest == other.digest == pickle.loads(pickle.dumps(one)).digest  # noqa: S301
    fewer = fit_word_odds(TOY.train[1:], TOY.vocabulary)
    assert fewer.digest != one.digest
