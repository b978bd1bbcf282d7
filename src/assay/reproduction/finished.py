"""Which runs are there, and what did they measure?

Only `run.json` and `summary.json` are read, two columns of `instances.parquet` for the score's
interval, and single quantities of `evidence.parquet`: a grid of large runs must fit into memory.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from assay.measures.accuracy import score_interval
from assay.measures.intervals import Interval
from assay.reference.declared import Measure, Paper
from assay.reproduction.cells import RANDOM, Cell
from assay.settings import Settings
from assay.store import read_json
from assay.version import VERSION

RECORD = "run.json"
Summary = dict[tuple[str | None, ...], dict[frozenset[str], Interval]]


@dataclass(frozen=True)
class Run:
    """A complete run."""

    folder: Path
    record: Mapping[str, Any]

    @property
    def seed(self) -> int:
        return int(self.record["settings"]["seed"])

    @property
    def classes(self) -> list[str]:
        return list(self.record["corpus"]["classes"])

    @property
    def fingerprint(self) -> str:
        """Of all documents and splits."""
        return str(self.record["corpus"]["fingerprint"])

    @property
    def vectors(self) -> str:
        return self.record["settings"]["vectors"] or RANDOM

    def value(self, measure: Measure, name: str, score: str) -> Interval | None:
        """What it measured for this class, with the interval over instances; None: nothing."""
        if measure.probe is None:
            return self._score(score)
        key = (measure.probe, measure.quantity, measure.statistic, name)
        return self._summary.get(key, {}).get(frozenset(measure.group))

    def documents(self, probe: str, quantity: str) -> pl.DataFrame:
        """One quantity of every document: `instance` and `value`, null where it does not exist."""
        table = pl.scan_parquet(self.folder / "evidence.parquet")
        own = (pl.col("probe") == probe) & (pl.col("quantity") == quantity)
        return table.filter(own).select("instance", "value").collect()

    def _score(self, score: str) -> Interval:
        columns = pl.scan_parquet(self.folder / "instances.parquet").select("label", "prediction")
        found = columns.collect()
        return score_interval(
            found["label"].to_list(), found["prediction"].to_list(), self.classes, score, self.seed
        )

    @cached_property
    def _summary(self) -> Summary:
        table: Summary = {}
        for row in read_json(self.folder / "summary.json"):
            if row["value"] is not None:
                key = (row["probe"], row["quantity"], row["statistic"], row["class"])
                group = frozenset((row["group"] or "").split(";")) - {""}
                table.setdefault(key, {})[group] = _interval(row)
        return table


def record_of(folder: Path) -> dict[str, Any] | None:
    path = folder / RECORD
    return read_json(path) if path.is_file() else None


def covers(record: Mapping[str, Any], settings: Settings) -> bool:
    """Is this the record of a complete run of these settings, with these probes or more?"""
    if record.get("status") != "complete" or record["versions"]["assay"] != VERSION:
        return False
    held, asked = dict(record["settings"]), settings.as_record()
    return set(asked.pop("probes")) <= set(held.pop("probes")) and held == asked


def complete_runs(out: Path) -> list[Run]:
    """Every complete run below `out`, in order of names."""
    folders = sorted(path.parent for path in out.glob(f"*/{RECORD}"))
    records = [(folder, record_of(folder)) for folder in folders]
    return [Run(f, record) for f, record in records if record and record["status"] == "complete"]


def runs_of(cell: Cell, paper: Paper, runs: list[Run]) -> list[Run]:
    """The runs of one model, by seed."""
    wanted = cell.settings(paper, seed=0).as_record()
    free = ("seed", "probes", "threads")
    asked = {key: value for key, value in wanted.items() if key not in free}

    def fits(run: Run) -> bool:
        held = run.record["settings"]
        return {key: value for key, value in held.items() if key not in free} == asked

    return sorted(filter(fits, runs), key=lambda run: run.seed)


def _interval(row: Mapping[str, Any]) -> Interval:
    low, high = (float("nan") if row[end] is None else row[end] for end in ("low", "high"))
    return Interval(row["value"], low, high, row["n"])
