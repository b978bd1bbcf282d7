"""Rows of delimited text and of JSON lines files, streamed.

A malformed row is an error that names its line. A caller that passes `on_bad_row` gets the errors
instead, one per row, and the reading goes on with the next row.
"""

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from assay.data.files import OnBadRow, numbered_lines, refuse_lone_surrogates, report_row
from assay.errors import UserError

LARGEST_FIELD = 2**31 - 1  # clinical notes exceed csv's default of 128 kB
SHOWN_BAD_ROWS = 20
MALFORMED = "malformed row"  # why a row was left out
DELIMITERS = (",", "\t", ";", "|")  # those that are recognized; any other can be named


class BadRows:
    """An `on_bad_row` that collects the faults, for `--skip-bad-rows`."""

    def __init__(self) -> None:
        self.faults: list[str] = []

    def __call__(self, fault: UserError) -> None:
        self.faults.append(str(fault))

    def note(self) -> str:
        """The first of the skipped rows and why, in one line."""
        shown = [fault.rsplit(": ", 1)[0] for fault in self.faults[:SHOWN_BAD_ROWS]]
        more = len(self.faults) - len(shown)
        rest = f"; and {more:,} more" if more else ""
        return f"table: {len(self.faults):,} malformed rows were skipped ({'; '.join(shown)}{rest})"


def read_csv_rows(
    path: Path,
    columns: Sequence[str] | None = None,
    delimiter: str = ",",
    *,
    quoted: bool = True,
    encoding: str = "utf-8",
    on_bad_row: OnBadRow | None = None,
) -> Iterator[list[str]]:
    """Yield the rows of a delimited file, without blank lines.

    Without `columns` the file has no header and every row is yielded as it is. With `columns` the
    first row is the header, and each row holds only these columns in this order.
    """
    rows = _numbered_rows(path, delimiter, quoted, encoding, on_bad_row)
    if columns is None:
        for _, row in rows:
            yield row
        return
    _, header = next(rows)
    indices = [_column_index(path, header, name) for name in columns]
    for line, row in rows:
        if len(row) == len(header):
            yield [row[index] for index in indices]
            continue
        fault = UserError(
            f"{path}, line {line}: {len(row)} fields, but the header has {len(header)}: "
            "quote texts that contain the delimiter or a quote."
        )
        report_row(fault, on_bad_row)


def csv_header(path: Path, delimiter: str = ",", encoding: str = "utf-8") -> list[str]:
    """The first row of a delimited file."""
    return next(_numbered_rows(path, delimiter, True, encoding, None))[1]


def find_delimiter(header: str) -> str:
    """The most frequent delimiter of a header line, outside of quotes; a comma if there is none."""
    outside = "".join(header.split('"')[::2])
    return max(DELIMITERS, key=outside.count)


def read_json_lines(
    path: Path, encoding: str = "utf-8", on_bad_row: OnBadRow | None = None
) -> Iterator[dict[str, Any]]:
    """Yield one JSON object per line, without blank lines."""
    for number, line in numbered_lines(path, encoding, on_bad_row):
        if line.strip():
            try:
                value = _json_object(line, f"{path}, line {number}")
            except UserError as fault:
                report_row(fault, on_bad_row)
            else:
                yield value


def _column_index(path: Path, header: list[str], name: str) -> int:
    if name not in header:
        raise UserError(
            f"{path} has no column '{name}'; found {', '.join(map(repr, header))}: "
            "rename the column or pass the right file."
        )
    return header.index(name)


def _numbered_rows(
    path: Path, delimiter: str, quoted: bool, encoding: str, on_bad_row: OnBadRow | None
) -> Iterator[tuple[int, list[str]]]:
    """Rows with the number of their first line. Strict: a stray quote is an error."""
    csv.field_size_limit(LARGEST_FIELD)
    last = 0  # the number of the line that the reader took last

    def lines() -> Iterator[str]:
        nonlocal last
        for number, line in numbered_lines(path, encoding, on_bad_row):
            last = number
            yield line

    reader = csv.reader(
        lines(),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        strict=True,
    )
    first_line, empty = 1, True
    while True:
        try:
            row = next(reader, None)
        except csv.Error as fault:
            wrong = UserError(
                f"{path}, line {first_line}: an unclosed or stray quote ({fault}): "
                "close it, and double each quote inside a quoted text."
            )
            report_row(wrong, on_bad_row)
            row = []
        if row is None:
            break
        if row:
            empty = False
            yield first_line, row
        first_line = last + 1
    if empty:
        raise UserError(f"{path} is empty: it holds no rows.")


def _json_object(line: str, where: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as fault:  # also a number of thousands of digits
        raise UserError(f"{where} is not JSON ({fault}): write one object per line.") from fault
    if not isinstance(value, dict):
        raise UserError(f"{where} is not a JSON object: write one {{...}} per line.")
    if "\\u" in line:
        refuse_lone_surrogates(value, where)
    return value
