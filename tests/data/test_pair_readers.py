"""Are premise and hypothesis, paragraph and question read as the papers say?"""

import json
from pathlib import Path

from written_files import good_files, pack, write

from assay.data.catalog import load_corpus
from assay.data.sources.snli import CLASSES


def test_snli_real_files(data: Path) -> None:
    corpus = load_corpus("snli", data=data)
    assert (len(corpus.train), len(corpus.dev), len(corpus.test)) == (23530, 9842, 9824)
    assert corpus.classes == CLASSES
    counts = [sum(d.label == label for d in corpus.test) for label in range(3)]
    assert counts == [3237, 3368, 3219]
    first = corpus.dev[0]
    assert " ".join(first.tokens) == "two women are embracing while holding to go packages ."
    assert first.query[:4] == ("the", "sisters", "are", "hugging")
    assert corpus.classes[first.label] == "neutral"
    assert not any(c.isdigit() for word in corpus.vocabulary.words for c in word)
    assert any("part of the published train" in said for said in corpus.notes)


def test_snli_as_published_with_disagreement_dropped_and_numbers_masked(tmp_path: Path) -> None:
    files = good_files("snli")
    row = {"gold_label": "-", "sentence1": "A dog.", "sentence2": "A cat.", "pairID": "x"}
    files["snli_1.0_test.jsonl"] += json.dumps(row) + "\n"
    pack(write(tmp_path / "snli_1.0", files))
    corpus = load_corpus("snli", data=tmp_path)
    assert corpus.dropped == {"no gold label": 1}
    assert len(corpus.test) == 15
    assert corpus.test[0].tokens == ("two", "dogs", "run", ".")
    assert corpus.test[0].query == ("a", "dog", "has", "qqq", "legs", ".")


def test_snli_tabs_hold_quotes_as_they_stand(tmp_path: Path) -> None:
    rows = "".join(f'{label}\tA "dog runs.\tIt runs.\n' for label in CLASSES * 3)
    text = "gold_label\tsentence1\tsentence2\n" + rows
    write(tmp_path, {f"snli_{split}.tsv": text for split in ("train", "dev", "test")})
    corpus = load_corpus("snli", data=tmp_path)
    assert corpus.train[0].tokens == ("a", '"', "dog", "runs", ".")


def test_cnn_as_published(tmp_path: Path) -> None:
    files = good_files("cnn")
    files["train.txt"] += "@placeholder slept\n@entity3\n@entity3 and @entity1 slept\n\n"
    files["test.txt"] += (
        "who is @placeholder\n@entity9\n@entity9 met @entity2\n\n"  # never seen in train
        "who is @placeholder\n@entity3\n@entity1 met @entity2\n\n"  # not in the paragraph
        "who is @placeholder\n@entity3\n\n\n"  # no paragraph
    )
    pack(write(tmp_path / "cnn", files))
    corpus = load_corpus("cnn", data=tmp_path)
    assert corpus.classes == ("@entity1", "@entity2", "@entity3")
    assert corpus.dropped == {
        "answer never seen in train": 1,
        "answer not among the candidates": 1,
        "empty text": 1,
    }
    first = corpus.test[0]
    assert first.tokens == ("@entity1", "beat", "@entity2", "by", "far")
    assert first.query == ("@placeholder", "won", "the", "cup")
    assert (first.label, first.allowed) == (0, (0, 1))


def test_cnn_real_sample(data: Path) -> None:
    corpus = load_corpus("cnn", data=data)
    documents = corpus.train + corpus.dev + corpus.test
    assert len(documents) + sum(corpus.dropped.values()) == 200
    for document in documents:
        assert corpus.classes[document.label] in document.tokens
        assert "@placeholder" in document.query
        assert document.allowed is not None
        held = {token for token in document.tokens if token.startswith("@entity")}
        assert {corpus.classes[c] for c in document.allowed} == held & set(corpus.classes)
    assert any("we split it" in said for said in corpus.notes)
