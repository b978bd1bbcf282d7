"""How do we read what users hand us, and what do we say when it is broken?

Files are streamed, plain or gzip by content and not by name. Every fault of a file becomes
a `UserError` that repeats its path and names the cure.

How is a result put on disk so that a reader never sees half of it?

Everything is written under a temporary name and renamed. A job's results are a folder named by
the hash of all that can change them: if the folder is there, the job is done.

How does a text that may hold anything reach the disk?

Which texts lie in a folder or a tar archive?

Archives are read as a stream and never unpacked to disk.
"""

import csv
import errno
import gzip
import io
import json
import os
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

import polars as pl

from assay.errors import UserError

GZIP_MAGIC = b"\x1f\x8b"
LARGEST_FIELD = 2**31 - 1  # clinical notes exceed csv's default of 128 kB
_HALF_CHARACTER = re.compile(r"[\ud800-\udfff]")


def find_file(folder: Path, *names: str) -> Path | None:
    """The first of these names, plain or with `.gz`, that the folder holds."""
    candidates = (folder / (name + end) for name in names for end in ("", ".gz"))
    return next((path for path in candidates if path.is_file()), None)


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The unpacked bytes of a file; whatever goes wrong inside the block is told in words."""
    try:
        with path.open("rb") as plain:
            packed = plain.read(len(GZIP_MAGIC)) == GZIP_MAGIC
            plain.seek(0)
            if packed:
                with gzip.GzipFile(fileobj=plain) as unpacked:
                    yield cast(IO[bytes], unpacked)
            else:
                yield plain
    except FileNotFoundError as fault:
        raise UserError(f"There is no file {path}: check the path.") from fault
    except (EOFError, zlib.error, gzip.BadGzipFile) as fault:
        raise UserError(
            f"{path} is a truncated or damaged gzip file ({fault}): fetch or pack it again."
        ) from fault
    except OSError as fault:
        raise UserError(f"{path} cannot be read: {fault.strerror or fault}.") from fault


def decode(data: bytes, encoding: str, where: str, cure: str = "convert the file") -> str:
    """Text from bytes; `where` says which file and line, for the message."""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as fault:
        byte = data[fault.start]
        raise UserError(
            f"{where}: byte {fault.start + 1} (0x{byte:02x}) is not {encoding.upper()} text: "
            f"{cure} to UTF-8, or check that it is text at all."
        ) from fault
    if "\0" in text:
        raise UserError(f"{where} holds a zero byte: this is binary noise, not text; {cure}.")
    return text


def _lines(path: Path, encoding: str) -> Iterator[str]:
    """Lines with their ends. Only a line feed ends a line: texts hold other Unicode breaks."""
    number = 0
    with opened(path) as stream:
        for number, line in enumerate(stream, 1):
            without_mark = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            yield decode(without_mark, encoding, f"{path}, line {number}")
    if number == 0:
        raise UserError(f"{path} is empty: put the data in it, or give another file.")


def read_lines(path: Path, encoding: str = "utf-8") -> Iterator[str]:
    """The lines of a text file without their ends."""
    return (line.rstrip("\r\n") for line in _lines(path, encoding))


def read_csv_rows(
    path: Path, columns: Sequence[str] | None = None, delimiter: str = ",", *, quoted: bool = True
) -> Iterator[list[str]]:
    """Rows of a delimited file, blank lines left out.

    Without `columns` the file has no header and every row is given as it stands; with them
    the first row is the header and each row holds just these columns in this order.
    """
    rows = _numbered_rows(path, delimiter, quoted)
    if columns is None:
        for _, row in rows:
            yield row
        return
    _, header = next(rows)
    places = [_column(path, header, name) for name in columns]
    for line, row in rows:
        if len(row) != len(header):
            raise UserError(
                f"{path}, line {line}: {len(row)} fields where the header has {len(header)}: "
                "quote texts that hold the delimiter or a quote."
            )
        yield [row[place] for place in places]


def csv_header(path: Path, delimiter: str = ",") -> list[str]:
    """The first row of a delimited file."""
    return next(_numbered_rows(path, delimiter, quoted=True))[1]


def _column(path: Path, header: list[str], name: str) -> int:
    if name not in header:
        raise UserError(
            f"{path} has no column '{name}'; found {', '.join(map(repr, header))}: "
            "rename the column or give the right file."
        )
    return header.index(name)


def _numbered_rows(path: Path, delimiter: str, quoted: bool) -> Iterator[tuple[int, list[str]]]:
    """Rows with the number of the line they begin on. Strict: a stray quote is an error."""
    csv.field_size_limit(LARGEST_FIELD)
    reader = csv.reader(
        _lines(path, "utf-8"),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        strict=True,
    )
    begins, empty = 1, True
    try:
        for row in reader:
            if row:
                empty = False
                yield begins, row
            begins = reader.line_num + 1
    except csv.Error as fault:
        raise UserError(
            f"{path}, line {begins}: an unclosed or stray quote ({fault}): "
            "close it, and double each quote inside a quoted text."
        ) from fault
    if empty:
        raise UserError(f"{path} is empty: it holds no rows.")


def read_json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """One JSON object per line, blank lines left out."""
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            yield _json_object(line, f"{path}, line {number}")


def _json_object(line: str, where: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as fault:
        raise UserError(f"{where} is not JSON ({fault}): write one object per line.") from fault
    if not isinstance(value, dict):
        raise UserError(f"{where} is not a JSON object: write one {{...}} per line.")
    # An escape such as \ud800 alone is valid JSON but no character, and cannot be written again.
    if "\\u" in line and _HALF_CHARACTER.search(json.dumps(value, ensure_ascii=False)):
        raise UserError(f"{where} holds half of a character pair: mend that escape.")
    return value


_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_UNWRITABLE = (PermissionError, NotADirectoryError, FileExistsError, FileNotFoundError)
TEMPORARY = ".writing-"


def write_file(path: Path, write: Callable[[Path], object]) -> None:
    """`write` fills a temporary file beside `path`, which then takes its name."""
    temporary = path.with_name(f"{TEMPORARY}{os.getpid()}-{path.name}")
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            write(temporary)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def write_parquet(path: Path, frame: pl.DataFrame) -> None:
    # Through memory: a full disk must be an OSError, not an error of polars.
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    write_file(path, lambda temporary: temporary.write_bytes(buffer.getvalue()))


def write_json(path: Path, value: Any) -> None:
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    write_file(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not readable JSON ({error}): was it edited by hand?") from error


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn a full disk or a folder that cannot be written into an error with a cure."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise UserError(
                f"the disk is full: could not write {path}. Free some space and run the same "
                "command with --resume; everything measured so far is kept."
            ) from error
        if isinstance(error, _UNWRITABLE):
            raise UserError(
                f"cannot write {path} ({error.strerror}): pass an --out that you may write to"
            ) from error
        raise


def write_text(path: Path, text: str) -> None:
    """A lone surrogate from a JSON escape has no UTF-8 form and becomes a question mark."""
    content = text.encode("utf-8", errors="replace")
    write_file(path, lambda unfinished: unfinished.write_bytes(content))


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
