"""How are benchmark rows shown to a person?"""

from collections.abc import Sequence

import torch
from rich.table import Table

from assay.bench.row import Row

NOTHING = ""


def bench_table(rows: Sequence[Row]) -> Table:
    """One line per row, with what the numbers depend on above it."""
    table = Table(title=f"torch {torch.__version__}, {torch.get_num_threads()} threads")
    table.add_column("row", no_wrap=True)
    for heading in ("documents", "plain s", "ours s", "ratio", "possible", "equal", "peak MB"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("what")
    for row in rows:
        table.add_row(
            row["name"],
            str(row["n"]),
            _digits(row["baseline_seconds"]),
            _digits(row["seconds"]),
            _times(row["ratio"]),
            _times(row["possible_ratio"]),
            {True: "yes", False: "NO", None: NOTHING}[row["equal"]],
            NOTHING if row["peak_mb"] is None else f"{row['peak_mb']:.0f}",
            row["what"],
        )
    return table


def _digits(seconds: float | None) -> str:
    return NOTHING if seconds is None else f"{seconds:.3g}"


def _times(ratio: float | None) -> str:
    return NOTHING if ratio is None else f"{ratio:.1f} x"
