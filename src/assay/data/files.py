"""Reading files with clear errors, and writing files atomically.

Reading: files are streamed and may be plain or gzip, recognized by content and not by name. The
length of a line and what a gzip file may unpack to are bounded, so that a hostile file cannot fill
the memory. Every fault of a file becomes a `UserError` that repeats the path and names the cure.

Writing: a file is written under a temporary name, brought to the disk and then renamed, so that a
reader never sees half of it, not even after a power failure.
"""

import errno
import gzip
import io
import json
import os
import re
import uuid
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, AnyStr, cast

import polars as pl

from assay.errors import UserError

GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
WIDE = ("utf-16", "utf-32", "utf_16", "utf_32")  # a line feed is more than one byte here
OnBadRow = Callable[[UserError], None]
LONGEST_LINE = 2**26  # bytes
# A gzip file may unpack to this many bytes, or to this multiple of its size if that is more. Text
# shrinks to a tenth, or to a thirtieth if it is very regular; a file of zeros to a thousandth.
UNPACKED_BYTES, UNPACKED_RATIO = 2**28, 100
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


def find_file(folder: Path, *names: str) -> Path | None:
    """The first of these names, plain or with `.gz`, that exists in the folder."""
    candidates = (folder / (name + end) for name in names for end in ("", ".gz"))
    return next((path for path in candidates if path.is_file()), None)


@contextmanager
def open_decompressed(path: Path) -> Iterator[IO[bytes]]:
    """Open a plain or gzip file; read errors inside the block become a `UserError`."""
    try:
        with path.open("rb") as plain:
            packed = plain.read(len(GZIP_MAGIC)) == GZIP_MAGIC
            plain.seek(0)
            if packed:
                with gzip.GzipFile(fileobj=plain) as unpacked:
                    yield cast(IO[bytes], io.BufferedReader(_BoundedUnpacking(unpacked, path)))
            else:
                yield plain
    except FileNotFoundError as fault:
        raise UserError(f"There is no file {path}: check the path.") from fault
    except (EOFError, zlib.error, gzip.BadGzipFile) as fault:
        raise UserError(
            f"{path} is a truncated or damaged gzip file ({fault}): download or compress it again."
        ) from fault
    except OSError as fault:
        raise UserError(f"{path} cannot be read: {fault.strerror or fault}.") from fault


class _BoundedUnpacking(io.RawIOBase):
    """An unpacked stream that refuses to become out of proportion to its file."""

    def __init__(self, stream: gzip.GzipFile, path: Path) -> None:
        self.stream, self.path = stream, path
        self.left = max(UNPACKED_BYTES, UNPACKED_RATIO * path.stat().st_size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self.stream.read(len(buffer))
        self.left -= len(chunk)
        if self.left < 0:
            raise UserError(
                f"{self.path} unpacks to more than {UNPACKED_RATIO} times its size, as no text "
                "does: if you trust it, unpack it yourself and pass the plain file."
            )
        buffer[: len(chunk)] = chunk
        return len(chunk)


def decode(data: bytes, encoding: str, where: str, cure: str = "convert the file") -> str:
    """Decode bytes to text; `where` names the file and line in the error message."""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as fault:
        byte = data[fault.start]
        raise UserError(
            f"{where}: byte {fault.start + 1} (0x{byte:02x}) is not {encoding.upper()} text: "
            f"{cure} to UTF-8, check that it is a text file, or name the encoding of a table of "
            "your own (--encoding latin-1, for example)."
        ) from fault
    if "\0" in text:
        raise UserError(f"{where} holds a zero byte, so it is binary data and not text: {cure}.")
    return text


def numbered_lines(
    path: Path, encoding: str = "utf-8", on_bad_row: OnBadRow | None = None
) -> Iterator[tuple[int, str]]:
    """Lines with their numbers and line ends.

    Only a line feed ends a line, because texts hold other Unicode line breaks.
    """
    number = 0
    with open_decompressed(path) as stream:
        if encoding.lower().startswith(WIDE):
            yield from _wide_lines(io.TextIOWrapper(stream, encoding, newline="\n"), path)
            return
        for number, line in enumerate(_bounded_lines(stream, path), 1):
            content = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
            try:
                text = decode(content, encoding, f"{path}, line {number}")
            except UserError as fault:
                report_row(fault, on_bad_row)
            else:
                yield number, text
    if number == 0:
        raise UserError(f"{path} is empty: put the data in it, or pass another file.")


def _bounded_lines(stream: IO[AnyStr], path: Path) -> Iterator[AnyStr]:
    """Lines of a stream; one that is far longer than any text is an error."""
    number = 0
    while line := stream.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE:
            raise UserError(
                f"{path}, line {number} is longer than {LONGEST_LINE // 2**20} MB, so this is not "
                "a text file with one entry per line: check that it is the right file."
            )
        yield line


def read_lines(path: Path, encoding: str = "utf-8") -> Iterator[str]:
    """Yield the lines of a text file without their line ends."""
    return (line.rstrip("\r\n") for _, line in numbered_lines(path, encoding))


def report_row(fault: UserError, on_bad_row: OnBadRow | None) -> None:
    """Pass the fault of a row to the caller who collects them; otherwise raise it."""
    if on_bad_row is None:
        raise fault
    on_bad_row(fault)


def _wide_lines(stream: io.TextIOWrapper, path: Path) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        for number, line in enumerate(_bounded_lines(stream, path), 1):
            yield number, line.removeprefix("\ufeff") if number == 1 else line
    except UnicodeError as fault:
        raise UserError(
            f"{path}, after line {number}: not {stream.encoding.upper()} text ({fault}): name "
            "another encoding, or convert the file to UTF-8."
        ) from fault
    if number == 0:
        raise UserError(f"{path} is empty: put the data in it, or pass another file.")


def refuse_lone_surrogates(value: Any, where: str) -> None:
    """Raise if a string in a JSON value holds half of a surrogate pair.

    An escape such as \\ud800 alone is valid JSON, but it is not a character and cannot be written
    to a file again.
    """
    if _LONE_SURROGATE.search(json.dumps(value, ensure_ascii=False)):
        raise UserError(
            f"{where} holds half of a surrogate pair (an escape from \\ud800 to \\udfff): "
            "correct that escape."
        )


_DISK_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_UNWRITABLE = (PermissionError, NotADirectoryError, FileExistsError, FileNotFoundError)
TEMPORARY = ".writing-"  # prefix of the names of unfinished files


def write_file(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file atomically: `write` fills a temporary file, which is then renamed to `path`."""
    temporary = path.with_name(f"{temporary_prefix()}{path.name}")
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            write(temporary)
            sync(temporary)
            temporary.replace(path)
            sync(path.parent)
        finally:
            temporary.unlink(missing_ok=True)


def temporary_prefix() -> str:
    """The start of the name of an unfinished file; no other process has the same."""
    return f"{TEMPORARY}{uuid.uuid4().hex[:12]}-"


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk.

    A file that is renamed before its content is there may be empty after a power failure.
    """
    if path.is_dir() and os.name != "posix":  # pragma: no cover - Windows cannot open folders
        return
    descriptor = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def scan_parquet(*paths: Path) -> pl.LazyFrame:
    """The tables of Parquet files, one after another, read when their rows are needed.

    For polars a bracket or a star in a path is a pattern. Here a path is the name of a file.
    """
    return pl.scan_parquet(list(paths), glob=False)


def read_parquet(path: Path, columns: list[str] | None = None) -> pl.DataFrame:
    """The table of a Parquet file, or some of its columns."""
    return pl.read_parquet(path, columns=columns, glob=False)


def write_parquet(path: Path, frame: pl.DataFrame) -> None:
    """Write a table as Parquet, atomically."""
    # Through memory: a full disk must be an OSError, not an error of polars.
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    write_file(path, lambda temporary: temporary.write_bytes(buffer.getvalue()))


def write_json(path: Path, value: Any) -> None:
    """Write a value as indented JSON with sorted keys, atomically."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    write_file(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def read_json(path: Path) -> Any:
    """Read a JSON file that assay wrote."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise UserError(
            f"{path} is not valid JSON ({error}): check whether it was edited by hand."
        ) from error


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn a full disk or an unwritable folder into an error with a cure."""
    try:
        yield
    except OSError as error:
        if error.errno in _DISK_FULL:
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
    """Write a text as UTF-8, atomically.

    A lone surrogate from a JSON escape has no UTF-8 form and becomes a question mark.
    """
    content = text.encode("utf-8", errors="replace")
    write_file(path, lambda temporary: temporary.write_bytes(content))
