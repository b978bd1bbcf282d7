"""Tests of files as users have them: delimiters, encodings, scripts, malformed or damaged."""

import random
from pathlib import Path

import polars as pl
import pytest

from assay.data.catalog import load_corpus
from assay.data.corpus import Corpus
from assay.data.parquet import parquet_columns, read_parquet_rows
from assay.data.rows import LARGEST_FIELD, BadRows, find_delimiter, read_csv_rows
from assay.data.tokenizers import characters, choose_tokenizer
from assay.errors import UserError
from tests.builders import small_corpora as small


def table(path: Path, **options: str) -> Corpus:
    return load_corpus(
        "table", data=path, options={k.replace("_", "-"): options[k] for k in options}
    )


def delimited(delimiter: str) -> str:
    rows = [f"{row['label']}{delimiter}{row['text']}" for row in small.rows()]
    return "\n".join([f"label{delimiter}text", *rows]) + "\n"


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_usual_delimiters_are_found(delimiter: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(delimited(delimiter), encoding="utf-8")
    corpus = table(path)
    other = tmp_path / "b.csv"
    other.write_text(delimited(","), encoding="utf-8")
    assert corpus.fingerprint == table(other).fingerprint
    told = [note for note in corpus.notes if "delimiter" in note]
    assert bool(told) == (delimiter in ";|")


def test_semicolons_in_json_lines_are_no_delimiter(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows = [{**row, "text": f"{row['text']} ; ; ; ;"} for row in small.rows()]
    path.write_text(small.json_text(rows), encoding="utf-8")
    assert table(path).notes == ()


def test_a_delimiter_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(delimited("#"), encoding="utf-8")
    assert len(table(path, delimiter="#").classes) == 2
    with pytest.raises(UserError, match="delimiter '##' is not possible"):
        table(path, delimiter="##")


def test_delimiters_inside_quotes_do_not_count() -> None:
    assert find_delimiter('"a,b,c,d";label') == ";"
    assert find_delimiter("text") == ","


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32"])
def test_encodings(encoding: str, tmp_path: Path) -> None:
    text = delimited(",").replace("a", "é")
    plain, encoded = tmp_path / "a.csv", tmp_path / "b.csv"
    plain.write_text(text, encoding="utf-8")
    encoded.write_bytes(text.encode(encoding))
    assert table(encoded, encoding=encoding).fingerprint == table(plain).fingerprint


def test_a_wrong_encoding_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(delimited(",").replace("a", "é").encode("latin-1"))
    with pytest.raises(UserError, match="--encoding"):
        table(path)
    with pytest.raises(UserError, match="there is no encoding 'martian'"):
        table(path, encoding="martian")


@pytest.mark.parametrize("start", [b"PK\x03\x04rest", b"\xd0\xcf\x11\xe0rest"])
def test_workbooks_are_refused_with_the_cure(start: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(start)
    with pytest.raises(UserError, match="save the table as CSV"):
        table(path)


def test_malformed_rows_are_skipped_counted_and_listed(tmp_path: Path) -> None:
    lines = delimited(",").splitlines()
    lines.insert(3, "0,one,field,too,many")
    lines.insert(9, '1,a "stray" quote, here"')
    path, clean = tmp_path / "a.csv", tmp_path / "b.csv"
    path.write_bytes("\n".join(lines).encode() + b"\n0,not \xff utf-8\n")
    clean.write_text(delimited(","), encoding="utf-8")
    with pytest.raises(UserError, match="line 4: 5 fields"):
        table(path)
    corpus = table(path, skip_bad_rows="yes")
    assert corpus.dropped["malformed row"] == 3
    (note,) = [note for note in corpus.notes if "malformed" in note]
    assert "line 4" in note
    assert "3 malformed rows" in note
    kept, whole = ({d.tokens for d in c.train + c.dev + c.test} for c in (corpus, table(clean)))
    assert kept == whole


def write_with_stray_quotes(path: Path, quoted: str) -> list[str]:
    """A file with a quote that opens in line 3 and `quoted` five rows later; returns good texts."""
    rows = [f"{i % 2},good text number {i}" for i in range(40)]
    lines = ["label,text", rows[0], '1,"never closed', *rows[1:6], quoted, *rows[6:]]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [row.split(",")[1] for row in rows]


@pytest.mark.parametrize("quoted", ['0,"good, quoted"', "0,plain", '0,the end of "it"', '0,end"'])
def test_a_stray_quote_spoils_its_own_line_alone(quoted: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    good = write_with_stray_quotes(path, quoted)
    faults = BadRows()
    read = [row[0] for row in read_csv_rows(path, ["text"], on_bad_row=faults)]
    fifth = quoted.split(",", 1)[1]
    assert read == [*good[:6], fifth.strip('"') if fifth[0] == '"' else fifth, *good[6:]]
    assert len(faults.faults) == 1
    assert "line 3" in faults.faults[0]


def test_lines_of_a_row_with_too_many_fields_are_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('a,b\n1,"x\n2,good\n3,y",z\n4,w\n', encoding="utf-8")
    faults = BadRows()
    read = list(read_csv_rows(path, ["a", "b"], on_bad_row=faults))
    assert read == [["2", "good"], ["4", "w"]]
    assert ["line 2" in faults.faults[0], "line 4" in faults.faults[1]] == [True, True]


def test_texts_of_many_lines_stay_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    note = "first line\n\nsecond, with a comma\nthird\nfourth, with one\nlast"
    path.write_text(f'label,text\n1,"{note}"\n0,b\n', encoding="utf-8")
    faults = BadRows()
    assert [row[0] for row in read_csv_rows(path, ["text"], on_bad_row=faults)] == [note, "b"]
    assert faults.faults == []


def test_a_field_has_a_largest_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert LARGEST_FIELD == 16 * 2**20
    monkeypatch.setattr("assay.data.rows.LARGEST_FIELD", 1000)
    path = tmp_path / "a.csv"
    long = "x" * 1000
    path.write_text(f"label,text\n1,{long}\n0,{long}y\n1,b\n", encoding="utf-8")
    with pytest.raises(UserError, match="line 3: a text of more than 1,000 characters"):
        list(read_csv_rows(path, ["text"]))
    faults = BadRows()
    read = [row[0] for row in read_csv_rows(path, ["text"], on_bad_row=faults)]
    assert read == [long, "b"]
    assert len(faults.faults) == 1


def test_an_unclosed_quote_holds_no_more_than_a_field(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.data.rows.LARGEST_FIELD", 1000)
    path = tmp_path / "a.csv"
    rows = [f"{i % 2},good text number {i}" for i in range(500)]
    path.write_text("\n".join(["label,text", '1,"never', *rows]) + "\n", encoding="utf-8")
    faults = BadRows()
    assert len(list(read_csv_rows(path, ["text"], on_bad_row=faults))) == 500
    assert ["line 2" in fault for fault in faults.faults] == [True]


def test_repeated_documents_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = [f"{row['label']},{row['text']}" for row in small.rows()]
    assert not any("same text" in note for note in table_of(path, rows).notes)
    text = rows[0].split(",", 1)[1]
    again = [*rows, rows[0], rows[1], f"{1 - int(rows[0][0])},{text}"]
    assert table_of(path, again).notes == (
        f"table: 5 of {len(again)} documents have the same text as another one; 3 of them occur "
        "with different labels",
    )


def test_near_duplicates_and_test_documents_of_training_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rng = random.Random(0)
    letters = "abcdefghijklmnopqrstuvwxyz"
    texts = [" ".join("".join(rng.choices(letters, k=6)) for _ in range(40)) for _ in range(40)]
    rows = [f"{i % 2},{text}" for i, text in enumerate(texts)]
    near = table_of(path, [*rows, f"{rows[0]} once more"])
    assert near.notes == (
        "table: 2 of 41 documents nearly repeat another one, which stands in the same split",
    )
    splits = [("train", "dev", "test")[i % 3] for i in range(39)]
    lines = [f"{row},{split}" for row, split in zip(rows, splits, strict=False)]
    lines += [f"{rows[0]},test", f"{rows[3]},test", f"{rows[1]},dev"]
    path.write_text("\n".join(["label,text,split", *lines]), encoding="utf-8")
    assert table(path).notes == (
        "table: 6 of 42 documents have the same text as another one",
        "table: 2 of 15 test documents have the same text as a training document, so the test "
        "split measures memory too",
    )


def table_of(path: Path, rows: list[str]) -> Corpus:
    path.write_text("\n".join(["label,text", *rows]) + "\n", encoding="utf-8")
    return table(path)


def test_malformed_json_lines_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    text = small.json_text(small.rows())
    path.write_text(text + '{"text": "broken\n[1, 2]\n', encoding="utf-8")
    with pytest.raises(UserError, match="is not JSON"):
        table(path)
    assert table(path, skip_bad_rows="yes").dropped["malformed row"] == 2


def test_a_script_without_spaces_is_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "zh.csv"
    rng = random.Random(0)
    letters = [chr(code) for code in range(0x4E00, 0x4F00)]
    rows = [f"{i % 2},{''.join(rng.choices(letters, k=9))} {'好坏'[i % 2]}" for i in range(60)]
    path.write_text("\n".join(["label,text", *rows]), encoding="utf-8")
    corpus = table(path)
    assert any("script without spaces" in note for note in corpus.notes)
    by_character = table(path, tokenizer="characters")
    assert not any("script without spaces" in note for note in by_character.notes)
    assert all(len(token) == 1 for token in by_character.train[0].tokens)


@pytest.mark.parametrize("count", [60, 40], ids=["all", "most"])
def test_sentences_that_would_be_one_item_are_refused_with_the_cure(
    count: int, tmp_path: Path
) -> None:
    """They would be left out as too short, and nothing would say why."""
    path = tmp_path / "zh.csv"
    rng = random.Random(0)
    letters = [chr(code) for code in range(0x4E00, 0x4F00)]
    rows = [f"{i % 2},{''.join(rng.choices(letters, k=9))}" for i in range(count)]
    rows += [f"{i % 2},{''.join(rng.choices(letters, k=9))} 好" for i in range(60 - count)]
    path.write_text("\n".join(["label,text", *rows]), encoding="utf-8")
    with pytest.raises(UserError, match=r"script without spaces: pass --tokenizer characters"):
        table(path)
    assert len(table(path, tokenizer="characters").classes) == 2


def test_characters_keep_their_combining_marks() -> None:
    assert characters("E\u0301a b") == ("e\u0301", "a", "b")


def test_a_tokenizer_of_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_own_tokenizer.py").write_text(
        "def split(text): return text.upper().split()\ndef wrong(text): return 3\n", "utf-8"
    )
    path = tmp_path / "a.csv"
    path.write_text(delimited(","), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    tokens = table(path, tokenizer="my_own_tokenizer:split").train[0].tokens
    assert all(token == token.upper() for token in tokens)
    for name, message in {
        "my_own_tokenizer:wrong": "return a list of strings",
        "my_own_tokenizer:splits": "did you mean 'split'",
        "no_such_module:split": "no module 'no_such_module'",
        "letters": "there is no tokenizer 'letters'",
        "no/tokenizer.json": "there is no such file",
    }.items():
        with pytest.raises(UserError, match=message):
            table(path, tokenizer=name)


def test_the_tokenizer_file_of_a_model(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = {word: i for i, word in enumerate(("[UNK]", "f", "##oo", "##ilm"))}
    tokenizer = Tokenizer(models.WordPiece(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    path = tmp_path / "a.csv"
    path.write_text(delimited(",").replace(" a ", " film "), encoding="utf-8")
    corpus = table(path, tokenizer=str(tmp_path / "tokenizer.json"))
    found = {token for document in corpus.train for token in document.tokens}
    assert {"f", "ilm"} <= found
    assert "film" not in found
    assert table(path, tokenizer=f"hf:{tmp_path}").fingerprint == corpus.fingerprint


def test_the_tokenizer_of_a_downloaded_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(UserError, match="run hf download someone/model tokenizer"):
        choose_tokenizer("hf:someone/model")
    with pytest.raises(UserError, match="no such folder"):
        choose_tokenizer("hf:./not/a/folder")
    (tmp_path / "bare").mkdir()
    with pytest.raises(UserError, match="the folder has no tokenizer"):
        choose_tokenizer(f"hf:{tmp_path / 'bare'}")
    stored = tmp_path / "models--someone--model"
    (stored / "snapshots" / "abc").mkdir(parents=True)
    (stored / "refs").mkdir()
    (stored / "refs" / "main").write_text("abc")
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(stored / "snapshots" / "abc" / "tokenizer.json"))
    assert choose_tokenizer("hf:someone/model")("A film.") == ("A", "film", ".")


def test_parquet_rows_come_from_a_process_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    frame = pl.DataFrame({"text": ["é\nx", None], "n": [1.5, float("nan")], "l": [["a"], []]})
    frame.with_columns(b=pl.lit(b"bytes")).write_parquet(path)
    assert parquet_columns(path) == ["text", "n", "l"]
    first, second = read_parquet_rows(path, ["l", "text", "n"])
    assert first == [["a"], "é\nx", 1.5]
    assert second[:2] == [[], None]


MUTATIONS = 12  # a file takes most of a second, because a process is started for each


def test_a_damaged_parquet_file_is_a_sentence_and_never_an_abort(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pl.DataFrame(small.rows() * 20).write_parquet(path)
    whole = path.read_bytes()
    rng = random.Random(0)
    refused: list[str] = []
    for _ in range(MUTATIONS):
        damaged = bytearray(whole)
        for _ in range(rng.randint(1, 6)):  # mostly in the footer, where lengths are
            start = max(0, len(damaged) - 300) if rng.random() < 0.8 else 0
            damaged[rng.randrange(start, len(damaged))] = rng.randrange(256)
        path.write_bytes(damaged)
        try:
            list(read_parquet_rows(path, ["text", "label"]))
        except UserError as fault:
            refused.append(str(fault))
    assert len(refused) > MUTATIONS // 2
    assert all("truncated or damaged Parquet file" in message for message in refused)
