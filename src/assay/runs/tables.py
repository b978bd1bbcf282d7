"""The two tables of a run, merged from the parts that its audit jobs wrote.

A run may measure millions of values, so its tables are never whole in memory. They are read from
the parts in batches, in the order of the final file, and written row group by row group. Whoever
needs only one probe scans the file for its rows.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

from assay.data.corpus import Document
from assay.data.files import read_json, write_file
from assay.evidence import SCHEMA
from assay.runs.audit import in_order
from assay.scores.sample import SamplePlan

INSTANCES, EVIDENCE, NOTES = "instances.parquet", "evidence.parquet", "notes.json"
KIND = ["probe", "quantity", "group"]  # what was measured
EVIDENCE_ROWS = 2**18  # of a row group; also of what is merged at a time, if a kind has fewer
INSTANCE_ITEMS = 2**20  # of a row group: about a hundred megabytes of lists
SYSTEM_ERROR = re.compile(r"\(os error (\d+)\)")  # within a message of polars


@dataclass(frozen=True)
class Tables:
    """The instances and the evidence of a run, which are computed or read when they are needed."""

    instances: pl.LazyFrame
    evidence: pl.LazyFrame
    instance_rows: int = EVIDENCE_ROWS  # of a row group

    def in_memory(self) -> "Tables":
        """The same tables, computed and kept."""
        return Tables(self.instances.collect().lazy(), self.evidence.collect().lazy())

    def write(self, folder: Path) -> "Tables":
        """Write both files of a run directory, and return the tables that read them."""
        write_lazily(folder / INSTANCES, self.instances, self.instance_rows)
        write_lazily(folder / EVIDENCE, self.evidence, EVIDENCE_ROWS)
        return Tables(pl.scan_parquet(folder / INSTANCES), pl.scan_parquet(folder / EVIDENCE))


@dataclass(frozen=True)
class AuditedParts:
    """What the audit jobs of a run left in their folders, for documents in this order."""

    parts: tuple[Path, ...]
    ids: tuple[str, ...]
    lengths: tuple[int, ...]
    sample: SamplePlan | None = None  # on which documents the costly scores are computed

    @classmethod
    def of(
        cls, parts: Sequence[Path], documents: Sequence[Document], sample: SamplePlan | None
    ) -> "AuditedParts":
        ids = tuple(document.id for document in documents)
        lengths = tuple(len(document.tokens) for document in documents)
        return cls(tuple(parts), ids, lengths, sample)

    @property
    def not_applicable(self) -> dict[str, str]:
        """Scores and probes that the model cannot give or answer, with the reasons."""
        missing: dict[str, str] = {}
        for part in self.parts:
            missing |= read_json(part / NOTES)["not_applicable"]
        return missing

    def outcomes(self) -> pl.DataFrame:
        """The `id`, `label` and `prediction` of every document."""
        columns = ["id", "label", "prediction"]
        found = [pl.read_parquet(part / INSTANCES, columns=columns) for part in self.parts]
        return in_order(pl.concat(found), "id", self.ids)

    def tables(self, more: pl.DataFrame | None = None) -> Tables:
        """The merged tables; `more` is evidence of trained models, which comes last."""
        rows = self.instance_rows
        instances = partial(self._instances, rows)
        evidence = partial(self._evidence, more)
        return Tables(
            lazy_frame(instances, rows, self._instance_schema()),
            lazy_frame(evidence, EVIDENCE_ROWS, SCHEMA),
            rows,
        )

    @property
    def instance_rows(self) -> int:
        """Documents per row group: a fixed function of their lengths."""
        mean = max(1.0, float(np.mean(self.lengths)))
        return max(1, int(INSTANCE_ITEMS / mean))

    def _instance_schema(self) -> pl.Schema:
        # Diagonal: a column such as `rationale` is absent from parts whose documents have none.
        empty = [pl.scan_parquet(part / INSTANCES).head(0).collect() for part in self.parts]
        return pl.concat(empty, how="diagonal").schema

    def _instances(self, rows: int) -> Iterator[pl.DataFrame]:
        for start in range(0, len(self.ids), rows):
            ids = self.ids[start : start + rows]
            wanted = pl.col("id").is_in(pl.Series(ids).implode())
            found = [pl.scan_parquet(part / INSTANCES).filter(wanted) for part in self.parts]
            frames = [frame.collect() for frame in found]
            yield in_order(pl.concat(frames, how="diagonal"), "id", ids)

    def _evidence(self, more: pl.DataFrame | None) -> Iterator[pl.DataFrame]:
        files = [part / EVIDENCE for part in self.parts]
        for kinds in _batches_of_kinds(_count_kinds(files)):
            frames = [_rows_of(file, kinds) for file in files]
            yield in_order(pl.concat(frames), "instance", self.ids, kinds.select(KIND))
        if more is not None:
            yield more


def _count_kinds(files: Sequence[Path]) -> pl.DataFrame:
    """What was measured, in the order in which it first occurs, and the number of its rows."""
    counts = [
        pl.scan_parquet(file).group_by(KIND, maintain_order=True).len().collect() for file in files
    ]
    return pl.concat(counts).group_by(KIND, maintain_order=True).agg(pl.col("len").sum())


def _batches_of_kinds(kinds: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Kinds that follow each other, together about `EVIDENCE_ROWS` rows."""
    before = np.cumsum(kinds["len"].to_numpy()) - kinds["len"].to_numpy()
    batch = pl.Series("batch", before // EVIDENCE_ROWS)
    yield from kinds.with_columns(batch).partition_by("batch", maintain_order=True)


def _rows_of(file: Path, kinds: pl.DataFrame) -> pl.DataFrame:
    """The rows of a file that measure one of these kinds, in the order of the file."""
    near = [pl.col(name).is_in(kinds[name].unique().implode()) for name in ("probe", "quantity")]
    rows = pl.scan_parquet(file).filter(*near).collect()
    return rows.join(kinds.select(KIND), on=KIND, how="semi", nulls_equal=True)


def lazy_frame(
    frames: Callable[[], Iterable[pl.DataFrame]], rows: int, schema: pl.Schema
) -> pl.LazyFrame:
    """A lazy frame that reads others one after another, in slices of so many rows."""

    def source(
        columns: list[str] | None, predicate: pl.Expr | None, limit: int | None, _: int | None
    ) -> Iterator[pl.DataFrame]:
        left = limit
        for frame in slices(frames(), rows):
            chosen = frame if columns is None else frame.select(columns)
            chosen = chosen if left is None else chosen.head(left)
            left = None if left is None else left - len(chosen)
            yield chosen if predicate is None else chosen.filter(predicate)
            if left == 0:
                return

    return register_io_source(source, schema=schema, is_pure=True)


def slices(frames: Iterable[pl.DataFrame], rows: int) -> Iterator[pl.DataFrame]:
    """The same rows in frames of `rows` each; the last one may have fewer.

    The row groups of the file are then the same, however the rows were merged.
    """
    kept: pl.DataFrame | None = None
    for frame in frames:
        kept = frame if kept is None else pl.concat([kept, frame])
        while len(kept) >= rows:
            yield kept[:rows].rechunk()
            kept = kept[rows:]
    if kept is not None and len(kept):
        yield kept.rechunk()


def write_lazily(path: Path, frame: pl.LazyFrame, rows: int) -> None:
    """Write a table as Parquet, row group by row group, atomically."""

    def write(temporary: Path) -> None:
        try:
            frame.sink_parquet(temporary, row_group_size=rows, maintain_order=True)
        except pl.exceptions.PolarsError as error:
            told = SYSTEM_ERROR.search(str(error))
            if told is None:
                raise
            raise OSError(int(told[1]), str(error)) from error  # a full disk, for example

    write_file(path, write)
