"""Tests of files that are made to harm: bombs, links, endless lines, headers that lie."""

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from assay.data import archives, files
from assay.data.archives import read_tar_texts
from assay.data.embeddings import load_vectors
from assay.data.files import read_json, read_lines
from assay.data.vocabulary import Vocabulary
from assay.errors import UserError

VOCABULARY = Vocabulary.of_words(["film"])


def test_a_gzip_bomb_is_refused_before_it_fills_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"one row like all the others\n" * 100_000))
    assert sum(1 for _ in read_lines(path)) == 100_000
    monkeypatch.setattr(files, "UNPACKED_BYTES", 2**16)
    with pytest.raises(UserError, match="unpacks to more than 100 times its size"):
        list(read_lines(path))


def test_a_bomb_inside_an_archive_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.tar.gz"
    member = tarfile.TarInfo("a.txt")
    member.size = 2**22
    with tarfile.open(path, "w:gz") as archive:
        archive.addfile(member, io.BytesIO(b"a" * member.size))
    monkeypatch.setattr(files, "UNPACKED_BYTES", 2**16)
    with pytest.raises(UserError, match="unpacks to more than"):
        list(read_tar_texts(path, "utf-8"))


def test_a_member_that_claims_to_be_huge_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    member = tarfile.TarInfo("a.txt")
    member.size = archives.LARGEST_MEMBER + 1
    path.write_bytes(member.tobuf() + bytes(1024))
    with pytest.raises(UserError, match="is larger than 64 MB"):
        list(read_tar_texts(path, "utf-8"))


def test_a_broken_map_of_a_sparse_member_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    member = tarfile.TarInfo("a.txt")
    member.pax_headers = {"GNU.sparse.map": "not,numbers", "GNU.sparse.size": "10"}
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(member)
    with pytest.raises(UserError, match=r"is not a tar archive|damaged"):
        list(read_tar_texts(path, "utf-8"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_an_endless_line_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("short\n" + "a" * 5000, encoding=encoding)
    monkeypatch.setattr(files, "LONGEST_LINE", 4096)
    with pytest.raises(UserError, match="line 2 is longer than"):
        list(read_lines(path, encoding))


@pytest.mark.parametrize(
    "content", [b"[" * 100_000, b"1" * 5000, b"\xff", b'{"a": '], ids=["deep", "long", "no", "cut"]
)
def test_hostile_json_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(content)
    with pytest.raises(UserError, match="is not valid JSON"):
        read_json(path)


def npz(path: Path, **arrays: np.ndarray) -> Path:
    np.savez(path, **arrays)
    return path


def test_an_archive_of_vectors_with_another_content_is_a_sentence(tmp_path: Path) -> None:
    words = np.frombuffer(b"film\ngood", dtype=np.uint8)
    good = np.ones((2, 3), dtype=np.float32)
    assert load_vectors(npz(tmp_path / "0.npz", words=words, vectors=good), VOCABULARY).found == 1
    by_column = npz(tmp_path / "1.npz", words=words, vectors=np.asfortranarray(good))
    assert load_vectors(by_column, VOCABULARY).found == 1
    for number, vectors in enumerate(
        (good[0], good[:1], good.astype(object), good.astype(int), good * np.inf), 2
    ):
        path = npz(tmp_path / f"{number}.npz", words=words, vectors=vectors)
        with pytest.raises(UserError, match="holds no words and vectors"):
            load_vectors(path, VOCABULARY)


def test_a_header_that_claims_a_huge_array_is_refused_before_memory_is_taken(
    tmp_path: Path,
) -> None:
    buffer = io.BytesIO()
    header = {"descr": "<f4", "fortran_order": False, "shape": (10**9, 10**9)}
    np.lib.format.write_array_header_1_0(buffer, header)
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("vectors.npy", buffer.getvalue())
        words = io.BytesIO()
        np.save(words, np.frombuffer(b"film", dtype=np.uint8))
        archive.writestr("words.npy", words.getvalue())
    with pytest.raises(UserError, match="holds no words and vectors"):
        load_vectors(tmp_path / "a.npz", VOCABULARY)
