"""The user's own table: its format, its columns, and which column holds what.

CSV, TSV and JSON lines files (plain or gzip) are streamed; Parquet is read by polars. The format is
recognized by content, the delimiter by the header line.

Columns that the user does not name are guessed, first by their names. Otherwise the text is the
column with the longest cells, and the label is the column with the fewest different values. Every
guess is reported in the corpus's notes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import polars as pl

from assay.data.files import (
    csv_header,
    open_decompressed,
    read_csv_rows,
    read_json_lines,
    read_lines,
)
from assay.errors import UserError

Format = Literal["CSV", "TSV", "JSON lines", "Parquet"]
PARQUET_MAGIC = b"PAR1"
SAMPLE_ROWS = 1000  # rows on which guesses are based


@dataclass(frozen=True)
class UserTable:
    """A table file with known format and columns; its rows are read on demand."""

    path: Path
    format: Format
    columns: tuple[str, ...]

    @classmethod
    def open(cls, path: Path) -> "UserTable":
        """Recognize the format and read the column names."""
        format_ = _format(path)
        columns = _columns(path, format_)
        repeated = {name for name in columns if columns.count(name) > 1}
        if repeated:
            raise UserError(f"{path} has two columns '{min(repeated)}': rename one of them.")
        return cls(path, format_, columns)

    def rows(self, columns: Sequence[str]) -> Iterator[Sequence[Any]]:
        """Yield the cells of these columns, row by row; a missing cell is None."""
        if self.format == "Parquet":
            return _parquet_rows(self.path, columns)
        if self.format == "JSON lines":
            return ([row.get(name) for name in columns] for row in read_json_lines(self.path))
        return read_csv_rows(self.path, columns, "\t" if self.format == "TSV" else ",")

    def sample(self) -> list[Sequence[Any]]:
        """The first rows, with all columns."""
        return list(islice(self.rows(self.columns), SAMPLE_ROWS))


def _format(path: Path) -> Format:
    with open_decompressed(path) as stream:
        start = stream.read(len(PARQUET_MAGIC))
    if start == PARQUET_MAGIC:
        return "Parquet"
    first = next(read_lines(path))
    if first.lstrip().startswith("{"):
        return "JSON lines"
    if first.lstrip().startswith("["):
        raise UserError(f"{path} is one JSON list: write one object per line (JSON lines).")
    return "TSV" if "\t" in first else "CSV"


def _columns(path: Path, format_: Format) -> tuple[str, ...]:
    if format_ == "Parquet":
        return tuple(_parquet_columns(path))
    if format_ == "JSON lines":
        rows = islice(read_json_lines(path), SAMPLE_ROWS)
        return tuple(dict.fromkeys(name for row in rows for name in row))
    return tuple(csv_header(path, "\t" if format_ == "TSV" else ","))


def _parquet_columns(path: Path) -> list[str]:
    try:
        schema = pl.read_parquet_schema(path)
    except (pl.exceptions.PolarsError, OSError) as fault:
        raise UserError(_damaged_parquet(path, fault)) from fault
    return [name for name, kind in schema.items() if kind != pl.Binary]  # bytes are not text


def _parquet_rows(path: Path, columns: Sequence[str]) -> Iterator[Sequence[Any]]:
    try:
        frame = pl.read_parquet(path, columns=list(columns))
    except (pl.exceptions.PolarsError, OSError) as fault:
        raise UserError(_damaged_parquet(path, fault)) from fault
    return frame.select(columns).iter_rows()


def _damaged_parquet(path: Path, fault: Exception) -> str:
    reason = str(fault).splitlines()[0]
    return f"{path} is a truncated or damaged Parquet file ({reason}): write it again."


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
