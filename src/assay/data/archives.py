"""The texts of a folder or of a tar archive, with the same names.

A tar archive is read as a stream and never unpacked to disk. Members that point outside, links,
devices and members too large for a text are refused.
"""

import io
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from assay.data.files import decode, open_decompressed
from assay.errors import UserError

LARGEST_MEMBER = 2**26  # bytes
NameFilter = Callable[[str], bool]


def keep_all(name: str) -> bool:
    """The name filter that keeps every file."""
    return True


def read_texts(path: Path, encoding: str, keep: NameFilter = keep_all) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of the files in a folder or a tar archive; names contain `/`."""
    return (read_folder_texts if path.is_dir() else read_tar_texts)(path, encoding, keep)


def read_folder_texts(
    folder: Path, encoding: str, keep: NameFilter = keep_all
) -> Iterator[tuple[str, str]]:
    """Yield (name below the folder, text), sorted by name."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if keep(name) and path.is_file():
            with open_decompressed(path) as stream:
                yield name, decode(stream.read(), encoding, str(path))


def read_tar_texts(
    path: Path, encoding: str, keep: NameFilter = keep_all
) -> Iterator[tuple[str, str]]:
    """Yield (member name, text) in archive order; members that point outside are refused."""
    with open_decompressed(path) as stream:
        recorder = _TailRecorder(stream)
        try:
            with tarfile.open(fileobj=recorder, mode="r|") as archive:
                for member in archive:
                    yield from _member_text(archive, member, path, encoding, keep)
        except (tarfile.TarError, ValueError, OverflowError) as fault:  # also broken numbers
            raise UserError(
                f"{path} is not a tar archive, or it is truncated or damaged ({fault}): "
                "download or pack it again."
            ) from fault
        if not recorder.ended_properly:
            raise UserError(f"{path} is a truncated tar archive: download or pack it again.")


def _member_text(
    archive: tarfile.TarFile, member: tarfile.TarInfo, path: Path, encoding: str, keep: NameFilter
) -> Iterator[tuple[str, str]]:
    _refuse_unsafe_member(path, member)
    name = str(PurePosixPath(member.name))
    content = archive.extractfile(member) if member.isfile() and keep(name) else None
    if content is not None:
        where = f"{path}, member {name}"
        yield name, decode(content.read(), encoding, where, cure="convert that member")


def _refuse_unsafe_member(path: Path, member: tarfile.TarInfo) -> None:
    parts = member.name.replace("\\", "/").split("/")
    outside = parts[0] == "" or ".." in parts or parts[0].endswith(":")
    problem = ""
    if outside:
        problem = "points outside the archive"
    elif not (member.isfile() or member.isdir()):
        problem = "is a link or a device, not a file"
    elif member.size > LARGEST_MEMBER:
        problem = f"is larger than {LARGEST_MEMBER // 2**20} MB, which no text of a corpus is"
    if problem:
        raise UserError(
            f"{path}: member '{member.name}' {problem}, so the archive is refused. "
            "Download the original archive, or pack the plain files again."
        )


class _TailRecorder(io.RawIOBase):
    """A stream that remembers its last block, to detect a truncated tar archive.

    An archive that was cut between two members looks complete to `tarfile`, but only a whole
    archive ends in a block of zeros.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.tail = b""

    def read(self, size: int = -1) -> bytes:
        chunk = self.stream.read(size)
        self.tail = (self.tail + chunk)[-tarfile.BLOCKSIZE :]
        return chunk

    @property
    def ended_properly(self) -> bool:
        return self.tail == bytes(tarfile.BLOCKSIZE)
