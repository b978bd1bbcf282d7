"""Tests of planted corpora: each document decides its label as described."""

from collections import Counter

import pytest

from assay.controls.corpora import BACKGROUNDS, DATA, PLANTINGS, planted_corpus

both = pytest.mark.parametrize("data", DATA)


def generate(data: str, planting: str, documents: int = 200, seed: int = 0):
    corpus = planted_corpus(data, planting, documents, seed)
    return corpus, [d for d in (*corpus.train, *corpus.dev, *corpus.test) if "blank" not in d.id]


def ranks(data: str, tokens: tuple[str, ...]) -> list[int]:
    cues = BACKGROUNDS[data].cues
    return [cues.index(token) for token in tokens if token in cues]


@both
@pytest.mark.parametrize("planting", PLANTINGS)
def test_documents_depend_only_on_the_seed_and_classes_are_balanced(data, planting):
    corpus, documents = generate(data, planting)
    assert corpus == generate(data, planting)[0]
    assert corpus != generate(data, planting, seed=1)[0]
    assert Counter(document.label for document in documents) == {0: 100, 1: 100}
    assert len({document.id for document in documents}) == 200
    assert all(len(d.tokens) == len(d.rationale or ()) for d in documents)


@both
def test_one_cue_decides_alone(data):
    for document in generate(data, "alone")[1]:
        (rank,) = ranks(data, document.tokens)
        assert rank % 2 == document.label
        (decides,) = [t for t, m in zip(document.tokens, document.rationale, strict=True) if m]
        assert decides == BACKGROUNDS[data].cues[rank]


@both
def test_the_highest_rank_decides_against_competing_cues(data):
    for document in generate(data, "contested")[1]:
        first, *lower = sorted(ranks(data, document.tokens))
        assert first % 2 == document.label
        assert lower or first == len(BACKGROUNDS[data].cues) - 1
        assert all(rank > first and rank % 2 != document.label for rank in lower)
        assert sum(document.rationale) == 1
        marked = document.tokens[document.rationale.index(True)]
        assert marked == BACKGROUNDS[data].cues[first]


@both
def test_blank_documents_occur_once_per_class_and_only_in_train(data):
    corpus, _ = generate(data, "contested")
    blank = [d for d in corpus.train if d.id.startswith("blank")]
    assert not any(d.id.startswith("blank") for d in (*corpus.dev, *corpus.test))
    assert len(blank) > 40
    assert max(len(d.tokens) for d in blank) == 3
    for one, other in zip(blank[::2], blank[1::2], strict=True):
        assert (one.tokens, one.label, other.label) == (other.tokens, 0, 1)
        assert not any(one.rationale)
        assert not ranks(data, one.tokens)


@both
def test_every_item_of_copies_predicts_the_label(data):
    _, documents = generate(data, "copies", documents=600)
    sides = {
        label: {t for d in documents if d.label == label for t in d.tokens} for label in (0, 1)
    }
    assert sides[0].isdisjoint(sides[1])
    assert all(all(document.rationale) for document in documents)
