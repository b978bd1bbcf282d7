"""Tests of the SNLI and CNN readers on small files."""

import json
from pathlib import Path

from assay.data.catalog import load_corpus
from assay.data.sources.snli import CLASSES
from tests.builders.written_files import good_files, pack, write


def test_snli_with_a_part_of_train_as_tabs(tmp_path: Path) -> None:
    rows = "".join(f"{label}\tTwo dogs run 3 miles.\tIt runs.\tA\n" for label in CLASSES * 3)
    text = "gold_label\tsentence1\tsentence2\tsource\n" + rows
    names = ("snli_train_subset.tsv", "snli_dev.tsv", "snli_test.tsv")
    pack(write(tmp_path / "snli", dict.fromkeys(names, text)))
    corpus = load_corpus("snli", data=tmp_path)
    assert corpus.notes == (
        "snli: snli_train_subset.tsv.gz is only a part of the published train split",
    )
    assert (len(corpus.train), len(corpus.dev), len(corpus.test)) == (9, 9, 9)
    assert corpus.classes == CLASSES
    first = corpus.dev[0]
    assert (first.tokens, first.query) == (
        ("two", "dogs", "run", "qqq", "miles", "."),
        ("it", "runs", "."),
    )
    assert not any(c.isdigit() for word in corpus.vocabulary.words for c in word)


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


def test_cnn_sample(tmp_path: Path) -> None:
    stories = [
        f"1 @entity{i % 3} met @entity{(i + 1) % 3} {i} times .\n2 it rained .\n"
        f"3 who met @placeholder ? \t@entity{(i + 1) % 3}\t0\n"
        for i in range(30)
    ]
    pack(write(tmp_path / "cnn_qa_sample", {"sample.txt": "".join(stories)}))
    corpus = load_corpus("cnn", data=tmp_path)
    documents = corpus.train + corpus.dev + corpus.test
    assert len(documents) == 30
    assert corpus.classes == ("@entity0", "@entity1", "@entity2")
    first = next(document for document in documents if document.id == "sample-1")
    assert " ".join(first.tokens) == "@entity0 met @entity1 0 times . it rained ."
    assert (first.query, first.label) == (("who", "met", "@placeholder"), 1)
    assert first.allowed == (0, 1)
    assert corpus.notes == ("cnn: sample.txt.gz is a sample without splits, so assay split it",)
