"""Rows for whole runs: seconds by stage, and how much of them is arithmetic.

The arithmetic of a run is the stage of word vectors, if it has one, and what its jobs measured of
themselves: the training of the model; the scores and probes of the audit; and the further trainings
with their predictions. Seconds of jobs that ran beside each other are divided by the number of
workers, but count at least as much as the longest job. Everything else is overhead: starting Python
and importing libraries, reading the corpus, starting worker processes, job files, tables and the
page. A run may take at most `MOST_RATIO` times its arithmetic.

The audit stage of one run is also compared with the audit of the battery row, on the same
documents. The battery row audits in one process and writes nothing. The stage divides the documents
into jobs, computes more scores and asks more probes. Their seconds, shared by the workers, are
subtracted from those of the stage. What remains is the battery's work and everything that jobs add
to it: starting workers, loading the model, files and tables.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypedDict

from rich import box
from rich.console import Console
from rich.table import Table

from assay.bench import battery
from assay.bench.material import truncate
from assay.bench.whole_run import (
    TextShape,
    WholeRun,
    execute_command,
    table_arguments,
    write_texts,
)
from assay.data.corpus import Corpus, Document
from assay.data.files import read_parquet
from assay.models.build import load_model
from assay.progress import Track, untracked

MOST_AUDIT_RATIO = 1.3  # seconds per document of the stage, relative to the battery
PROBES = ("agreement", "permutation", "adversary")  # of the battery
MOST_RATIO = 1.5  # seconds of a run, relative to its arithmetic
STAGES = (
    "start",
    "corpus",
    "vectors",
    "training",
    "audit",
    "further trainings",
    "tables",
    "report",
)


class RunRow(TypedDict):
    """A row as it is written to JSON."""

    name: str
    what: str
    seconds: float
    peak_mb: float | None
    stages: dict[str, float]
    arithmetic: dict[str, float]  # seconds by stage
    ratio: float  # seconds relative to the sum of the arithmetic
    overhead_share: float  # of the seconds
    estimate: float | None  # seconds that the command announced; None: too short to announce
    passed: bool
    audit: str | None  # the audit stage beside the battery; None: not compared
    audit_ratio: float | None


@dataclass(frozen=True)
class RunBench:
    """A declared run; `arguments` writes its data into a folder and returns the command line."""

    name: str
    what: str
    arguments: Callable[[Path], list[str]]
    compare_audit: bool = False  # with the battery, on the same documents


def _texts(shape: TextShape, folder: Path) -> list[str]:
    return table_arguments(write_texts(folder / "texts.csv", shape))


RUNS: tuple[RunBench, ...] = (
    RunBench(
        "run_texts_20",
        "1,000 generated documents of 20 words, every probe",
        partial(_texts, TextShape(1_000, 20)),
    ),
    RunBench(
        "run_texts_175",
        "500 generated documents of 175 words, every probe",
        partial(_texts, TextShape(500, 175)),
        compare_audit=True,
    ),
    RunBench("run_demo", "the built-in reviews, every probe", lambda _: []),
)


@dataclass(frozen=True)
class AuditComparison:
    """Seconds for the same scores and probes on the same documents."""

    documents: int
    stage_seconds: float
    battery_seconds: float

    @property
    def ratio(self) -> float:
        """The stage relative to the battery."""
        return self.stage_seconds / self.battery_seconds

    def __str__(self) -> str:
        stage, alone = (
            seconds / self.documents for seconds in (self.stage_seconds, self.battery_seconds)
        )
        return (
            f"audit stage, scores and probes of the battery: {stage:.4f} s a document, "
            f"the battery alone {alone:.4f} s, ratio {self.ratio:.2f} "
            f"(at most {MOST_AUDIT_RATIO})"
        )


def run_rows(track: Track = untracked) -> Iterator[RunRow]:
    """Measure the declared runs one after another."""
    for bench in track(RUNS, "runs", len(RUNS)):
        with TemporaryDirectory() as folder:
            arguments = bench.arguments(Path(folder))
            out = Path(folder) / "out"
            run = execute_command(arguments, out)
            yield row_of(
                bench, run, compare_audit(out, run.timing) if bench.compare_audit else None
            )


def row_of(bench: RunBench, run: WholeRun, audit: AuditComparison | None = None) -> RunRow:
    """The row of a finished run."""
    arithmetic = arithmetic_seconds(run.timing)
    computed = sum(arithmetic.values())
    ratio = run.seconds / computed
    estimate = run.timing.get("estimate")
    return RunRow(
        name=bench.name,
        what=bench.what,
        seconds=run.seconds,
        peak_mb=run.peak_mb,
        stages=stage_seconds(run),
        arithmetic=arithmetic,
        ratio=ratio,
        overhead_share=1 - computed / run.seconds,
        estimate=None if estimate is None else sum(estimate.values()),
        passed=ratio <= MOST_RATIO,
        audit=None if audit is None else str(audit),
        audit_ratio=None if audit is None else audit.ratio,
    )


def compare_audit(out: Path, timing: Mapping[str, Any]) -> AuditComparison:
    """Audit the documents of a finished run once more, as the battery row does."""
    network, corpus = load_model(out).network, audited_corpus(out)
    battery.run_optimized(network, truncate(corpus, test=1))  # warm-up: late imports
    start = time.perf_counter()
    battery.run_optimized(network, corpus)
    seconds = time.perf_counter() - start
    return AuditComparison(len(corpus.test), battery_part(timing), seconds)


def audited_corpus(out: Path) -> Corpus:
    """The audited documents of a run directory as the test split of a corpus."""
    trained = load_model(out)
    classes = trained.network.classes
    table = read_parquet(out / "instances.parquet", columns=["id", "tokens", "label"])
    documents = tuple(
        Document(name, tuple(tokens), classes.index(label))
        for name, tokens, label in table.iter_rows()
    )
    return Corpus(
        out.name,
        "classification",
        classes,
        train=(),
        dev=(),
        test=documents,
        vocabulary=trained.vocabulary,
        licence="",
        source=str(out),
        dropped={},
    )


def battery_part(timing: Mapping[str, Any]) -> float:
    """The seconds of the audit stage without the scores and probes that the battery has not."""
    others = [
        seconds for name, seconds in timing["scores"].items() if name not in battery.SCORE_NAMES
    ]
    others += [seconds for name, seconds in timing["probes"].items() if name not in PROBES]
    return float(timing["stages"]["audit"] - sum(others) / timing["jobs"]["audit"]["workers"])


def arithmetic_seconds(timing: dict[str, Any]) -> dict[str, float]:
    """The seconds of arithmetic within each stage, divided by the workers that shared them."""
    jobs = timing["jobs"]
    audit = sum(timing["scores"].values()) + sum(timing["probes"].values())
    further = jobs["further trainings"]
    return {
        "vectors": timing["stages"].get("vectors", 0.0),
        "training": jobs["training"]["seconds"],
        "audit": audit / jobs["audit"]["workers"],
        "further trainings": max(further["seconds"] / further["workers"], further["longest"]),
    }


def stage_seconds(run: WholeRun) -> dict[str, float]:
    """The seconds of all stages; `start` is what the command does before, between and after."""
    stages: dict[str, float] = dict(run.timing["stages"])
    return {"start": run.seconds - sum(stages.values()), **stages}


def show_run_rows(console: Console, rows: Sequence[RunRow]) -> None:
    """Print one column per run, so that the stages fit any terminal."""
    table = Table(box=box.SIMPLE, padding=(0, 1))
    table.add_column("seconds")
    for row in rows:
        table.add_column(row["name"], justify="right", no_wrap=True)
    for stage in STAGES:
        if any(stage in row["stages"] for row in rows):
            table.add_row(stage, *(_seconds(row["stages"].get(stage)) for row in rows))
    lines: dict[str, list[str]] = {
        "whole run": [_seconds(row["seconds"]) for row in rows],
        "announced": [_seconds(row["estimate"]) for row in rows],
        "arithmetic": [_seconds(sum(row["arithmetic"].values())) for row in rows],
        f"ratio (at most {MOST_RATIO})": [f"{row['ratio']:.2f}" for row in rows],
        "not arithmetic": [f"{row['overhead_share']:.0%}" for row in rows],
        "peak MB": ["" if row["peak_mb"] is None else f"{row['peak_mb']:.0f}" for row in rows],
    }
    table.add_section()
    for name, cells in lines.items():
        table.add_row(name, *cells)
    console.print(table)
    for row in rows:
        console.print(f"{row['name']}: {row['what']}", highlight=False)
        if row["audit"] is not None:
            console.print(f"{row['name']}: {row['audit']}", highlight=False)


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"
