"""The user's own table: its format, its columns, and which column holds what.

Delimited text (CSV, TSV and their relatives) and JSON lines files, plain or gzip, are streamed, and
so is Parquet. The format is recognized by content, the delimiter by the header line.

Columns that the user does not name are guessed, first by their names. Otherwise the text is the
column with the longest cells, and the label is the column with the fewest different values. Every
guess is reported in the corpus's notes.
"""

import codecs
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from assay.data.files import OnBadRow, open_decompressed, read_lines
from assay.data.parquet import parquet_columns, read_parquet_rows
from assay.data.rows import csv_header, find_delimiter, read_csv_rows, read_json_lines
from assay.errors import UserError

Format = Literal["delimited", "JSON lines", "Parquet"]
PARQUET_MAGIC = b"PAR1"
# Office files are archives or compound documents.
OFFICE_MAGIC = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
USUAL_DELIMITERS = (",", "\t")  # not worth a note
SAMPLE_ROWS = 1000  # rows on which guesses are based


@dataclass(frozen=True)
class UserTable:
    """A table file with known format and columns; its rows are read on demand."""

    path: Path
    format: Format
    columns: tuple[str, ...]
    delimiter: str = ","
    encoding: str = "utf-8"
    notes: tuple[str, ...] = ()  # guesses about the format

    @classmethod
    def open(cls, path: Path, delimiter: str = "", encoding: str = "") -> "UserTable":
        """Recognize the format and read the column names; without a delimiter, find it."""
        encoding = _known_encoding(encoding or "utf-8")
        format_, header = _recognize(path, encoding)
        named = _one_character(delimiter)
        delimiter = named or find_delimiter(header)
        guessed = format_ == "delimited" and not named and delimiter not in USUAL_DELIMITERS
        notes = (f"table: '{delimiter}' was taken for the delimiter",) if guessed else ()
        columns = _columns(path, format_, delimiter, encoding)
        repeated = {name for name in columns if columns.count(name) > 1}
        if repeated:
            raise UserError(f"{path} has two columns '{min(repeated)}': rename one of them.")
        return cls(path, format_, columns, delimiter, encoding, notes)

    def rows(
        self, columns: Sequence[str], on_bad_row: OnBadRow | None = None
    ) -> Iterator[Sequence[Any]]:
        """Yield the cells of these columns, row by row; a missing cell is None.

        With `on_bad_row`, malformed rows are passed over and reported to it.
        """
        if self.format == "Parquet":
            return read_parquet_rows(self.path, columns)
        if self.format == "JSON lines":
            objects = read_json_lines(self.path, self.encoding, on_bad_row)
            return ([row.get(name) for name in columns] for row in objects)
        return read_csv_rows(
            self.path, columns, self.delimiter, encoding=self.encoding, on_bad_row=on_bad_row
        )

    def sample(self) -> list[Sequence[Any]]:
        """The first rows that are not malformed, with all columns."""
        return list(islice(self.rows(self.columns, on_bad_row=lambda fault: None), SAMPLE_ROWS))


def cell_text(cell: Any) -> str:
    """A cell as text: 1.0 and 1 are the same label; NaN and null are empty."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def _recognize(path: Path, encoding: str) -> tuple[Format, str]:
    """The format, by content, and the first line of a text file."""
    with open_decompressed(path) as stream:
        start = stream.read(len(PARQUET_MAGIC))
    if start == PARQUET_MAGIC:
        return "Parquet", ""
    if start in OFFICE_MAGIC:
        raise UserError(
            f"{path} is a workbook of a spreadsheet program or an archive: save the table as CSV "
            "(in Excel: Save As, CSV UTF-8) and pass that file."
        )
    first = next(read_lines(path, encoding))
    if first.lstrip().startswith("{"):
        return "JSON lines", first
    if first.lstrip().startswith("["):
        raise UserError(f"{path} is one JSON list: write one object per line (JSON lines).")
    return "delimited", first


def _known_encoding(name: str) -> str:
    try:
        return codecs.lookup(name).name
    except LookupError:
        raise UserError(
            f"there is no encoding '{name}': pass a name such as utf-8, latin-1, cp1252, gb18030 "
            "or utf-16."
        ) from None


def _one_character(delimiter: str) -> str:
    found = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
    if len(found) > 1 or found in ('"', "\n", "\r"):
        raise UserError(
            f"the delimiter '{delimiter}' is not possible: give one character, such as ';' or tab."
        )
    return found


def _columns(path: Path, format_: Format, delimiter: str, encoding: str) -> tuple[str, ...]:
    if format_ == "Parquet":
        return tuple(parquet_columns(path))
    if format_ == "JSON lines":
        objects = read_json_lines(path, encoding, on_bad_row=lambda fault: None)
        rows = islice(objects, SAMPLE_ROWS)
        return tuple(dict.fromkeys(name for row in rows for name in row))
    return tuple(csv_header(path, delimiter, encoding))


# Role -> the column names that are recognized for it, the most likely first.
COLUMN_NAMES: Mapping[str, tuple[str, ...]] = {
    "text": (
        "text",
        "review",
        "sentence",
        "document",
        "content",
        "body",
        "comment",
        "message",
        "tweet",
        "tokens",
        "premise",
        "sentence1",
        "story",
        "passage",
    ),
    "label": ("label", "class", "target", "category", "sentiment", "gold_label", "answer", "y"),
    "query": ("query", "question", "hypothesis", "sentence2"),
    "split": ("split", "exp_split", "fold", "subset"),
    "rationale": ("rationale", "evidence_mask"),
}
REQUIRED_ROLES = ("text", "label")


def choose_columns(
    table: UserTable, options: Mapping[str, str], notes: list[str]
) -> dict[str, str | None]:
    """Role -> column, named by the user or guessed; None if an optional column is missing.

    Guesses are appended to `notes`.
    """
    chosen: dict[str, str | None] = {
        role: options[f"{role}-column"] or None for role in COLUMN_NAMES
    }
    for role, name in chosen.items():
        if name is not None and name not in table.columns:
            raise UserError(_no_such_column(table, role, name, chosen))
    for role in COLUMN_NAMES:
        if chosen[role] is None:
            chosen[role] = _guess(table, role, chosen)
            if chosen[role] not in (None, role):
                notes.append(f"table: '{chosen[role]}' was taken for the {role} column")
    return chosen


def _no_such_column(
    table: UserTable, role: str, name: str, chosen: Mapping[str, str | None]
) -> str:
    valid = {r: column for r, column in chosen.items() if column in table.columns}
    likely = _guess(table, role, valid)
    cure = f"pass --{role}-column {likely}" if likely else f"leave out --{role}-column"
    return f"{table.path} has no column '{name}'; found {_column_list(table)}: {cure}."


def _column_list(table: UserTable) -> str:
    return ", ".join(f"'{column}'" for column in table.columns)


def _guess(table: UserTable, role: str, chosen: Mapping[str, str | None]) -> str | None:
    taken = set(chosen.values())
    free = [column for column in table.columns if column not in taken]
    by_name = {column.strip().lower(): column for column in reversed(free)}
    named = next((by_name[name] for name in COLUMN_NAMES[role] if name in by_name), None)
    if named is not None or role not in REQUIRED_ROLES:
        return named
    # A column whose name belongs to another role is not guessed by its content.
    reserved = {name for r, names in COLUMN_NAMES.items() if r != role for name in names}
    candidates = [column for column in free if column.strip().lower() not in reserved]
    if not candidates:
        raise UserError(
            f"{table.path}: no column looks like the {role}; found {_column_list(table)}: "
            f"pass --{role}-column NAME."
        )
    return _guess_by_content(table, role, candidates)


def _guess_by_content(table: UserTable, role: str, candidates: Sequence[str]) -> str:
    sample = table.sample()

    def cells(column: str) -> list[str]:
        index = table.columns.index(column)
        return [str(row[index]) for row in sample if row[index] is not None]

    if role == "text":
        return max(candidates, key=lambda column: sum(map(len, cells(column))))
    # A column with a single value is taken for the label only if there is no other one.
    values = {column: set(cells(column)) for column in candidates}
    label = min(candidates, key=lambda column: (len(values[column]) < 2, len(values[column])))
    if label in values[label]:
        raise UserError(
            f"{table.path}: the first row looks like data, not like column names ('{label}' is "
            "also a value below it): add a first row such as text,label."
        )
    return label
