"""What is left of an audit: two tables, and the summary and verdict computed from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from assay.store import write_file, write_json, write_parquet
from assay.summary import summarise
from assay.verdict import judge


@dataclass(frozen=True)
class Results:
    """Everything measured on one model; summary and verdict are computed from it alone."""

    instances: pl.DataFrame
    rows: pl.DataFrame  # the evidence
    classes: tuple[str, ...]
    record: Mapping[str, Any]  # what becomes run.json
    seed: int

    def evidence(self) -> pl.DataFrame:
        """The long table: one row per instance, probe and quantity."""
        return self.rows

    def summary(self) -> pl.DataFrame:
        """Statistics per quantity and predicted class, with 95 % intervals."""
        return self._summary

    @cached_property
    def _summary(self) -> pl.DataFrame:
        return summarise(self.rows, self.instances, self.classes, self.seed)

    def verdict(self) -> list[dict[str, Any]]:
        """One finding per claim."""
        return judge(self.rows, self.seed, self.record.get("not_applicable"))

    def write(self, folder: Path) -> None:
        """The tables of a run directory, and last the record that calls it complete."""
        write_parquet(folder / "instances.parquet", self.instances)
        write_parquet(folder / "evidence.parquet", self.rows)
        table = self.summary().write_csv()
        write_file(folder / "summary.csv", lambda path: path.write_text(table, encoding="utf-8"))
        write_json(folder / "summary.json", self.summary().to_dicts())
        write_json(folder / "verdict.json", self.verdict())
        write_json(folder / "run.json", self.record)
