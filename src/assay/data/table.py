"""What does a user's table hold: which columns, and which cells in each row?

CSV, TSV and JSON lines (plain or gzip) are streamed; Parquet is read by polars. The format is
told by content, the delimiter by the header line.

Which column is the text, and which the label, when the user did not say?

By name first; else the text is the column with the longest cells and the label the one with
the fewest different values. Every guess is said aloud.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from assay.data.files import csv_header, open_decompressed, read_csv_rows, read_json_lines, read_lines
from assay.errors import UserError

Format = Literal["CSV", "TSV", "JSON lines", "Parquet"]
PARQUET_MAGIC = b"PAR1"
SAMPLE = 1000  # rows that are looked at for guesses


@dataclass(frozen=True)
class UserTable:
    """A file of rows, not read yet."""

    path: Path
    format: Format
    columns: tuple[str, ...]

    @classmethod
    def open(cls, path: Path) -> "UserTable":
        kind = _format(path)
        columns = _columns(path, kind)
        repeated = {name for name in columns if columns.count(name) > 1}
        if repeated:
            raise UserError(f"{path} has two columns '{min(repeated)}': rename one of them.")
        return cls(path, kind, columns)

    def rows(self, columns: Sequence[str]) -> Iterator[Sequence[Any]]:
        """The cells of these columns, row by row; a cell that is not there is None."""
        if self.format == "Parquet":
            return _parquet(self.path, columns)
        if self.format == "JSON lines":
            return ([row.get(name) for name in columns] for row in read_json_lines(self.path))
        return read_csv_rows(self.path, columns, "\t" if self.format == "TSV" else ",")

    def sample(self) -> list[Sequence[Any]]:
        return list(islice(self.rows(self.columns), SAMPLE))


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


def _columns(path: Path, kind: Format) -> tuple[str, ...]:
    if kind == "Parquet":
        return tuple(_polars_schema(path))
    if kind == "JSON lines":
        rows = islice(read_json_lines(path), SAMPLE)
        return tuple(dict.fromkeys(name for row in rows for name in row))
    return tuple(csv_header(path, "\t" if kind == "TSV" else ","))


def _polars_schema(path: Path) -> list[str]:
    import polars as pl  # imported when met

    try:
        schema = pl.read_parquet_schema(path)
    except (pl.exceptions.PolarsError, OSError) as fault:
        raise UserError(_damaged(path, fault)) from fault
    return [name for name, kind in schema.items() if kind != pl.Binary]  # bytes are no text


def _parquet(path: Path, columns: Sequence[str]) -> Iterator[Sequence[Any]]:
    import polars as pl

    try:
        frame = pl.read_parquet(path, columns=list(columns))
    except (pl.exceptions.PolarsError, OSError) as fault:
        raise UserError(_damaged(path, fault)) from fault
    return frame.select(columns).iter_rows()


def _damaged(path: Path, fault: Exception) -> str:
    reason = str(fault).splitlines()[0]
    return f"{path} is a truncated or damaged Parquet file ({reason}): write it again."


# Role -> names that mean it, the likeliest first.
NAMES: Mapping[str, tuple[str, ...]] = {
    "text": ("text", "review", "sentence", "document", "content", "body", "comment", "message",
             "tweet", "tokens", "premise", "sentence1", "story", "passage"),
    "label": ("label", "class", "target", "category", "sentiment", "gold_label", "answer", "y"),
    "query": ("query", "question", "hypothesis", "sentence2"),
    "split": ("split", "exp_split", "fold", "subset"),
    "rationale": ("rationale", "evidence_mask"),
}  # fmt: skip
NEEDED = ("text", "label")


def choose_columns(
    table: UserTable, options: Mapping[str, str], notes: list[str]
) -> dict[str, str | None]:
    """Role -> column: as the user said, else guessed; None where an optional one is not there."""
    chosen: dict[str, str | None] = {role: options[f"{role}-column"] or None for role in NAMES}
    for role, name in chosen.items():
        if name is not None and name not in table.columns:
            raise UserError(_no_such_column(table, role, name, chosen))
    for role in NAMES:
        if chosen[role] is None:
            chosen[role] = _guess(table, role, chosen)
            if chosen[role] not in (None, role):
                notes.append(f"table: '{chosen[role]}' was taken for the {role} column")
    return chosen


def _no_such_column(
    table: UserTable, role: str, name: str, chosen: Mapping[str, str | None]
) -> str:
    found = ", ".join(f"'{column}'" for column in table.columns)
    known = {r: column for r, column in chosen.items() if column in table.columns}
    likely = _guess(table, role, known)
    cure = f"pass --{role}-column {likely}" if likely else f"leave out --{role}-column"
    return f"{table.path} has no column '{name}'; found {found}: {cure}."


def _guess(table: UserTable, role: str, chosen: Mapping[str, str | None]) -> str | None:
    taken = set(chosen.values())
    free = [column for column in table.columns if column not in taken]
    by_name = {column.strip().lower(): column for column in reversed(free)}
    named = next((by_name[name] for name in NAMES[role] if name in by_name), None)
    if named is not None or role not in NEEDED:
        return named
    # What has another role's name is not free to be guessed by its looks.
    plain = [c for c in free if not any(c.strip().lower() in NAMES[r] for r in NAMES if r != role)]
    if not plain:
        found = ", ".join(f"'{column}'" for column in table.columns)
        raise UserError(
            f"{table.path}: no column looks like the {role}; found {found}: "
            f"pass --{role}-column NAME."
        )
    return _by_looks(table, role, plain)


def _by_looks(table: UserTable, role: str, free: Sequence[str]) -> str:
    sample = table.sample()

    def cells(column: str) -> list[Any]:
        place = table.columns.index(column)
        return [str(row[place]) for row in sample if row[place] is not None]

    if role == "text":
        return max(free, key=lambda column: sum(map(len, cells(column))))
    # A label varies: a column that never does is no label unless there is no other.
    values = {column: set(cells(column)) for column in free}
    label = min(free, key=lambda column: (len(values[column]) < 2, len(values[column])))
    if label in values[label]:
        raise UserError(
            f"{table.path}: the first row looks like data, not like column names ('{label}' is "
            "also a value below it): add a first row such as text,label."
        )
    return label
