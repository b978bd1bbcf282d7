"""Tests of the documents of attached models: all forms give the same audit."""

from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import assay
from assay.data.corpus import Corpus
from assay.runs.attached_documents import corpus_of_corpus, corpus_of_texts, read_texts
from tests.builders.attached_models import LONGEST, TextModel
from tests.builders.broken_modules import seeded
from tests.builders.hand_made_models import WORDS, Straight, documents
from tests.builders.torch_modules import Pooling

TEXTS = [" ".join(document.tokens) for document in documents((5, 3, 8, 4, 6, 2), 2)]
LABELS = ["LABEL_0", "LABEL_1"] * 3
OPTIONS = {"probes": ["permutation"], "sample": 0}


def tokenizing() -> Straight:
    model = Straight(2, seed=1, scale=2.0, peak=1.0)
    model.classes, model.words = ("LABEL_0", "LABEL_1"), sorted(WORDS)
    return model


@pytest.fixture(scope="module")
def expected() -> assay.Audit:
    return assay.audit(TextModel(), TEXTS, LABELS, **OPTIONS)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_data_frame_gives_the_same_as_lists(make, expected):
    frame = make({"review": TEXTS, "class": LABELS})
    found = assay.audit(TextModel(), frame, **OPTIONS)
    same = ["tokens", "label", "prediction", "attention"]  # ids are numbers of rows
    assert found.instances.select(same).equals(expected.instances.select(same))
    named = make({"a": TEXTS, "b": LABELS})
    again = assay.audit(TextModel(), named, text_column="a", label_column="b", **OPTIONS)
    assert again.evidence().equals(found.evidence())
    with pytest.raises(assay.UserError, match="no column 'text'; found 'a', 'b': pass text_column"):
        assay.audit(TextModel(), named, label_column="b")


def test_a_file_gives_the_same_as_a_frame(tmp_path: Path):
    frame = pl.DataFrame({"text": TEXTS, "label": LABELS})
    frame.write_csv(tmp_path / "mine.csv")
    one = assay.audit(TextModel(), tmp_path / "mine.csv", **OPTIONS)
    other = assay.audit(TextModel(), str(tmp_path / "mine.csv"), limit=6, **OPTIONS)
    frames = assay.audit(TextModel(), frame, **OPTIONS)
    assert one.evidence().equals(frames.evidence())
    assert other.evidence().equals(frames.evidence())
    assert len(assay.audit(TextModel(), frame, limit=4, **OPTIONS).instances) == 4


def test_own_names_of_the_classes(expected):
    names = {"down": "LABEL_0", "up": "LABEL_1"}
    model = TextModel()
    found = assay.audit(model, TEXTS, ["down", "up"] * 3, classes=names, **OPTIONS)
    assert found.evidence().equals(expected.evidence())
    assert found.instances["label"].to_list() == ["down", "up"] * 3
    assert model.classes == ("LABEL_0", "LABEL_1")  # the caller's model stays as it is
    with pytest.raises(assay.UserError, match=r"'down' .*LABEL_0, LABEL_1.*down=LABEL_0,up=LABEL"):
        assay.audit(TextModel(), TEXTS, ["down", "up"] * 3)


def test_a_model_that_does_not_cut_texts_gets_words():
    texts = read_texts([*TEXTS, "  "], [*LABELS, "LABEL_0"])
    corpus = corpus_of_texts(tokenizing(), texts)
    assert corpus.test[0].tokens == tuple(TEXTS[0].split())
    assert corpus.dropped == {"no tokens": 1}
    assert "no method `tokenize(text)`" in corpus.notes[0]
    model = tokenizing()
    model.tokenize = lambda text: text.split()[:1]
    own = corpus_of_texts(model, read_texts(TEXTS, LABELS))
    assert own.test[0].tokens == tuple(TEXTS[0].split()[:1])
    assert own.notes == ()
    named = corpus_of_texts(model, read_texts(TEXTS, LABELS), tokenizer="characters")
    assert named.test[0].tokens[:4] == tuple("word")


def test_a_loaded_corpus_is_read_as_words(expected):
    tokens = [text.split() for text in TEXTS]
    reader = tokenizing()
    del reader.words  # the vocabulary is that of the documents
    corpus: Corpus = corpus_of_texts(reader, read_texts(tokens, LABELS))
    read = corpus_of_corpus(TextModel(), corpus)
    assert [len(document.tokens) for document in read.test] == [5, 3, LONGEST, 4, 6, 2]
    assert read.truncated == 1
    assert [document.id for document in read.test] == [document.id for document in corpus.test]
    assert corpus_of_corpus(reader, corpus) is corpus
    assert corpus_of_corpus(tokenizing(), corpus).vocabulary.words[4:] == tuple(sorted(WORDS))
    found = assay.audit(TextModel(), corpus, **OPTIONS)
    assert found.evidence().equals(expected.evidence())


def test_without_labels_the_predictions_of_a_tapped_module_take_their_place():
    audit = assay.audit(seeded(Pooling), TEXTS, **OPTIONS)
    assert audit.instances["label"].equals(audit.instances["prediction"])
    assert "attention computation 0" in audit.manifest.attached.need("shows")


def test_progress_is_reported():
    told = []

    def track(items, label, total):
        told.append((label, total))
        return items

    assay.audit(TextModel(), TEXTS, LABELS, track=track, **OPTIONS)
    assert told == [("audit", 1)]


def test_a_limit_holds_for_a_corpus_as_for_texts():
    corpus = TextModel().corpus(TEXTS, LABELS)
    whole = assay.audit(TextModel(), corpus, limit=4, **OPTIONS)
    texts = assay.audit(TextModel(), TEXTS, LABELS, limit=4, **OPTIONS)
    same = ["tokens", "label", "prediction", "attention"]
    assert len(whole.instances) == 4
    assert whole.instances.select(same).equals(texts.instances.select(same))
    assert whole.manifest.corpus.section("dropped").values == {"over the limit of 4": 2}
