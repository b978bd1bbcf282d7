"""The two tables of a run, merged from the parts that its audit jobs wrote.

A run may measure millions of values, so its tables are never whole in memory. They are read from
the parts in batches, in the order of the final file, and written batch by batch. Whoever needs only
one probe scans the file for its rows.
"""

import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
import polars as pl

from assay.data.corpus import Document
from assay.data.files import (
    TEMPORARY,
    read_json,
    read_parquet,
    scan_parquet,
    write_file,
    write_parquet,
)
from assay.evidence import empty
from assay.runs.audit import in_order
from assay.scores.sample import SamplePlan

INSTANCES, EVIDENCE, NOTES = "instances.parquet", "evidence.parquet", "notes.json"
KIND = ["probe", "quantity", "group"]  # what was measured
EVIDENCE_ROWS = 2**18  # of a row group; also of what is merged at a time, if a kind has fewer
INSTANCE_ITEMS = 2**20  # of a row group: about a hundred megabytes of lists
SYSTEM_ERROR = re.compile(r"\(os error (\d+)\)")  # within a message of polars


class TableSource(Protocol):
    """Whatever has the two tables of a run."""

    def read(self) -> "Tables":
        """Tables that can be read again and again, if need be by keeping them in memory."""

    def write(self, folder: Path) -> "Tables":
        """Write both files of a run directory, and return tables that read them."""


@dataclass(frozen=True)
class Tables:
    """The two tables, in memory or as files that are read when their rows are needed."""

    instances: pl.LazyFrame
    evidence: pl.LazyFrame

    def read(self) -> "Tables":
        return self

    def write(self, folder: Path) -> "Tables":
        instances = self.instances.collect()
        rows = documents_per_group(instances["tokens"].list.len().to_list())
        write_frames(folder / INSTANCES, [instances], rows)
        write_frames(folder / EVIDENCE, [self.evidence.collect()], EVIDENCE_ROWS)
        return scan_tables(folder)


def scan_tables(folder: Path) -> Tables:
    """The tables of a run directory."""
    return Tables(scan_parquet(folder / INSTANCES), scan_parquet(folder / EVIDENCE))


@dataclass(frozen=True)
class AuditedParts:
    """What the audit jobs of a run left in their folders, for documents in this order."""

    parts: tuple[Path, ...]
    ids: tuple[str, ...]
    lengths: tuple[int, ...]
    sample: SamplePlan | None = None  # on which documents the costly scores are computed
    more: pl.DataFrame = field(default_factory=empty)  # evidence of trained models, which is last

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
        found = [read_parquet(part / INSTANCES, columns=columns) for part in self.parts]
        return in_order(pl.concat(found), "id", self.ids)

    def read(self) -> Tables:
        """Both tables in memory."""
        instances = pl.concat(self._instances(len(self.ids)))
        return Tables(instances.lazy(), pl.concat(self._evidence()).lazy())

    def write(self, folder: Path) -> Tables:
        """Write both files of a run directory, with a batch in memory at a time."""
        rows = documents_per_group(self.lengths)
        write_frames(folder / INSTANCES, self._instances(rows), rows)
        write_frames(folder / EVIDENCE, self._evidence(), EVIDENCE_ROWS)
        return scan_tables(folder)

    def _instances(self, rows: int) -> Iterator[pl.DataFrame]:
        for start in range(0, len(self.ids), rows):
            ids = self.ids[start : start + rows]
            wanted = pl.col("id").is_in(pl.Series(ids).implode())
            found = [scan_parquet(part / INSTANCES).filter(wanted) for part in self.parts]
            frames = [frame.collect() for frame in found]
            # Diagonal: a column such as `rationale` is absent where no document of a part has one.
            yield in_order(pl.concat(frames, how="diagonal"), "id", ids)

    def _evidence(self) -> Iterator[pl.DataFrame]:
        files = [part / EVIDENCE for part in self.parts]
        for kinds in _batches_of_kinds(_count_kinds(files)):
            frames = [_rows_of(file, kinds) for file in files]
            yield in_order(pl.concat(frames), "instance", self.ids, kinds.select(KIND))
        yield self.more


def documents_per_group(lengths: Sequence[int]) -> int:
    """Documents per row group: a fixed function of their lengths."""
    return max(1, int(INSTANCE_ITEMS / max(1.0, float(np.mean(lengths)))))


def _count_kinds(files: Sequence[Path]) -> pl.DataFrame:
    """What was measured, in the order in which it first occurs, and the number of its rows."""
    counts = [
        scan_parquet(file).group_by(KIND, maintain_order=True).len().collect() for file in files
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
    rows = scan_parquet(file).filter(*near).collect()
    return rows.join(kinds.select(KIND), on=KIND, how="semi", nulls_equal=True)


def slices(frames: Iterable[pl.DataFrame], rows: int) -> Iterator[pl.DataFrame]:
    """The same rows in frames of `rows` each; the last one may have fewer, an only one none.

    The row groups of the file are then the same, however the rows were merged.
    """
    kept: pl.DataFrame | None = None
    yielded = False
    for frame in frames:
        kept = frame if kept is None else pl.concat([kept, frame])
        while len(kept) >= rows:
            yielded = True
            yield kept[:rows].rechunk()
            kept = kept[rows:]
    if kept is not None and (len(kept) or not yielded):
        yield kept.rechunk()


def write_frames(path: Path, frames: Iterable[pl.DataFrame], rows: int) -> None:
    """Write frames that follow each other as one Parquet file, atomically.

    Every slice is first a file of its own. Polars then joins the files without holding them; if it
    got the frames themselves, it would read them all before it writes.
    """
    with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=path.parent) as folder:
        pieces = []
        for number, frame in enumerate(slices(frames, rows)):
            pieces.append(Path(folder) / f"{number:06}.parquet")
            write_parquet(pieces[-1], frame)
        joined = scan_parquet(*pieces)
        write_file(path, lambda temporary: _sink(joined, temporary, rows))


def _sink(frame: pl.LazyFrame, path: Path, rows: int) -> None:
    try:
        frame.sink_parquet(path, row_group_size=rows, maintain_order=True)
    except pl.exceptions.PolarsError as error:
        told = SYSTEM_ERROR.search(str(error))
        if told is None:
            raise
        raise OSError(int(told[1]), str(error)) from error  # a full disk, for example
