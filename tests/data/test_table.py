"""Tests of the user's own table: formats, columns, guesses and errors."""

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from assay.data.catalog import load_corpus
from assay.data.corpus import Corpus
from assay.errors import UserError
from tests.builders import small_corpora as small

Rows = list[dict[str, Any]]


def write(path: Path, rows: Rows) -> Path:
    kind = path.name.removesuffix(".gz").rsplit(".", 1)[1]
    if kind == "parquet":
        pl.DataFrame(rows).write_parquet(path)
        return path
    if kind == "jsonl":
        text = small.json_text(rows)
    else:
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, list(rows[0]), delimiter="\t" if kind == "tsv" else ",")
            writer.writeheader()
            writer.writerows(rows)
        text = path.read_text(encoding="utf-8")
    path.write_bytes(gzip.compress(text.encode()) if path.name.endswith(".gz") else text.encode())
    return path


def load(path: Path, rows: Rows, **options: str) -> Corpus:
    named = {f"{name}-column": column for name, column in options.items()}
    return load_corpus("table", data=write(path, rows), options=named)


def renamed(rows: Rows, **names: str) -> Rows:
    return [{names.get(key, key): value for key, value in row.items()} for row in rows]


FORMATS = ["a.csv", "a.tsv", "a.jsonl", "a.csv.gz", "a.tsv.gz", "a.jsonl.gz", "a.parquet"]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_corpus(name: str, tmp_path: Path) -> None:
    rows = [{**row, "text": f'{row["text"]}, "quoted" é'} for row in small.rows()]
    corpus = load(tmp_path / name, rows)
    expected = load(tmp_path / "expected.csv", rows)
    assert corpus.fingerprint == expected.fingerprint
    assert corpus.classes == ("0", "1")
    assert (corpus.task, corpus.notes) == ("classification", ())
    assert corpus.train[0].id.startswith("row-")


def test_columns_the_user_names(tmp_path: Path) -> None:
    rows = [
        {
            "id": f"x{i}",
            "note": row["text"],
            "text": "not this",
            "kind": row["label"],
            "label": "nor this",
        }
        for i, row in enumerate(small.rows())
    ]
    corpus = load(tmp_path / "a.csv", rows, text="note", label="kind")
    assert corpus.classes == ("0", "1")
    assert "thing" in corpus.vocabulary.index
    assert corpus.notes == ()


@pytest.mark.parametrize(
    ("names", "guesses"),
    [
        ({"text": "Review", "label": "sentiment"}, ["'Review'", "'sentiment'"]),
        ({"text": "what they wrote", "label": "how"}, ["'what they wrote'", "'how'"]),
    ],
)
def test_guesses_are_noted(names: dict[str, str], guesses: list[str], tmp_path: Path) -> None:
    rows = [{"number": i, **row, "year": "2019"} for i, row in enumerate(small.rows())]
    corpus = load(tmp_path / "a.csv", renamed(rows, **names))
    assert corpus.classes == ("0", "1")
    assert len(corpus.notes) == 2
    assert all(name in sentence for name, sentence in zip(guesses, corpus.notes, strict=True))


def test_a_second_text_makes_a_pair(tmp_path: Path) -> None:
    rows = [
        {"premise": row["text"], "hypothesis": f"they liked it {i}", "label": row["label"]}
        for i, row in enumerate(small.rows())
    ]
    corpus = load(tmp_path / "a.csv", rows)
    assert corpus.task == "pair"
    assert corpus.train[0].query[:3] == ("they", "liked", "it")
    assert "'hypothesis' was taken for the query column" in corpus.notes[1]
    named = load(tmp_path / "b.csv", renamed(rows, hypothesis="other"), query="other")
    assert named.fingerprint == corpus.fingerprint


def test_a_split_column_with_usual_names(tmp_path: Path) -> None:
    names = ["training", "train", "Validation", "val", "TEST", "test"]
    rows = [{**row, "split": names[i % 6]} for i, row in enumerate(small.rows())]
    corpus = load(tmp_path / "a.csv", rows)
    assert [len(part) for part in (corpus.train, corpus.dev, corpus.test)] == [14, 14, 12]


@pytest.mark.parametrize("written", ["list", "blanks", "json"])
def test_rationales_fit_the_blank_separated_tokens(written: str, tmp_path: Path) -> None:
    rows: Rows = []
    for row in small.rows():
        marks = [int(token in ("fine", "dull")) for token in row["text"].split()]
        cell = {"list": marks, "blanks": " ".join(map(str, marks)), "json": json.dumps(marks)}
        rows.append({**row, "rationale": cell[written]})
    path = tmp_path / ("a.parquet" if written == "list" else "a.csv")
    corpus = load(path, rows)
    for document in corpus.train:
        assert document.rationale is not None
        marked = [t for t, m in zip(document.tokens, document.rationale, strict=True) if m]
        assert marked in (["fine"], ["dull"])


def test_a_rationale_of_the_wrong_length_is_reported_with_its_row(tmp_path: Path) -> None:
    rows = [{**row, "rationale": ""} for row in small.rows()]
    assert load(tmp_path / "a.csv", rows).train[0].rationale is None
    rows[6]["rationale"] = "0 1"
    with pytest.raises(
        UserError, match=r'row 7: the rationale \["0", "1"\] does not fit the 11 to'
    ):
        load(tmp_path / "a.csv", rows)


def test_lists_of_tokens_are_kept(tmp_path: Path) -> None:
    rows = [
        {"tokens": ["AC-GT", str(i), row["text"][:9]], "label": row["label"]}
        for i, row in enumerate(small.rows())
    ]
    corpus = load(tmp_path / "a.jsonl", rows)
    assert all(d.tokens[0] == "AC-GT" and len(d.tokens) == 3 for d in corpus.train)


def test_empty_cells_are_dropped_and_counted(tmp_path: Path) -> None:
    rows = small.rows()
    rows += [
        {"text": "", "label": "1"},
        {"text": "  ", "label": "1"},
        {"text": "word", "label": "0"},
    ]
    rows += [{"text": "no label here", "label": ""}]
    corpus = load(tmp_path / "a.csv", rows)
    assert dict(corpus.dropped) == {"empty text": 2, "empty label": 1, "one token only": 1}
    nulls: Rows = [{"text": r["text"], "label": float(r["label"])} for r in small.rows()]
    nulls += [{"text": None, "label": 1.0}, {"text": "lost label", "label": float("nan")}]
    corpus = load(tmp_path / "a.parquet", nulls)
    assert corpus.classes == ("0", "1")  # 1.0 is 1
    assert dict(corpus.dropped) == {"empty text": 1, "empty label": 1}


def test_labels_may_be_any_words(tmp_path: Path) -> None:
    rows = [
        {**row, "label": {"0": "très mauvais", "1": "ok, fine"}[row["label"]]}
        for row in small.rows()
    ]
    assert load(tmp_path / "a.csv", rows).classes == ("ok, fine", "très mauvais")


def test_repeated_rows_share_a_split(tmp_path: Path) -> None:
    corpus = load(tmp_path / "a.csv", small.rows() * 3)
    parts = [{d.tokens for d in part} for part in (corpus.train, corpus.dev, corpus.test)]
    assert all(parts)
    assert len(set.union(*parts)) == sum(map(len, parts))


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (
            {"text": "review"},
            {"text": "text"},
            "no column 'text'; found 'review', 'label': pass --text-column review",
        ),
        ({}, {"label": "lable"}, "'lable'; found 'text', 'label': pass --label-column label"),
        ({}, {"split": "fold"}, "'fold'; found 'text', 'label': leave out --split-column"),
    ],
)
def test_a_wrong_column_is_reported_with_the_likely_one(
    columns: dict[str, str], options: dict[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError) as error:
        load(tmp_path / "a.csv", renamed(small.rows(), **columns), **options)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("text\nonly one column\n", "no column looks like the label; found 'text': pass --label-"),
        ("text,text\na b,c d\n", "two columns 'text': rename"),
        ('[{"text": "a b", "label": 1}]', "one JSON list: write one object per line"),
        ("so good,1\nso bad,0\nnot bad,1\n", "first row looks like data"),
        ("text,label\n", "no documents are left. The files contain no documents"),
    ],
)
def test_a_table_that_cannot_be_understood(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(UserError) as error:
        load_corpus("table", data=path)
    assert message in str(error.value)


def test_rows_that_all_repeat_each_other_cannot_be_split(tmp_path: Path) -> None:
    same = "dear customer your parcel waits at the post office until noon bring this letter"
    rows = [{"text": f"{same} {i}", "label": str(i % 2)} for i in range(40)]
    with pytest.raises(
        UserError, match=r"the 20 documents of the class '0' nearly.*--split-column"
    ):
        load(tmp_path / "a.csv", rows)


def test_an_unknown_split_is_reported_with_its_row(tmp_path: Path) -> None:
    rows = [{**row, "split": "train"} for row in small.rows()]
    rows[2]["split"] = "holdout"
    with pytest.raises(UserError, match="row 3: the split 'holdout' is none of train, dev, test"):
        load(tmp_path / "a.csv", rows)


@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
def test_a_truncated_parquet_is_an_error(share: float, tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", small.rows())
    content = path.read_bytes()
    path.write_bytes(content[: max(int(len(content) * share), 8)])
    with pytest.raises(UserError, match="truncated or damaged Parquet"):
        load_corpus("table", data=path)
