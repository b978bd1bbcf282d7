"""Tests of broken files and options of the pair, review and clinical corpora."""

import gzip
import random
from pathlib import Path

import pytest

from assay.data.catalog import load_corpus
from assay.errors import UserError
from tests.builders.written_files import CODE_HEADER, NOTE_HEADER, READERS, good_files, write

CSV_READERS = ("yelp", "amazon", "yahoo", "diabetes", "anemia")


def load_broken(corpus: str, folder: Path, name: str, content: bytes | None) -> str:
    """Write a valid corpus with one file replaced (None: removed); returns the error message."""
    write(folder, good_files(corpus))
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_bytes(content)
    with pytest.raises(UserError) as caught:
        load_corpus(corpus, data=folder)
    return str(caught.value)


def first_file(corpus: str) -> tuple[str, bytes]:
    name, text = next(iter(good_files(corpus).items()))
    return name, text.encode()


@pytest.mark.parametrize("corpus", READERS)
def test_the_small_files_are_valid(corpus: str, tmp_path: Path) -> None:
    loaded = load_corpus(corpus, data=write(tmp_path, good_files(corpus)))
    assert loaded.train
    assert loaded.dev
    assert loaded.test


@pytest.mark.parametrize("corpus", READERS)
def test_missing_file_and_missing_folder(corpus: str, tmp_path: Path) -> None:
    name, _ = first_file(corpus)
    message = load_broken(corpus, tmp_path, name, None)
    assert corpus in message
    assert str(tmp_path) in message
    with pytest.raises(UserError, match="does not exist"):
        load_corpus(corpus, data=tmp_path / "nowhere")


FAULTS = {
    "empty": (lambda good: b"", "empty"),
    "blank lines only": (lambda good: b"\n\n \n", ""),
    "binary noise": (lambda good: random.Random(1).randbytes(3000), ""),
    "zero bytes": (lambda good: bytes(3000), ""),
    "broken encoding": (lambda good: good[:40] + b"\xe9\xff" + good[40:], "UTF-8"),
    "truncated gzip": (lambda good: gzip.compress(good)[:-12], "truncated or damaged gzip"),
    "another format": (lambda good: b"%PDF-1.7 nothing of use\nfor us\n", ""),
}


@pytest.mark.parametrize("corpus", READERS)
@pytest.mark.parametrize("fault", FAULTS)
def test_broken_files_are_reported_with_their_path(corpus: str, fault: str, tmp_path: Path) -> None:
    name, good = first_file(corpus)
    break_file, words = FAULTS[fault]
    message = load_broken(corpus, tmp_path, name, break_file(good))
    assert name in message or corpus in message
    assert any(word in message for word in words.split("|"))


@pytest.mark.parametrize("corpus", CSV_READERS)
def test_an_unclosed_quote(corpus: str, tmp_path: Path) -> None:
    name, good = first_file(corpus)
    assert "unclosed or stray quote" in load_broken(corpus, tmp_path, name, good + b'"1","never')


def csv_bytes(*rows: str) -> bytes:
    return "\n".join(rows).encode()


WRONG_ROWS = [
    ("yelp", "train.csv", csv_bytes('"9","good"'), "class '9' is not a number from 1 to 5"),
    ("yelp", "train.csv", csv_bytes('"4","good","more"'), "3 columns"),
    ("yelp", "train.csv", csv_bytes("text,label1,label2", "good,x,five"), "label2 is 'five'"),
    ("yelp", "train.csv", csv_bytes("text,label1,label2", "good,x"), "2 fields"),
    ("yelp", "train.csv", csv_bytes("stars,text", "4,good"), "the class 'stars'"),
    ("amazon", "train.csv", csv_bytes('"4","only a title"'), "2 columns"),
    ("amazon", "test.csv", csv_bytes('"x","a","b"'), "the class 'x'"),
    ("yahoo", "train.csv", csv_bytes('"11","a","b","c"'), "the class '11'"),
    ("yahoo", "train.csv", csv_bytes('"1","a","b"'), "3 columns"),
    ("snli", "snli_1.0_dev.jsonl", b'{"gold_label": "neutral", "sentence1": "a"}', "sentence2"),
    ("snli", "snli_1.0_dev.jsonl", b'{"gold_label": 1}', "must be present"),
    ("snli", "snli_1.0_dev.jsonl", b'{"gold_label": "neu', "not JSON"),
    (
        "snli",
        "snli_1.0_dev.jsonl",
        b'{"gold_label": "maybe", "sentence1": "a b", "sentence2": "c"}',
        "label 'maybe'",
    ),
    ("cnn", "dev.txt", b"question only\n\n", "1 lines, but question"),
    ("cnn", "dev.txt", b"a\n@entity1\nb\nc\n\n", "4 lines"),
    ("cnn", "dev.txt", b"question\nParis\nin Paris\n\n", "'Paris' is not an @entity"),
    ("imdb10", "imdb10.json", b'[{"rating": 11, "review": "x y"}]', "'11'"),
    ("imdb10", "imdb10.json", b'[{"rating": 1, "text": "x y"}]', "'review'"),
    ("imdb10", "imdb10.json", b'[{"rating": 1, "review": "x y"}, {"rat', "truncated"),
    ("imdb10", "imdb10.json", b'[{"rating": 1, "review": "\\ud800"}]', "half of a surrogate pair"),
    (
        "imdb10",
        "imdb10.json",
        b'[{"rating": 1, "review": "x y"}, 7]',
        "object 2 is not a JSON object",
    ),
    ("imdb10", "imdb10.json", b'"text"', "not a list of JSON objects"),
    ("imdb10", "imdb10.json", b"[]", "not a list of JSON objects"),
    ("imdb10", "imdb10.json", b'{"rating": 1, "review": "x y"}\n{"rat', "line 2 is not JSON"),
    ("imdb10", "imdb10.json", b"[" * 5000, "not JSON"),
    ("babi1", "qa1_single-supporting-fact_test.txt", b"Mary went home.\n", "NUMBER sentence"),
    ("babi1", "qa1_single-supporting-fact_test.txt", b"1 A b.\n2 Where?\toffice\n", "TAB"),
    ("babi1", "qa1_single-supporting-fact_test.txt", b"1 A b.\n2 Where?\tParis\t1\n", "'Paris'"),
    ("babi1", "qa1_single-supporting-fact_test.txt", b"1 A b.\n2 Where?\toffice\t7\n", "'7'"),
    ("diabetes", "DIAGNOSES_ICD.csv", csv_bytes("A,B", "1,2"), "no column 'HADM_ID'"),
    (
        "diabetes",
        "DIAGNOSES_ICD.csv",
        csv_bytes(",".join(CODE_HEADER), "1,1,x7,1,25000"),
        "admission id 'x7'",
    ),
    (
        "anemia",
        "NOTEEVENTS.csv",
        csv_bytes(",".join(NOTE_HEADER[:-1]), ",".join("1234567890")),
        "no column 'TEXT'",
    ),
]


@pytest.mark.parametrize(("corpus", "name", "content", "words"), WRONG_ROWS)
def test_wrong_columns_and_labels(
    corpus: str, name: str, content: bytes, words: str, tmp_path: Path
) -> None:
    assert words in load_broken(corpus, tmp_path, name, content)


ACUTE_ONLY = csv_bytes(",".join(CODE_HEADER), *(f"1,1,{100 + i},1,2851" for i in range(80)))


@pytest.mark.parametrize(
    ("corpus", "name", "content"),
    [
        ("yelp", "train.csv", b'"5","a fine thing"\n' * 50),
        ("imdb10", "imdb10.json", b'{"rating": 3, "review": "a film"}\n' * 50),
        (
            "snli",
            "snli_1.0_train.jsonl",
            b'{"gold_label": "neutral", "sentence1": "a b", "sentence2": "c"}\n' * 9,
        ),
        ("anemia", "DIAGNOSES_ICD.csv", ACUTE_ONLY),
    ],
)
def test_one_class_only(corpus: str, name: str, content: bytes, tmp_path: Path) -> None:
    message = load_broken(corpus, tmp_path, name, content)
    assert corpus in message
    assert "no document in train" in message


@pytest.mark.parametrize("texts", [2, 3], ids=["amazon", "yahoo"])
def test_empty_and_one_token_texts_are_dropped_and_counted(texts: int, tmp_path: Path) -> None:
    corpus = {2: "amazon", 3: "yahoo"}[texts]
    files = good_files(corpus)
    blank = ',""' * (texts - 1)
    files["train.csv"] += f'"1",""{blank}\n"2","one"{blank}\n'
    loaded = load_corpus(corpus, data=write(tmp_path, files))
    assert loaded.dropped == {"empty text": 1, "one token only": 1}


def test_an_empty_hypothesis_and_an_empty_premise(tmp_path: Path) -> None:
    files = good_files("snli")
    files["snli_1.0_train.jsonl"] += (
        '{"gold_label": "neutral", "sentence1": "a b", "sentence2": ""}\n'
        '{"gold_label": "neutral", "sentence1": " ", "sentence2": "a"}\n'
    )
    loaded = load_corpus("snli", data=write(tmp_path, files))
    assert loaded.dropped == {"empty query": 1, "empty text": 1}


@pytest.mark.parametrize(
    ("corpus", "option", "value"),
    [
        ("motif", "length", "abc"),
        ("motif", "length", "5"),
        ("motif", "length", "١٠٠"),
        ("motif", "noise", "2"),
        ("motif", "noise", "nan"),
        ("motif", "noise", ""),
        ("motif", "motifs", "0"),
        ("motif", "motifs", "-1"),
        ("motif", "documents", "1e3"),
        ("motif", "documents", "9" * 5000),
        ("babi1", "questions", "many"),
        ("babi3", "questions", "0"),
    ],
)
def test_impossible_options_repeat_the_value_and_name_the_range(
    corpus: str, option: str, value: str
) -> None:
    with pytest.raises(UserError) as caught:
        load_corpus(corpus, options={option: value})
    assert f"{option}={value}" in str(caught.value)
    assert " from " in str(caught.value)


def test_unknown_options_and_topics(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="did you mean 'length'"):
        load_corpus("motif", options={"lenght": "60"})
    yahoo = write(tmp_path, good_files("yahoo"))
    with pytest.raises(UserError, match="topics=3 is not possible"):
        load_corpus("yahoo", data=yahoo, options={"topics": "3"})


def test_lists_of_admissions_that_contradict(tmp_path: Path) -> None:
    folder = write(tmp_path, good_files("diabetes") | {"train_hadm_ids.csv": "101\n"})
    with pytest.raises(UserError, match="no dev_hadm_ids"):
        load_corpus("diabetes", data=folder)
    write(folder, {"dev_hadm_ids.csv": "101\n", "test_hadm_ids.csv": "102\n"})
    with pytest.raises(UserError, match="101 is also listed in train"):
        load_corpus("diabetes", data=folder)


def test_broken_samples(tmp_path: Path) -> None:
    write(tmp_path / "cnn", {"sample.txt": "no number here\n"})
    with pytest.raises(UserError, match="does not begin with a line number"):
        load_corpus("cnn", data=tmp_path)
    write(tmp_path / "yahoo", {"yahoo_test1000_10class.txt": "ten things\n"})
    with pytest.raises(UserError, match="label from 0 to 9"):
        load_corpus("yahoo", data=tmp_path)
    write(tmp_path / "yahoo", {f"yahoo_2class_{s}.csv": "a text,cats\n" for s in ("train", "test")})
    with pytest.raises(UserError, match="'cats'"):
        load_corpus("yahoo", data=tmp_path, options={"topics": "2"})
