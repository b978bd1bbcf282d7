"""Tests of labeled texts from data frames and files."""

import math
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from assay.data.frames import is_frame, texts_from_file, texts_from_frame
from assay.data.sampling import LimitedRows, LowestKeys, lowest_keys
from assay.errors import UserError

ROWS = {"text": ["Good film.", " Bad "], "label": [1, 0]}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_frame_keeps_its_texts_as_they_are(make):
    frame = make(ROWS)
    found = texts_from_frame(frame)
    assert is_frame(frame)
    assert found.texts == ("Good film.", "Bad")
    assert found.labels == ("1", "0")
    assert found.ids == ("row-1", "row-2")
    assert make.__module__.split(".")[0] in found.source


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_columns_are_named_or_recognized(make):
    frame = make({"review": ["a"], "stars": ["up"], "note": ["b"]})
    found = texts_from_frame(frame, {"text": "note", "label": "stars"})
    assert (found.texts, found.labels) == (("b",), ("up",))
    assert texts_from_frame(frame, {"label": "stars"}).texts == ("a",)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({}, "no column 'label'; found 'review', 'stars': pass label_column="),
        ({"text": "txt"}, "no column 'txt'; found 'review', 'stars': pass text_column="),
    ],
)
def test_a_missing_column_is_named_with_the_cure(columns, message):
    with pytest.raises(UserError, match=message):
        texts_from_frame(pd.DataFrame({"review": ["a"], "stars": ["up"]}), columns)


def test_rows_without_text_or_label_are_counted():
    frame = pd.DataFrame({"text": ["a", None, "b"], "label": [1.0, 0.0, math.nan]})
    found = texts_from_frame(frame)
    assert (found.texts, found.labels) == (("a",), ("1",))
    assert found.dropped == {"empty label": 1, "empty text": 1}
    with pytest.raises(UserError, match="no row to audit"):
        texts_from_frame(frame.iloc[1:])


def test_lists_are_tokens_and_marks_fit_the_words():
    frame = pl.DataFrame(
        {"text": ["A fine film", "Dull"], "label": ["y", "n"], "rationale": ["0 1 0", None]}
    )
    found = texts_from_frame(frame)
    assert found.texts == (("A", "fine", "film"), ("Dull",))
    assert found.rationales == ((False, True, False), None)
    tokens = pl.DataFrame({"text": [["a", "b"]], "label": ["y"]})
    assert texts_from_frame(tokens).texts == (("a", "b"),)
    assert not is_frame(ROWS)


def test_a_file_is_read_with_its_test_rows_only(tmp_path: Path):
    path = tmp_path / "mine.csv"
    path.write_text("opinion,class,split\nA b,x,train\nC d,y,test\nE f,x,test\n")
    found = texts_from_file(path)
    assert found.texts == ("C d", "E f")
    assert found.ids == ("row-2", "row-3")
    assert found.dropped == {"not test in the column 'split'": 1}
    assert (found.name, found.source) == ("mine.csv", "the file mine.csv")
    assert "'opinion' was taken for the text column" in found.notes[0]


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path):
    with pytest.raises(UserError, match="does not exist"):
        texts_from_file(tmp_path / "none.csv")
    with pytest.raises(UserError, match="is a folder"):
        texts_from_file(tmp_path)


def test_a_larger_limit_only_adds_rows():
    frame = pl.DataFrame({"text": [f"t{i}" for i in range(40)], "label": ["x"] * 40})
    whole = texts_from_frame(frame)
    small, large = whole.limited(5, seed=1), whole.limited(20, seed=1)
    assert len(small.ids) == 5
    assert set(small.ids) < set(large.ids)
    assert small.dropped == {"over the limit of 5": 35}
    assert whole.limited(5, seed=2).ids != small.ids
    assert whole.limited(None, seed=1) is whole


@pytest.mark.parametrize("limit", [1, 7, 39, 40, 60])
def test_a_limit_while_reading_leaves_the_same_rows(limit, tmp_path, monkeypatch):
    monkeypatch.setattr("assay.data.sampling.HELD", 10)
    path = tmp_path / "a.csv"
    lines = [f"text {i},{'xy'[i % 2]}" for i in range(40)]
    lines[3], lines[8] = ",x", "one,field,too many"
    path.write_text("\n".join(["text,label", *lines]) + "\n", encoding="utf-8")
    whole = texts_from_file(path, skip_bad_rows=True)
    streamed = texts_from_file(path, skip_bad_rows=True, limit=limit, seed=3)
    assert streamed == whole.limited(limit, 3)
    assert streamed.limited(limit, 3) is streamed


def test_rows_beyond_the_limit_are_not_held():
    chosen = LowestKeys[int](3, 1, "limit", most=8)
    largest = 0
    for number in range(500):
        chosen.add(f"row-{number}", number)
        largest = max(largest, len(chosen.held))
    assert largest == 8
    assert chosen.rows() == lowest_keys([f"row-{number}" for number in range(500)], 3, 1, "limit")
    assert chosen.left_out == 497


@pytest.mark.parametrize(("test", "train"), [(None, 5), (4, None), (3, 6), (1000, 7), (9, 1000)])
def test_limits_of_two_splits_while_reading_leave_the_same_rows(test, train, tmp_path, monkeypatch):
    monkeypatch.setattr("assay.data.sampling.HELD", 10)
    path = tmp_path / "a.csv"
    splits = ("test", "train", "dev", "train")
    lines = [f"text {i},{'xy'[i % 2]},{splits[i % 4]}" for i in range(80)]
    lines[3], lines[8] = ",x,train", "one,field,test,too many"
    path.write_text("\n".join(["text,label,split", *lines]) + "\n", encoding="utf-8")
    whole = texts_from_file(path, skip_bad_rows=True, training=True)
    limits = {"limit": test, "train_limit": train, "seed": 3}
    streamed = texts_from_file(path, skip_bad_rows=True, training=True, **limits)
    assert streamed == whole.limited(test, 3, train)
    sizes = {split: whole.splits.count(split) for split in ("test", "dev", "train")}
    assert streamed.splits.count("test") == min(test or 1000, sizes["test"])
    assert streamed.splits.count("train") == min(train or 1000, sizes["train"])
    assert streamed.splits.count("dev") == sizes["dev"]
    left_out = len(whole.ids) - len(streamed.ids)
    said = f"over the limits of {test or 'all'} test and {train or 'all'} training documents"
    assert streamed.dropped[said] == left_out
    audited = texts_from_file(path, skip_bad_rows=True, limit=test, seed=3)
    of_test = [row for row, split in enumerate(streamed.splits) if split == "test"]
    assert tuple(streamed.ids[row] for row in of_test) == audited.ids


def test_rows_beyond_the_limits_of_two_splits_are_not_held(monkeypatch):
    monkeypatch.setattr("assay.data.sampling.HELD", 8)
    chosen = LimitedRows[int](3, 2, seed=1)
    for number in range(300):
        chosen.add(f"row-{number}", ("test", "train", "dev")[number % 3], number)
        held = [len(part.held) for part in chosen._chosen.values()]
        assert max(held) <= 8
    kept = chosen.rows()
    assert kept == sorted(kept)
    assert len(kept) == 3 + 2 + 100
    assert chosen.left_out == 97 + 98
