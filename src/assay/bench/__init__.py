"""How much faster are our routes than the papers' plain loops, at equal results?

One file per kind of row, and here one line to name it.
"""

from collections.abc import Iterator

from assay.bench import (
    adversary,
    battery,
    erasure,
    fading,
    grid,
    kendall,
    leave_one_out,
    length,
    permutation,
    second_worker,
    training,
)
from assay.bench.row import Bench, Row, run_bench
from assay.training import Track, untracked

__all__ = ["BENCHES", "Bench", "Row", "run_benches"]

BENCHES: tuple[Bench, ...] = (
    leave_one_out.REVIEWS,
    fading.REVIEWS,
    permutation.REVIEWS,
    training.REVIEWS,
    kendall.SENTENCES,
    kendall.LONG_LISTS,
    adversary.REVIEWS,
    battery.REVIEWS,
    erasure.ORDERS,
    erasure.ENCODER,
    *length.BENCHES,
    leave_one_out.IMDB,
    permutation.IMDB,
    battery.IMDB,
    battery.IMDB_MANY,
    second_worker.SECOND_WORKER,
    grid.GRID,
)


def run_benches(
    *, long: bool = False, grid: bool = False, track: Track = untracked
) -> Iterator[Row]:
    """Every row in turn, the expensive ones only if `long`; or those of the grid alone."""
    wanted = [bench for bench in BENCHES if bench.grid == grid and (long or not bench.long)]
    for bench in track(wanted, "bench", len(wanted)):
        yield run_bench(bench)
