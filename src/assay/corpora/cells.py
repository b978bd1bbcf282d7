"""What does a user's table hold: which columns, and which cells in each row?

CSV, TSV and JSON lines (plain or gzip) are streamed; Parquet is read by polars. The format is
told by content, the delimiter by the header line.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from assay.errors import UserError
from assay.files import csv_header, opened, read_csv_rows, read_json_lines, read_lines

Format = Literal["CSV", "TSV", "JSON lines", "Parquet"]
PARQUET_MAGIC = b"PAR1"
SAMPLE = 1000  # rows that are looked at for guesses


@dataclass(frozen=True)
class Table:
    """A file of rows, not read yet."""

    path: Path
    format: Format
    columns: tuple[str, ...]

    @classmethod
    def open(cls, path: Path) -> "Table":
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
    with opened(path) as stream:
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
