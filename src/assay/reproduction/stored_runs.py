"""Numbers of finished runs in a few small files, from which the pages are rebuilt without the runs.

`runs.jsonl` has one line per run: its manifest, the findings of its verdict, its duration, and what
the tables read from larger files. `summary.csv.gz` has all summary rows of the quantities that the
paper's tables read. `checksums.txt` has the SHA-256 of the files of every run directory, in the
format of `sha256sum`. `environment.json` has the machine and the checksums of the corpora's files.
`figures` has those that are drawn from all documents of a run, one definition per corpus. Numbers
are stored in full precision, so that rebuilt pages are equal to the byte.

Runs that were stored before and are not here now are kept, so that a study can be trained in parts.
"""

import gzip
import hashlib
import io
import json
import os
import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from assay.data.files import write_file
from assay.data.sources import SOURCES
from assay.errors import UserError
from assay.papers.declared import SIZES, Measure
from assay.report.charts.frontier import Plane, Point
from assay.reproduction.comparison import RunPair, value_sources
from assay.reproduction.finished_runs import FinishedRun, ModelValues, Summary
from assay.reproduction.models import DeclaredModel
from assay.reproduction.results import PaperResults
from assay.runs.directory import read_verdict
from assay.runs.manifest import Fields, Manifest
from assay.statistics.intervals import Interval

RUNS, SUMMARY, CHECKSUMS = "runs.jsonl", "summary.csv.gz", "checksums.txt"
ENVIRONMENT = "environment.json"
FIGURES = "figures"  # drawn from all documents of a run, which are not stored
SUMMARY_FILE = "summary.csv"  # of a run directory
COLUMNS = ("run", "probe", "quantity", "group", "class", "statistic", "value", "low", "high", "n")
BLOCK = 1 << 20
# Corpus -> the definition of the figure of its first run.
Drawings = Mapping[str, Mapping[str, Any]]


def store_runs(
    results: PaperResults,
    quantities: set[tuple[str, str]],
    drawings: Mapping[str, Drawings],
    folder: Path,
) -> int:
    """Store what the pages need of every finished run; returns how many runs are stored now.

    `drawings` are the figures, by table, that are drawn from the documents of single runs.
    """
    runs = {run.name: (model, run) for model, found in results.runs.items() for run in found}
    before = {record["run"]: record for record in _records(folder)}
    differences = _differences(results)
    records = before | {
        name: _record(model, run, quantities, _joined(differences.get(name, []), before.get(name)))
        for name, (model, run) in runs.items()
    }
    tables = [_stored_rows(folder).filter(~pl.col("run").is_in(list(runs)))]
    tables += [_summary_rows(run, quantities) for _, run in runs.values()]
    rows = pl.concat(tables).sort("run", maintain_order=True)
    kept = (line for line in _stored_checksums(folder) if _run_of(line) not in runs)
    checksums = [*kept, *_checksums(run for _, run in runs.values())]
    _write(folder / RUNS, "".join(_line(records[name]) for name in sorted(records)).encode())
    _write(folder / SUMMARY, _gzip(rows.write_csv().encode()))
    _write(folder / CHECKSUMS, "".join(sorted(checksums, key=_place_of)).encode())
    for name, drawing in drawings.items():
        whole = {**stored_drawings(folder).get(name, {}), **drawing}
        _write(folder / FIGURES / f"{name}.json", _line(whole).encode())
    return len(records)


def _records(folder: Path) -> list[dict[str, Any]]:
    path = folder / RUNS
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [json.loads(line) for line in lines]


def _stored_rows(folder: Path) -> pl.DataFrame:
    """The stored summary rows, every column as text."""
    path = folder / SUMMARY
    content = gzip.decompress(path.read_bytes()) if path.is_file() else b""
    return pl.read_csv(content or ",".join(COLUMNS).encode(), infer_schema=False)


def _stored_checksums(folder: Path) -> list[str]:
    path = folder / CHECKSUMS
    return path.read_text(encoding="utf-8").splitlines(keepends=True) if path.is_file() else []


def _place_of(line: str) -> str:
    return line.partition("  ")[2]


def _run_of(line: str) -> str:
    return _place_of(line).partition("/")[0]


def _joined(
    found: Sequence[Sequence[Any]], before: Mapping[str, Any] | None
) -> list[Sequence[Any]]:
    """Differences of a run, with those to runs that were stored before and are not here."""
    own = {tuple(each[:-1]) for each in found}
    older = before["differences"] if before is not None else []
    return [*found, *(each for each in older if tuple(each[:-1]) not in own)]


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, sort_keys=True) + "\n"


def _record(
    model: DeclaredModel,
    run: FinishedRun,
    quantities: set[tuple[str, str]],
    differences: Sequence[Sequence[Any]],
) -> dict[str, Any]:
    score = model.grid.score
    record: dict[str, Any] = {
        "run": run.name,
        "seconds": round(run.seconds, 3),
        "scores": {score: _numbers(run.score(score))},
        "sizes": {name: _numbers(run.size(name)) for name in SIZES},
        "differences": list(differences),
        "models": list(_model_values(run, quantities)),
        "verdict": [
            [each.claim, each.finding, each.effect, each.low, each.high]
            for each in read_verdict(run.folder)
        ],
        "manifest": run.manifest.fields.values,
    }
    if run.plane.sweeps:
        record["plane"] = _stored_plane(run.plane)
    return record


def _model_values(run: FinishedRun, quantities: set[tuple[str, str]]) -> Iterator[list[Any]]:
    for probe in sorted({probe for probe, _ in quantities}):
        for (quantity, group, seed), value in run.models(probe).items():
            if (probe, quantity) in quantities:
                yield [probe, quantity, group, seed, value]


def _differences(results: PaperResults) -> dict[str, list[list[Any]]]:
    """Run -> [the run subtracted, probe, quantity, less, numbers of the interval], each once."""
    found: dict[str, dict[tuple[Any, ...], list[Any]]] = {}
    for table in results.tables:
        for part, _ in table.parts:
            for model in results.runs:
                for pair in value_sources(part, model, results.runs):
                    if not isinstance(pair, RunPair):
                        continue
                    for measure in part.measures:
                        key = _difference_key(measure, pair.second)
                        interval = pair.first.difference(measure, pair.second)
                        own = found.setdefault(pair.first.name, {})
                        if interval is not None:
                            own[key] = [*key, _numbers(interval)]
    return {run: list(own.values()) for run, own in found.items()}


def _difference_key(measure: Measure, less: FinishedRun) -> tuple[Any, ...]:
    return (less.name, measure.probe, measure.quantity, measure.less)


def _summary_rows(run: FinishedRun, quantities: set[tuple[str, str]]) -> pl.DataFrame:
    # Every column as text, so that numbers keep all their digits.
    table = pl.read_csv(run.folder / SUMMARY_FILE, infer_schema=False)
    wanted = pl.DataFrame(sorted(quantities), schema=["probe", "quantity"], orient="row")
    kept = table.join(wanted, on=["probe", "quantity"], how="semi", maintain_order="left")
    kept = kept.filter(pl.col("value").is_not_null())
    return kept.with_columns(pl.lit(run.name).alias("run")).select(COLUMNS)


def _checksums(runs: Iterable[FinishedRun]) -> Iterator[str]:
    for run in runs:
        for path in sorted(path for path in run.folder.iterdir() if path.is_file()):
            yield f"{sha256_of(path)}  {run.name}/{path.name}\n"


def sha256_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def store_environment(results: PaperResults, data: Path | None, folder: Path) -> None:
    """Store what machine this is and, with the data at hand, the checksums of their files.

    Files that were stored before and are not at hand now keep their checksums.
    """
    before = read_environment(folder)
    models = [model for model, runs in results.runs.items() if runs]
    files = before.get("data", {}) | {
        name: checksums
        for name in dict.fromkeys(model.grid.name for model in models)
        if (checksums := _data_checksums(name, data))
    }
    vectors = before.get("vectors", {}) | {
        name: sha256_of(path)
        for name in dict.fromkeys(model.vectors for model in models)
        for path in sorted([] if data is None else data.rglob(name))
    }
    content = {"machine": _machine(), "data": files, "vectors": vectors}
    text = json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False)
    _write(folder / ENVIRONMENT, text.encode() + b"\n")


def read_environment(folder: Path) -> dict[str, Any]:
    """What `store_environment` stored; empty without the file."""
    path = folder / ENVIRONMENT
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


def _data_checksums(corpus: str, data: Path | None) -> dict[str, str]:
    """File -> SHA-256, for the file or folder from which a corpus is read."""
    locate = SOURCES[corpus].locate
    place = None if locate is None or data is None else locate(data)
    if place is None:
        return {}
    files = [place] if place.is_file() else sorted(p for p in place.rglob("*") if p.is_file())
    return {path.name: sha256_of(path) for path in files if path.suffix != ".md"}


def _machine() -> dict[str, Any]:
    """Processor, cores and memory; never a name of the machine."""
    cpu, memory = Path("/proc/cpuinfo"), Path("/proc/meminfo")
    names = re.findall(r"model name\s*: (.*)", cpu.read_text()) if cpu.is_file() else []
    total = re.findall(r"MemTotal:\s*(\d+) kB", memory.read_text()) if memory.is_file() else []
    return {
        "processor": names[0] if names else platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": round(int(total[0]) / 2**20) if total else None,
        "system": platform.system(),
    }


def _numbers(interval: Interval) -> list[float | int | None]:
    """Value, bounds and n; a bound that does not exist is null."""
    numbers = (interval.value, interval.low, interval.high)
    return [*(None if number != number else number for number in numbers), interval.n]


def _interval(numbers: Sequence[Any]) -> Interval:
    value, low, high = (float("nan") if each is None else float(each) for each in numbers[:3])
    return Interval(value, low, high, int(numbers[3]))


def _stored_plane(plane: Plane) -> dict[str, Any]:
    def point(each: Point) -> list[Any]:
        return [each.name, each.far, each.moved]

    return {
        "sweeps": [[seed, *point(each)] for seed, each in plane.sweeps],
        "others": {shape: list(map(point, points)) for shape, points in plane.others.items()},
    }


def _gzip(content: bytes) -> bytes:
    """Compressed without a date, so that the same rows give the same bytes."""
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0, compresslevel=9) as file:
        file.write(content)
    return buffer.getvalue()


def _write(path: Path, content: bytes) -> None:
    write_file(path, lambda temporary: temporary.write_bytes(content))


@dataclass(frozen=True)
class StoredRun(FinishedRun):
    """A run of which only the stored numbers are here; `folder` is its name."""

    record: Mapping[str, Any] = field(default_factory=dict, compare=False)
    rows: pl.DataFrame | None = field(default=None, compare=False)

    def score(self, score: str) -> Interval:
        return _interval(self.record["scores"][score])

    def size(self, name: str) -> Interval:
        return _interval(self.record["sizes"][name])

    def difference(self, measure: Measure, less: FinishedRun) -> Interval | None:
        key = list(_difference_key(measure, less))
        found = [each[-1] for each in self.record["differences"] if each[:-1] == key]
        return _interval(found[0]) if found else None

    def models(self, probe: str) -> ModelValues:
        return {
            (quantity, group, seed): value
            for own, quantity, group, seed, value in self.record["models"]
            if own == probe
        }

    @cached_property
    def plane(self) -> Plane:
        stored = self.record.get("plane", {"sweeps": [], "others": {}})
        sweeps = [(seed, Point(*point)) for seed, *point in stored["sweeps"]]
        others = {
            shape: [Point(*point) for point in points] for shape, points in stored["others"].items()
        }
        return Plane(sweeps, others)

    @cached_property
    def seconds(self) -> float:
        return float(self.record["seconds"])

    @cached_property
    def findings(self) -> dict[str, str]:
        """Claim -> finding."""
        return {claim: finding for claim, finding, *_ in self.record["verdict"]}

    @cached_property
    def _summary(self) -> Summary:
        assert self.rows is not None, "stored runs are read with `stored_runs`"
        table: Summary = {}
        for row in self.rows.iter_rows(named=True):
            key = (row["probe"], row["quantity"], row["statistic"], row["class"])
            group = frozenset((row["group"] or "").split(";")) - {""}
            numbers = [row[name] for name in ("value", "low", "high")]
            table.setdefault(key, {})[group] = _interval([*numbers, row["n"] or 0])
        return table


def stored_drawings(folder: Path) -> dict[str, Drawings]:
    """Table -> the stored figures that are drawn from single runs."""
    paths = sorted((folder / FIGURES).glob("*.json"))
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths}


def stored_runs(folder: Path) -> list[FinishedRun]:
    """The runs that `store_runs` stored in a folder, by name."""
    for name in (RUNS, SUMMARY):
        if not (folder / name).is_file():
            raise UserError(
                f"{folder / name} is missing: store finished runs with assay reproduce --export."
            )
    numbers = pl.col("value", "low", "high").cast(pl.Float64)
    table = _stored_rows(folder).with_columns(numbers, pl.col("n").cast(pl.Int64))
    rows = {str(name): part for (name,), part in table.group_by(["run"], maintain_order=True)}
    nothing = table.clear()
    return [
        StoredRun(
            Path(record["run"]),
            Manifest(Fields.of(record["manifest"], f"{folder / RUNS}, {record['run']}")),
            record,
            rows.get(record["run"], nothing),
        )
        for record in _records(folder)
    ]
