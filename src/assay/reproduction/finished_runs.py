"""Finished runs of a reproduction, and the values that a table reads from them.

The manifest and the summary are read in full. Of `instances.parquet` only two columns are read, for
the interval of the model's score, and of `evidence.parquet` only single quantities: a grid of large
runs must fit into memory.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from assay.config import VERSION, Settings
from assay.papers.declared import Measure, Paper
from assay.reproduction.models import RANDOM, DeclaredModel
from assay.runs.directory import SummaryRow, read_summary
from assay.runs.manifest import RUN_FILE, Manifest
from assay.statistics.intervals import Interval, score_interval

# (probe, quantity, statistic, class) -> the parts of the group -> the interval
Summary = dict[tuple[str | None, ...], dict[frozenset[str], Interval]]
# Settings in which runs of one model may differ.
FREE_SETTINGS = ("seed", "probes", "threads")


@dataclass(frozen=True)
class FinishedRun:
    """A complete run directory."""

    folder: Path
    manifest: Manifest

    @property
    def seed(self) -> int:
        return self.manifest.seed

    @property
    def classes(self) -> tuple[str, ...]:
        return self.manifest.classes

    @property
    def fingerprint(self) -> str | None:
        """A hash of all documents and splits."""
        return self.manifest.fingerprint

    @property
    def vectors(self) -> str:
        return self.manifest.settings.text("vectors") or RANDOM

    def value(self, measure: Measure, class_name: str, score: str) -> Interval | None:
        """The measured value of a class with its interval over documents; None if there is none."""
        if measure.probe is None:
            return self._score(score)
        key = (measure.probe, measure.quantity, measure.statistic, class_name)
        return self._summary.get(key, {}).get(frozenset(measure.group))

    def documents(self, probe: str, quantity: str) -> pl.DataFrame:
        """One quantity of every document: `instance` and `value`, null where it does not exist."""
        table = pl.scan_parquet(self.folder / "evidence.parquet")
        own = (pl.col("probe") == probe) & (pl.col("quantity") == quantity)
        return table.filter(own).select("instance", "value").collect()

    def _score(self, score: str) -> Interval:
        table = pl.scan_parquet(self.folder / "instances.parquet")
        columns = table.select("label", "prediction").collect()
        labels, predictions = columns["label"].to_list(), columns["prediction"].to_list()
        return score_interval(labels, predictions, list(self.classes), score, self.seed)

    @cached_property
    def _summary(self) -> Summary:
        table: Summary = {}
        for row in read_summary(self.folder):
            if row.value is not None:
                key = (row.probe, row.quantity, row.statistic, row.predicted)
                group = frozenset((row.group or "").split(";")) - {""}
                table.setdefault(key, {})[group] = _interval(row, row.value)
        return table


def existing_manifest(folder: Path) -> Manifest | None:
    """The manifest in a folder; None if the folder holds no run."""
    return Manifest.read(folder) if (folder / RUN_FILE).is_file() else None


def covers(manifest: Manifest, settings: Settings) -> bool:
    """Whether this is a complete run with these settings, and with these probes or more."""
    if not manifest.is_complete or manifest.version != VERSION:
        return False
    recorded, requested = dict(manifest.settings.values), settings.as_record()
    recorded_probes = manifest.settings.rows("probes")
    requested_probes = requested.pop("probes")
    recorded.pop("probes", None)
    return set(requested_probes) <= set(recorded_probes) and recorded == requested


def complete_runs(out: Path) -> list[FinishedRun]:
    """Every complete run below `out`, in the order of folder names."""
    folders = sorted(path.parent for path in out.glob(f"*/{RUN_FILE}"))
    runs = (FinishedRun(folder, Manifest.read(folder)) for folder in folders)
    return [run for run in runs if run.manifest.is_complete]


def runs_of(model: DeclaredModel, paper: Paper, runs: list[FinishedRun]) -> list[FinishedRun]:
    """The runs of one model, in the order of seeds."""
    declared = _fixed(model.settings(paper, seed=0).as_record())
    own = [run for run in runs if _fixed(run.manifest.settings.values) == declared]
    return sorted(own, key=lambda run: run.seed)


def _fixed(settings: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in settings.items() if key not in FREE_SETTINGS}


def _interval(row: SummaryRow, value: float) -> Interval:
    low, high = (float("nan") if bound is None else bound for bound in (row.low, row.high))
    return Interval(value, low, high, row.n or 0)
