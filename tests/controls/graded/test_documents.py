"""Tests of the generated documents: what decides them, and what the words mean."""

import numpy as np
import pytest

from assay.controls.graded.documents import BACKGROUND, Lexicon, Variation, draw_corpus
from assay.data.vocabulary import UNKNOWN


@pytest.fixture(params=[2, 3])
def lexicon(request) -> Lexicon:
    return Lexicon(Variation(classes=request.param), seed=3)


def test_a_document_has_one_marked_cue_of_its_class_and_one_hint_of_another(lexicon):
    corpus = draw_corpus(lexicon, 50)
    assert len(corpus.test) == 50
    for document in corpus.test:
        assert 6 <= len(document.tokens) <= 15
        assert len(set(document.tokens)) == len(document.tokens)
        (cue,) = [word for word in document.tokens if word.startswith("cue")]
        (hint,) = [word for word in document.tokens if word.startswith("hint")]
        assert int(cue.split("-")[1]) == document.label != int(hint.split("-")[1])
        marked = [
            word for word, mark in zip(document.tokens, document.rationale, strict=True) if mark
        ]
        assert marked == [cue]


def test_the_same_seed_gives_the_same_documents_and_another_gives_others(lexicon):
    again = Lexicon(lexicon.variation, lexicon.seed)
    other = Lexicon(lexicon.variation, lexicon.seed + 1)
    assert draw_corpus(lexicon, 5).test == draw_corpus(again, 5).test
    assert draw_corpus(lexicon, 5).test != draw_corpus(other, 5).test


def test_attention_logits_are_in_the_order_of_the_evidence(lexicon):
    strength = lexicon.evidence.abs().amax(1)
    scores = lexicon.scores
    known = slice(UNKNOWN + 3, None)
    for one, other in ((strength[known], scores[known]),):
        order = np.argsort(one.numpy(), kind="stable")
        assert (np.diff(other.numpy()[order]) >= 0).all()
    assert scores[UNKNOWN] < scores[known].min()
    assert strength[~lexicon.is_cue].max() < strength[lexicon.is_cue].min()


def test_label_noise_contradicts_that_share_of_cues():
    corpus = draw_corpus(Lexicon(Variation(label_noise=0.25), seed=1), 2_000)
    wrong = [
        next(word for word in document.tokens if word.startswith("cue"))[4] != str(document.label)
        for document in corpus.test
    ]
    assert np.mean(wrong) == pytest.approx(0.25, abs=0.04)


def test_copies_repeat_the_cue_and_are_marked():
    lexicon = Lexicon(Variation(), seed=2)
    for share, least in ((0.5, 3), (1.0, 6)):
        for document in draw_corpus(lexicon, 20, copies=share).test:
            cues = [word.startswith("cue") for word in document.tokens]
            assert tuple(cues) == document.rationale
            assert sum(cues) == 1 + round(share * (len(cues) - 1)) >= least


def test_mismarked_documents_mark_one_other_item():
    corpus = draw_corpus(Lexicon(Variation(), seed=2), 1_000, mismarked=0.4)
    off = 0
    for document in corpus.test:
        assert sum(document.rationale) == 1
        off += not document.tokens[document.rationale.index(True)].startswith("cue")
    assert off / 1_000 == pytest.approx(0.4, abs=0.05)


def test_variations_differ_and_stay_within_their_bounds():
    drawn = [Variation.draw(np.random.default_rng(seed)) for seed in range(50)]
    assert len(set(drawn)) == 50
    assert {one.classes for one in drawn} == {2, 3}
    assert all(one.shortest < one.longest <= 15 for one in drawn)
    fixed = Variation.draw(np.random.default_rng(0), classes=2)
    assert fixed.classes == 2
    assert BACKGROUND < 1.0
