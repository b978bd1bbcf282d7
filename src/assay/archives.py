"""Which texts lie in a folder or a tar archive?

Archives are read as a stream and never unpacked to disk.
"""

import io
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from assay.errors import UserError
from assay.files import decode, opened

Wanted = Callable[[str], bool]


def everything(name: str) -> bool:
    return True


def texts_below(
    path: Path, encoding: str, wanted: Wanted = everything
) -> Iterator[tuple[str, str]]:
    """(name, text) of every wanted file in a folder or a tar archive, `/` between name parts."""
    return (folder_texts if path.is_dir() else tar_texts)(path, encoding, wanted)


def folder_texts(
    folder: Path, encoding: str, wanted: Wanted = everything
) -> Iterator[tuple[str, str]]:
    """(name below the folder, text), in the order of names."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if wanted(name) and path.is_file():
            with opened(path) as stream:
                yield name, decode(stream.read(), encoding, str(path))


def tar_texts(path: Path, encoding: str, wanted: Wanted = everything) -> Iterator[tuple[str, str]]:
    """(member name, text) in the archive's order; members that point outside are refused."""
    with opened(path) as stream:
        watched = _Watched(stream)
        try:
            with tarfile.open(fileobj=watched, mode="r|") as archive:
                for member in archive:
                    yield from _member_text(archive, member, path, encoding, wanted)
        except tarfile.TarError as fault:
            raise UserError(
                f"{path} is no tar archive, or a truncated or damaged one ({fault}): "
                "fetch or pack it again."
            ) from fault
        if not watched.ended_properly:
            raise UserError(f"{path} is a truncated tar archive: fetch or pack it again.")


def _member_text(
    archive: tarfile.TarFile, member: tarfile.TarInfo, path: Path, encoding: str, wanted: Wanted
) -> Iterator[tuple[str, str]]:
    _refuse_outsiders(path, member)
    name = str(PurePosixPath(member.name))
    content = archive.extractfile(member) if member.isfile() and wanted(name) else None
    if content is not None:
        where = f"{path}, member {name}"
        yield name, decode(content.read(), encoding, where, cure="convert that member")


def _refuse_outsiders(path: Path, member: tarfile.TarInfo) -> None:
    parts = member.name.replace("\\", "/").split("/")
    outside = parts[0] == "" or ".." in parts or parts[0].endswith(":")
    if outside or not (member.isfile() or member.isdir()):
        kind = "points outside the archive" if outside else "is a link or a device, not a file"
        raise UserError(
            f"{path}: member '{member.name}' {kind}; nothing was read from it. "
            "Fetch the original archive, or pack the plain files again."
        )


class _Watched(io.RawIOBase):
    """A stream that remembers its last block: a tar cut between two members looks complete
    to `tarfile`, but only a whole one ends in a block of zeros."""

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
