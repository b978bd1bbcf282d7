"""Tests of the readers of reviews, topics and discharge summaries, on small files."""

import json
from collections import Counter
from pathlib import Path

import pytest

from assay.data.catalog import load_corpus
from assay.data.corpus import Corpus, Document, Raw, Request
from assay.data.formats import read_json_list
from assay.data.sources.mimic import read_diabetes
from assay.errors import UserError
from tests.builders.written_files import (
    CODE_HEADER,
    NOTE_HEADER,
    csv_text,
    good_files,
    note,
    pack,
    write,
)


def per_class(corpus: Corpus, part: tuple[Document, ...]) -> dict[str, int]:
    return dict(Counter(corpus.classes[document.label] for document in part))


def test_yelp_with_a_header_and_without_a_train_file(tmp_path: Path) -> None:
    rows = [["text", "label1", "label2"]]
    rows += [[f"Fine, {i}\\nindeed.", "x", f"Review Stars: {1 + i % 5}.0"] for i in range(50)]
    pack(write(tmp_path / "yelp", {f"{name}.csv": csv_text(rows) for name in ("dev", "test")}))
    corpus = load_corpus("yelp", data=tmp_path)
    assert corpus.notes == ("yelp: dev.csv.gz is used for training",)
    assert len(corpus.train) + len(corpus.dev) == 50
    assert per_class(corpus, corpus.test) == dict.fromkeys("12345", 10)
    assert corpus.test[0].tokens == ("fine", ",", "0", "indeed", ".")


def test_yahoo_samples(tmp_path: Path) -> None:
    names = ("society_culture", "science_mathematics")
    two = csv_text([[f"why is it so {i}", names[i % 2]] for i in range(40)])
    sample = "".join(f"{i % 10} Why is it so, {i}?\n" for i in range(100))
    files = {f"yahoo_2class_{split}.csv": two for split in ("train", "test")}
    pack(write(tmp_path / "yahoo", files | {"yahoo_test1000_10class.txt": sample}))
    ten = load_corpus("yahoo", data=tmp_path)
    documents = ten.train + ten.dev + ten.test
    counts = per_class(ten, documents)
    assert (counts["Society & Culture"], counts["Sports"], len(counts)) == (10, 10, 10)
    assert "assay split it" in ten.notes[0]
    halves = load_corpus("yahoo", data=tmp_path, options={"topics": "2"})
    assert halves.classes == ("Science & Mathematics", "Society & Culture")
    assert (len(halves.train) + len(halves.dev), len(halves.test)) == (40, 40)


@pytest.mark.parametrize(
    ("corpus", "folder", "tokens"),
    [
        ("yelp", "yelp_review_full_csv", "a fine thing"),
        ("amazon", "amazon_review_full_csv", "a fine thing and cheap indeed"),
        ("yahoo", "yahoo_answers_csv", "why is it so because"),
    ],
)
def test_class_files_as_published(corpus: str, folder: str, tokens: str, tmp_path: Path) -> None:
    pack(write(tmp_path / folder, good_files(corpus)))
    loaded = load_corpus(corpus, data=tmp_path)
    assert loaded.test[0].tokens == tuple(tokens.split())
    assert len(loaded.test) == len(loaded.train) + len(loaded.dev) == 100
    assert set(per_class(loaded, loaded.dev)) == set(loaded.classes)


@pytest.mark.parametrize("lines", [False, True], ids=["list", "one object per line"])
def test_imdb10(lines: bool, tmp_path: Path) -> None:
    rows = json.loads(good_files("imdb10")["imdb10.json"])
    rows += [{"rating": None, "review": "no stars .", "title": "Y"}]
    rows += [{"rating": 8.0, "review": "", "title": "Y"}]
    text = "\n".join(map(json.dumps, rows)) if lines else json.dumps(rows, indent=1)
    pack(write(tmp_path / "imdb10", {"imdb10.json": text}))
    corpus = load_corpus("imdb10", data=tmp_path)
    assert corpus.classes == tuple(str(i) for i in range(1, 11))
    assert corpus.dropped == {"empty text": 1, "no rating": 1}
    assert len(corpus.train) + len(corpus.dev) + len(corpus.test) == 300
    assert corpus.train[0].tokens == ("a", "long", "film", ".")


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "byte order mark"])
def test_json_lists_with_brackets_and_quotes_inside_strings(mark: str, tmp_path: Path) -> None:
    rows = [{"text": 'é\\"]},{[' * i, "n": i} for i in range(40)]
    path = tmp_path / "rows.json"
    path.write_text(mark + json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    assert list(read_json_list(path)) == rows
    path.write_text(mark + "\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert list(read_json_list(path)) == rows


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b'[{"a": 1}, {"a"', r"is truncated \(.*line 1 column 16"),
        (b'[{"a": 1}, 2]', "object 2 is not a JSON object"),
        (b"3", "is not a list of JSON objects"),
        (b'[{"a": 1}, {"a": {"b": "\\udc00"}}]', "object 2 holds half of a surrogate pair"),
        (b'[{"a": "\xe9"}]', r"byte 9 \(0xe9\) is not UTF-8 text"),
    ],
)
def test_broken_json_lists(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_bytes(content)
    with pytest.raises(UserError, match=message):
        list(read_json_list(path))


def mimic(folder: Path, notes: list[list[str]], codes: dict[str, list[str]]) -> Path:
    rows = [["1", "1", hadm, "1", code] for hadm, found in codes.items() for code in found]
    files = {
        "NOTEEVENTS.csv": csv_text([NOTE_HEADER, *notes]),
        "DIAGNOSES_ICD.csv": csv_text([CODE_HEADER, *rows]),
    }
    return write(folder, files)


def test_notes_are_selected_joined_and_cleaned(tmp_path: Path) -> None:
    notes = [
        note("7", "second\nline", DESCRIPTION="Addendum", CHARTDATE="2101-01-03"),
        note("7", "first addendum", DESCRIPTION="Addendum", CHARTDATE="2101-01-02"),
        note("7", 'on [**2101-1-1**] by\n[**Name\n(NI)**], "well" 120mg', CHARTDATE="2101-01-09"),
        note("7", "an error", ISERROR="1"),
        note("7", "x ray", CATEGORY="Radiology"),
        note("", "whose"),
        note("8", "another stay"),
    ]
    folder = mimic(tmp_path, notes, {"7": ["4019", "25000"], "8": ["25001"], "9": ["25000"]})
    request = Request(data=folder)
    found = {raw.id: raw for raw in read_diabetes(request)}
    joined = 'on deidentified by deidentified , " well " qqq first addendum second line'
    assert found["7"].tokens == tuple(joined.split())
    assert {key: raw.label for key, raw in found.items()} == {"7": "diabetes", "8": "other"}
    assert request.dropped == {
        "note marked as an error": 1,
        "discharge summary without admission id": 1,
        "admission without discharge summary": 1,
    }
    assert request.notes == [
        "diabetes: the folder has no lists of admission ids, so assay split by patient"
    ]


def test_lists_of_admissions_give_the_splits(tmp_path: Path) -> None:
    folder = mimic(tmp_path, [note(str(i), "a b c d e f g") for i in range(9)], {"1": ["25000"]})
    lists = {"train": "HADM_ID\n0\n1\n", "dev": "2\n3\n", "test": "4\n5.0\n"}
    write(folder, {f"{split}_50_hadm_ids.csv": ids for split, ids in lists.items()})
    raws: list[Raw] = list(read_diabetes(Request(data=folder)))
    assert [raw.split for raw in raws] == ["train", "train", "dev", "dev", "test", "test"]
    assert [raw.label for raw in raws] == ["other", "diabetes", *["other"] * 4]


def test_anemia_takes_exactly_one_of_the_two(tmp_path: Path) -> None:
    kinds = [["2851"], ["28521"], ["2851", "28522"], ["2859"]]
    codes = {str(100 + i): kinds[i % 4] for i in range(80)}
    notes = [note(hadm, "the blood was low") for hadm in codes]
    pack(mimic(tmp_path / "mimic", notes, codes))
    corpus = load_corpus("anemia", data=tmp_path)
    everything = corpus.train + corpus.dev + corpus.test
    assert per_class(corpus, everything) == {"acute": 20, "chronic": 20}
    assert corpus.classes == ("chronic", "acute")
    assert (len(corpus.test), len(corpus.dev)) == (8, 5)
    assert corpus.dropped == {"both acute and chronic": 20}


def test_diabetes_keeps_a_patient_in_one_split_and_filters_by_length(tmp_path: Path) -> None:
    codes = {str(i): ["25000"] if i % 2 else ["4019"] for i in range(100)}
    notes = [note(hadm, "a b c d e f g", SUBJECT_ID=str(int(hadm) // 2)) for hadm in codes]
    notes += [note("200", "too short"), note("201", "w " * 4000)]
    folder = mimic(tmp_path / "mimic", notes, codes | {"200": ["25000"], "201": ["25000"]})
    corpus = load_corpus("diabetes", data=folder)
    assert corpus.dropped == {"4000 tokens or more": 1, "6 tokens or fewer": 1}
    patients = [{int(d.id) // 2 for d in part} for part in (corpus.train, corpus.dev, corpus.test)]
    assert sum(map(len, patients)) == len(set.union(*patients)) == 50


def test_a_header_in_lower_case_as_in_the_demo(tmp_path: Path) -> None:
    files = good_files("anemia")
    lower = {}
    for name, text in files.items():
        header = text.splitlines()[0]
        lower[name] = text.replace(header, header.lower(), 1)
    corpus = load_corpus("anemia", data=write(tmp_path, lower))
    assert len(corpus.train) + len(corpus.dev) + len(corpus.test) == 40
