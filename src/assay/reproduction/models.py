"""Which models are meant, and under which settings and folder is each trained?"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from assay.config import VERSION, Settings
from assay.data.files import read_json
from assay.errors import UserError, nearest
from assay.papers.declared import Grid, Measure, Paper
from assay.papers.published import spelt
from assay.probes import PROBES
from assay.statistics.intervals import Interval, score_interval

RANDOM, FILE = "random", "file"
# One, whatever the engine: models are trained beside each other, and threads change last digits.
Summary = dict[tuple[str | None, ...], dict[frozenset[str], Interval]]
THREADS = 1


@dataclass(frozen=True)
class ModelSelection:
    """What the user wants of a paper; nothing said means all that is trained by default."""

    only: tuple[str, ...] = ()  # corpora
    encoders: tuple[str, ...] = ()
    seeds: int | None = None  # for every model, in place of the declared number
    vectors: Path | None = None


@dataclass(frozen=True)
class DeclaredModel:
    """One model: all its seeds together stand in one row of a table."""

    grid: Grid
    encoder: str
    attention: str
    vectors: str  # `random`, `corpus`, or the name of a vectors file

    @property
    def model(self) -> str:
        """As published.csv spells it."""
        return spelt(self.encoder, self.attention)

    def settings(self, paper: Paper, seed: int) -> Settings:
        return Settings(
            sample=0,  # no table of the papers reads a costly score
            corpus=self.grid.name,
            encoder=self.encoder,
            attention=self.attention,
            probes=tuple(name for name in self.grid.probes or paper.probes if name in PROBES),
            seed=seed,
            limit=self.grid.limit,
            preset=self.grid.preset or paper.preset,
            threads=THREADS,
            vectors=None if self.vectors == RANDOM else self.vectors,
            seeds=self.grid.further,
            from_scratch=self.grid.from_scratch,
        )


def names_in(given: str) -> tuple[str, ...]:
    """Names joined by commas, each once; an empty text has none."""
    return tuple(dict.fromkeys(name.strip() for name in given.split(",") if name.strip()))


def slug(settings: Settings) -> str:
    """The folder of a run; its other settings are the same throughout a paper."""
    vectors = re.sub(r"\W+", "-", settings.vectors or RANDOM)
    sample = [str(settings.limit)] if settings.limit else []
    afresh = ["scratch"] if settings.from_scratch else []
    return "-".join((settings.corpus, *sample, settings.encoder, settings.attention, vectors,
                     *afresh, f"seed{settings.seed}"))  # fmt: skip


def declared_models(paper: Paper, vectors: Sequence[str]) -> Iterator[DeclaredModel]:
    """Every declared model; `vectors` names the files that stand for the kind `file`."""
    for grid in paper.corpora:
        for kind in grid.vectors:
            for name in vectors if kind == FILE else (kind,):
                for encoder in grid.encoders:
                    for attention in grid.attentions:
                        yield DeclaredModel(grid, encoder, attention, name)


def selected_models(paper: Paper, choice: ModelSelection) -> list[DeclaredModel]:
    """The models asked for; a name the paper does not have is refused."""
    _check("--only", choice.only, [grid.name for grid in paper.corpora])
    _check("--encoder", choice.encoders, [name for grid in paper.corpora for name in grid.encoders])
    files = () if choice.vectors is None else (choice.vectors.name,)
    return [cell for cell in declared_models(paper, files) if _wanted(cell, choice)]


def seeds_of(cell: DeclaredModel, choice: ModelSelection) -> range:
    return range(cell.grid.seeds if choice.seeds is None else choice.seeds)


def _wanted(cell: DeclaredModel, choice: ModelSelection) -> bool:
    named = cell.grid.name in choice.only if choice.only else not cell.grid.unless_named
    return named and (not choice.encoders or cell.encoder in choice.encoders)


def _check(option: str, given: Sequence[str], known: Sequence[str]) -> None:
    for name in given:
        if name not in known:
            raise UserError(f"{option} '{name}' is not declared here: {nearest(name, set(known))}.")


RECORD = "run.json"


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


def runs_of(cell: DeclaredModel, paper: Paper, runs: list[Run]) -> list[Run]:
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
