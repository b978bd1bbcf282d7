"""Tests of reading files and tar archives, intact and broken."""

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from assay.data.archives import read_folder_texts, read_tar_texts, read_texts
from assay.data.files import find_file, read_lines
from assay.data.rows import read_csv_rows, read_json_lines
from assay.errors import UserError
from tests.builders.small_corpora import write_members, write_tar


def put(folder: Path, content: bytes, name: str = "file.txt") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("packed", [False, True])
def test_gzip_is_recognized_by_content_not_by_name(tmp_path: Path, packed: bool) -> None:
    content = "\ufeffone\r\ntwo\u2028still two\n\nfour".encode()
    path = put(tmp_path, gzip.compress(content) if packed else content, "named.gz")
    assert list(read_lines(path)) == ["one", "two\u2028still two", "", "four"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (gzip.compress(b""), "is empty"),
        (gzip.compress(b"hello world\n" * 99)[:-9], "truncated or damaged gzip"),
        (gzip.compress(b"hello world\n" * 99)[:20] + b"\0" * 30, "truncated or damaged gzip"),
        (b"fine\nna\xefve\n", "line 2: byte 3 (0xef) is not UTF-8 text: convert the file to UTF-8"),
        (b"\xff\xfea\0b\0", "line 1: byte 1 (0xff)"),
        (b"MZ\0\0\x01", "binary data"),
    ],
    ids=["empty", "empty gzip", "cut gzip", "damaged gzip", "not UTF-8", "UTF-16", "binary"],
)
def test_a_broken_file_is_reported_with_its_path(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = put(tmp_path, content)
    with pytest.raises(UserError) as error:
        list(read_lines(path))
    assert message in str(error.value)
    assert str(path) in str(error.value)


def test_missing_file_and_folder_in_its_place(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no file .*nowhere\.txt: check the path"):
        list(read_lines(tmp_path / "nowhere.txt"))
    with pytest.raises(UserError, match="cannot be read"):
        list(read_lines(tmp_path))


def test_csv_rows_with_and_without_header(tmp_path: Path) -> None:
    path = put(tmp_path, b'a,b,c\n1,"two ""2"",\nlines",3\n\n4,5,6\n')
    assert next(read_csv_rows(path)) == ["a", "b", "c"]
    assert list(read_csv_rows(path, ("c", "b"))) == [["3", 'two "2",\nlines'], ["6", "5"]]


def test_tab_separated_without_quoting(tmp_path: Path) -> None:
    path = put(tmp_path, b'x\ty\n"odd\tquote"s\n')
    assert list(read_csv_rows(path, ("y",), "\t", quoted=False)) == [['quote"s']]


def test_a_field_beyond_the_csv_modules_limit(tmp_path: Path) -> None:
    path = put(tmp_path, b"text\n" + b"x" * 200_000 + b"\n")
    assert len(next(read_csv_rows(path, ("text",)))[0]) == 200_000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'a,b\n1,2\n3,"never closed\n5,6\n', "line 3: an unclosed or stray quote"),
        (b'a,b\n1,2\n3,"never closed\n5,"6"\n', "line 3: an unclosed or stray quote"),
        (b"a,b\n1,2\n1,2,3\n", "line 3: 3 fields, but the header has 2"),
        (b"a,c\n1,2\n", "no column 'b'; found 'a', 'c'"),
        (b"\n\n", "is empty"),
    ],
)
def test_a_broken_csv_is_reported_with_its_line(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = put(tmp_path, content)
    with pytest.raises(UserError) as error:
        list(read_csv_rows(path, ("a", "b")))
    assert message in str(error.value)
    assert str(path) in str(error.value)


def test_json_lines(tmp_path: Path) -> None:
    path = put(tmp_path, b'{"a": 1}\n\n{"a": "\\u00e9"}\n')
    assert list(read_json_lines(path)) == [{"a": 1}, {"a": "é"}]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{oops", "is not JSON"),
        (b"[1]", "is not a JSON object"),
        (b'{"a": "\\ud800"}', "half of a surrogate pair"),
        (b"[" * 100_000, "is not JSON"),
    ],
)
def test_broken_json_lines(tmp_path: Path, line: bytes, message: str) -> None:
    path = put(tmp_path, b'{"a": 1}\n' + line + b"\n")
    with pytest.raises(UserError, match=f"line 2.*{message}"):
        list(read_json_lines(path))


def test_find_file_takes_plain_before_gzip(tmp_path: Path) -> None:
    assert find_file(tmp_path, "a.txt") is None
    packed = put(tmp_path, b"", "a.txt.gz")
    assert find_file(tmp_path, "b.txt", "a.txt") == packed
    plain = put(tmp_path, b"", "a.txt")
    assert find_file(tmp_path, "a.txt") == plain


MEMBERS = {"./top/a.txt": b"one", "top/sub/b.txt": "zw\xf6lf".encode("latin-1"), "top/c.bin": b"\0"}


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_tar_members_as_a_stream(tmp_path: Path, mode: str) -> None:
    path = write_tar(tmp_path / "archive", MEMBERS, mode)
    found = list(read_tar_texts(path, "latin-1", lambda name: name.endswith(".txt")))
    assert found == [("top/a.txt", "one"), ("top/sub/b.txt", "zwölf")]
    assert sorted(tmp_path.iterdir()) == [path]  # nothing was unpacked


def test_a_folder_gives_what_its_archive_gives(tmp_path: Path) -> None:
    folder = write_members(tmp_path / "folder", MEMBERS)
    path = write_tar(tmp_path / "archive.tar", MEMBERS, "w")

    def keep(name: str) -> bool:
        return name.endswith(".txt")

    unpacked = list(read_texts(folder, "latin-1", keep))
    assert unpacked == list(read_texts(path, "latin-1", keep))
    with pytest.raises(UserError, match=r"c\.bin holds a zero byte"):
        list(read_folder_texts(folder, "latin-1"))


@pytest.mark.parametrize("name", ["/etc/passwd", "../up.txt", "a/../../b.txt", "..\\x", "C:/x"])
def test_members_that_point_outside_are_refused(tmp_path: Path, name: str) -> None:
    path = write_tar(tmp_path / "evil.tar.gz", {"good.txt": b"fine", name: b"bad"})
    with pytest.raises(UserError, match="points outside") as error:
        list(read_tar_texts(path, "utf-8"))
    assert f"'{name}'" in str(error.value)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_refused(tmp_path: Path, kind: bytes) -> None:
    path = tmp_path / "links.tar"
    with tarfile.open(path, "w") as archive:
        entry = tarfile.TarInfo("link.txt")
        entry.type, entry.linkname = kind, "/etc/passwd"
        archive.addfile(entry)
    with pytest.raises(UserError, match=r"'link\.txt' is a link or a device"):
        list(read_tar_texts(path, "utf-8"))


@pytest.mark.parametrize("cut", [100, 512, 600, 1024, 1600])
def test_a_tar_cut_anywhere_is_truncated(tmp_path: Path, cut: int) -> None:
    whole = write_tar(tmp_path / "whole.tar", {"a.txt": b"a" * 50, "b.txt": b"b" * 600}, "w")
    path = put(tmp_path, whole.read_bytes()[:cut], "cut.tar")
    with pytest.raises(UserError, match="truncated"):
        list(read_tar_texts(path, "utf-8"))


@pytest.mark.parametrize("content", [b"PK\x03\x04 this is a zip" * 60, b"just words\n", b""])
def test_a_file_that_is_not_a_tar_archive(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(UserError, match="tar archive"):
        list(read_tar_texts(put(tmp_path, content), "utf-8"))


def test_a_gzip_tar_cut_short(tmp_path: Path) -> None:
    buffer = io.BytesIO(write_tar(tmp_path / "whole", MEMBERS).read_bytes())
    with pytest.raises(UserError, match="truncated or damaged gzip"):
        list(
            read_tar_texts(
                put(tmp_path, buffer.getvalue()[:-12], "cut"), "latin-1", lambda _: False
            )
        )


def test_a_member_in_another_encoding(tmp_path: Path) -> None:
    path = write_tar(tmp_path / "a.tar", MEMBERS, "w")
    with pytest.raises(UserError, match=r"member top/sub/b\.txt: byte 3 \(0xf6\)"):
        list(read_tar_texts(path, "utf-8"))
