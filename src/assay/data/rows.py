"""Rows of delimited text and of JSON lines files, streamed.

A malformed row is an error that names its line. A caller that passes `on_bad_row` gets the errors
instead, one per row, and the reading goes on with the line after the first line of that row: a
quote that is never closed spoils its own line, and not all lines up to the next quote.

Two stray quotes, one that opens and one that closes a field many lines later, make a row that is
well-formed. With `on_bad_row` such a row counts as malformed if the lines between its first and its
last are at least `SWALLOWED` and each of them is a row by itself.
"""

import csv
import json
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from assay.data.files import OnBadRow, numbered_lines, refuse_lone_surrogates, report_row
from assay.errors import UserError

LARGEST_FIELD = 2**24  # characters; clinical notes exceed csv's default of 128 kB
SWALLOWED = 3  # lines that are rows by themselves, inside of one quoted text
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
    rows = _Rows(path, delimiter, quoted, encoding, on_bad_row)
    if columns is None:
        yield from rows
        return
    header = next(rows)
    rows.width = len(header)
    indices = [_column_index(path, header, name) for name in columns]
    for row in rows:
        yield [row[index] for index in indices]


def csv_header(path: Path, delimiter: str = ",", encoding: str = "utf-8") -> list[str]:
    """The first row of a delimited file."""
    return next(_Rows(path, delimiter, True, encoding, None))


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


class _Lines:
    """The lines that a csv reader takes for one row, some of which can be given back."""

    def __init__(self, numbered: Iterable[tuple[int, str]]) -> None:
        self.source = iter(numbered)
        self.again: deque[tuple[int, str]] = deque()
        self.taken: list[tuple[int, str]] = []

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        line = self.again.popleft() if self.again else next(self.source)
        self.taken.append(line)
        return line[1]

    def give_back(self) -> None:
        """Offer all lines of the row but the first once more."""
        self.again.extendleft(reversed(self.taken[1:]))


class _Rows:
    """The rows of a delimited file, without blank lines. Strict: a stray quote is an error."""

    def __init__(
        self,
        path: Path,
        delimiter: str,
        quoted: bool,
        encoding: str,
        on_bad_row: OnBadRow | None,
    ) -> None:
        csv.field_size_limit(LARGEST_FIELD)
        self.path, self.on_bad_row = path, on_bad_row
        self.width: int | None = None  # number of fields of a row, once the header is known
        self.form: dict[str, Any] = {
            "delimiter": delimiter,
            "quoting": csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
            "strict": True,
        }
        self.lines = _Lines(numbered_lines(path, encoding, on_bad_row))
        self.reader = csv.reader(self.lines, **self.form)
        self.empty = True

    def __iter__(self) -> "_Rows":
        return self

    def __next__(self) -> list[str]:
        while True:
            self.lines.taken.clear()
            try:
                row = next(self.reader, None)
                fault = self._fault(row) if row else None
            except csv.Error as error:
                row, fault = [], _quote_fault(error)
            if row is None:
                break
            if fault is not None:
                where = f"{self.path}, line {self.lines.taken[0][0]}"
                report_row(UserError(f"{where}: {fault}"), self.on_bad_row)
                self.lines.give_back()
            elif row:
                self.empty = False
                return row
        if self.empty:
            raise UserError(f"{self.path} is empty: it holds no rows.")
        raise StopIteration

    def _fault(self, row: list[str]) -> str | None:
        """What is wrong with a row that the csv reader accepts."""
        if self.width is None:
            return None
        if len(row) != self.width:
            return (
                f"{len(row)} fields, but the header has {self.width}: "
                "quote texts that contain the delimiter or a quote."
            )
        if self.on_bad_row is not None and self._swallows_rows():
            return (
                f"a quoted text over {len(self.lines.taken)} lines, which are rows by themselves: "
                "remove the stray quote."
            )
        return None

    def _swallows_rows(self) -> bool:
        inner = [text for _, text in self.lines.taken[1:-1]]
        return len(inner) >= SWALLOWED and all(map(self._is_row, inner))

    def _is_row(self, line: str) -> bool:
        try:
            return len(next(csv.reader([line], **self.form))) == self.width
        except csv.Error:
            return False


def _quote_fault(error: csv.Error) -> str:
    if "field larger than field limit" in str(error):
        return (
            f"a text of more than {LARGEST_FIELD:,} characters, as after an unclosed quote: "
            "close the quote, or shorten the text."
        )
    return (
        f"an unclosed or stray quote ({error}): "
        "close it, and double each quote inside a quoted text."
    )


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
