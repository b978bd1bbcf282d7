"""Benchmarks: assay's routes timed against the papers' plain loops, and whole runs.

There is one module per kind of row. A new row needs a line in `BENCHES` here. Attached models
(`own`) are measured apart, because they need the extra hf; whole runs (`runs`) and their growth
(`scale`), because they have columns of their own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from assay.bench import (
    adversary,
    battery,
    erasure,
    grid,
    input_erasure,
    kendall,
    leave_one_out,
    length,
    permutation,
    sampled,
    training,
)
from assay.bench.length import growth_lines
from assay.bench.measurement import Bench, Row, run_bench, show_rows
from assay.bench.runs import RunRow, run_rows, show_run_rows
from assay.bench.scale import MEASURED, measure_growth, parse_shapes, scale_page
from assay.data.files import write_json
from assay.errors import UserError, nearest
from assay.progress import Track, untracked

BENCHES: tuple[Bench, ...] = (
    leave_one_out.REVIEWS,
    leave_one_out.LONG_REVIEWS,
    permutation.REVIEWS,
    training.REVIEWS,
    kendall.SENTENCES,
    kendall.LONG_LISTS,
    adversary.REVIEWS,
    battery.REVIEWS,
    erasure.ORDERS,
    erasure.ENCODER,
    input_erasure.REVIEWS,
    sampled.FEW,
    sampled.BATCHED,
    *length.BENCHES,
    leave_one_out.IMDB,
    permutation.IMDB,
    battery.IMDB,
    battery.IMDB_MANY,
    sampled.MANY,
    grid.SECOND_WORKER,
    grid.GRID,
)


def named_benches(names: str) -> tuple[Bench, ...]:
    """The rows with these names, separated by commas; a named row may be expensive."""
    known = {bench.name: bench for bench in BENCHES if not bench.grid}
    asked = [name.strip() for name in names.split(",")]
    unknown = [name for name in asked if name not in known]
    if unknown:
        raise UserError(f"--rows {names}: no row '{unknown[0]}'; {nearest(unknown[0], known)}")
    return tuple(replace(known[name], long=False) for name in asked)


def run_benches(
    benches: Sequence[Bench] | None = None,
    *,
    long: bool = False,
    grid: bool = False,
    track: Track = untracked,
) -> Iterator[Row]:
    """Measure the rows one by one: expensive ones only if `long`; with `grid`, only the grid's."""
    benches = BENCHES if benches is None else benches
    selected = [bench for bench in benches if bench.grid == grid and (long or not bench.long)]
    for bench in track(selected, "bench", len(selected)):
        yield run_bench(bench)


def run_and_report(
    json_file: Path | None,
    benches: Sequence[Bench] | None = None,
    *,
    long: bool,
    grid: bool = False,
    track: Track,
) -> bool:
    """Time the rows, print the table, write the JSON file; False if two results differ."""
    _check_writable("--json", json_file)
    rows: list[Row] = []
    for row in run_benches(benches, long=long, grid=grid, track=track):
        rows.append(row)
        if json_file is not None:
            write_json(json_file, rows)  # after each row, so that a later failure loses nothing
    console = Console()
    show_rows(console, rows)
    for line in growth_lines(rows):
        console.print(line, highlight=False)
    return all(row["equal"] is not False for row in rows)


def report_runs(json_file: Path | None, *, track: Track) -> list[RunRow]:
    """Measure whole runs, print the table, write the JSON file; returns the rows that fail."""
    _check_writable("--json", json_file)
    rows: list[RunRow] = []
    for row in run_rows(track):
        rows.append(row)
        if json_file is not None:
            write_json(json_file, rows)
    show_run_rows(Console(), rows)
    return [row for row in rows if not row["passed"]]


def report_growth(
    json_file: Path | None, page: Path | None, cells: str | None = None, *, track: Track
) -> None:
    """Measure how a run grows, print the page, and write it and the JSON file.

    `cells` limits the measured runs, as in `10000x175,100000x20`.
    """
    shapes = MEASURED if cells is None else parse_shapes(cells)
    _check_writable("--json", json_file)
    _check_writable("--write", page)
    print(scale_page(measure_growth(json_file, page, shapes, track)))


def _check_writable(option: str, path: Path | None) -> None:
    """Refuse a file that cannot be written, before minutes of timing."""
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        raise UserError(f"{option} {path} cannot be written: pass a file in a folder that exists")


__all__ = ["BENCHES", "Bench", "Row", "report_growth", "report_runs", "run_benches"]
