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
from assay.data.files import scan_parquet
from assay.papers.declared import Measure, Paper
from assay.report.charts.frontier import IMITATION, Plane, plane_of
from assay.reproduction.models import RANDOM, DeclaredModel
from assay.runs.directory import SummaryRow, read_run, read_summary
from assay.runs.manifest import RUN_FILE, Fields, Manifest, read_run_json
from assay.statistics.intervals import Interval, mean_interval, score_interval

# (probe, quantity, statistic, class) -> the parts of the group -> the interval
Summary = dict[tuple[str | None, ...], dict[frozenset[str], Interval]]
# (quantity, group, seed) -> the value of one of the models that a run trained
ModelValues = dict[tuple[str, str | None, int], float]
# Settings in which runs of one model may differ.
FREE_SETTINGS = ("seed", "probes", "threads")


@dataclass(frozen=True)
class FinishedRun:
    """A complete run directory."""

    folder: Path
    manifest: Manifest

    @property
    def name(self) -> str:
        return self.folder.name

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
        if measure.data:
            return self.size(measure.data)
        if measure.probe is None:
            return self.score(score)
        key = (measure.probe, measure.quantity, measure.statistic, class_name)
        return self._summary.get(key, {}).get(frozenset(measure.group))

    def difference(self, measure: Measure, less: "FinishedRun") -> Interval | None:
        """The mean difference to a run on the same documents; None if it was not measured.

        It is the measure's quantity minus the quantity `less`, or minus the same one.
        """
        assert measure.probe is not None, "a difference is between quantities of a probe"
        assert measure.quantity is not None, "a difference is between quantities of a probe"
        minuend = self._documents(measure.probe, measure.quantity)
        subtrahend = less._documents(measure.probe, measure.less or measure.quantity)
        joined = minuend.join(subtrahend, on="instance", suffix="_less", maintain_order="left")
        joined = joined.drop_nulls()
        if joined.is_empty():
            return None
        return mean_interval((joined["value"] - joined["value_less"]).to_numpy(), self.seed)

    def _documents(self, probe: str, quantity: str) -> pl.DataFrame:
        """One quantity of every document: `instance` and `value`, null where it does not exist."""
        table = scan_parquet(self.folder / "evidence.parquet")
        own = (pl.col("probe") == probe) & (pl.col("quantity") == quantity)
        return table.filter(own).select("instance", "value").collect()

    def models(self, probe: str) -> ModelValues:
        """The values of the models that this run trained for a probe."""
        table = scan_parquet(self.folder / "evidence.parquet")
        own = (pl.col("probe") == probe) & pl.col("instance").is_null()
        rows = table.filter(own & pl.col("value").is_not_null() & pl.col("value").is_not_nan())
        columns = rows.select("quantity", "group", "seed", "value").collect()
        return {(quantity, group, seed): value for quantity, group, seed, value in columns.rows()}

    def model_values(self, measure: Measure) -> dict[int, float]:
        """Seed -> the value of each model that this run trained for the measure."""
        assert measure.probe is not None, "values of models belong to a probe"
        own = frozenset(measure.group)
        return {
            seed: value
            for (quantity, group, seed), value in self.models(measure.probe).items()
            if quantity == measure.quantity and frozenset((group or "").split(";")) - {""} == own
        }

    @cached_property
    def plane(self) -> Plane:
        """The points of Wiegreffe & Pinter's figure 5; no sweeps if the run has none."""
        if IMITATION not in self.manifest.settings.rows("probes"):
            return Plane((), {})
        return plane_of(read_run(self.folder))

    @cached_property
    def seconds(self) -> float:
        """How long the run took, with one thread."""
        timing = Fields.of(read_run_json(self.folder / "timing.json"), "timing.json")
        stages = timing.section("stages")
        return sum(stages.number(stage) or 0.0 for stage in stages.values)

    def score(self, score: str) -> Interval:
        """The model's score on test with its interval over documents."""
        table = scan_parquet(self.folder / "instances.parquet")
        columns = table.select("label", "prediction").collect()
        labels, predictions = columns["label"].to_list(), columns["prediction"].to_list()
        return score_interval(labels, predictions, list(self.classes), score, self.seed)

    def size(self, name: str) -> Interval:
        """A size of the corpus, one of `SIZES`, without an interval."""
        table = scan_parquet(self.folder / "instances.parquet").select("tokens").collect()
        if name == "mean_words":  # an item may be a sentence
            words = table["tokens"].list.join(" ").str.split(" ").list.len()
            value = float(words.to_numpy().mean())
        else:
            sizes = self.manifest.corpus.section("sizes")
            value = float(sum(sizes.count(split) or 0 for split in name.split("_")))
        return Interval(value, float("nan"), float("nan"), len(table))

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
    own = [run for run in runs if _agree(_fixed(run.manifest.settings.values), declared)]
    return sorted(own, key=lambda run: run.seed)


def _fixed(settings: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in settings.items() if key not in FREE_SETTINGS}


def _agree(recorded: Mapping[str, object], declared: Mapping[str, object]) -> bool:
    """Whether the settings are the same; a run may be older than a setting that is not used."""
    return all(
        recorded[key] == value if key in recorded else not value for key, value in declared.items()
    )


def _interval(row: SummaryRow, value: float) -> Interval:
    low, high = (float("nan") if bound is None else bound for bound in (row.low, row.high))
    return Interval(value, low, high, row.n or 0)
