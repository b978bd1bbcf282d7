"""How do we read what users hand us, and what do we say when it is broken?

Files are streamed, plain or gzip by content and not by name. Every fault of a file becomes
a `UserError` that repeats its path and names the cure.
"""

import csv
import gzip
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

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
