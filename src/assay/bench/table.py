"""How are benchmark rows shown to a person?"""

from collections.abc import Sequence

import torch
from rich import box
from rich.console import Console
from rich.table import Table

from assay.bench.row import Row

NOTHING = ""
WHOLE_FROM = 100  # from here on no decimals, and no power of ten
HEADINGS = (
    "row", "n", "plain s", "ours s", "ratio", "target", "possible", "equal", "MB",
)  # fmt: skip


def show_rows(console: Console, rows: Sequence[Row]) -> None:
    """The numbers, narrow enough for any terminal, and below them what each row is."""
    table = Table(box=box.SIMPLE, padding=0)
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading == "row" else "right", no_wrap=True)
    for row in rows:
        table.add_row(*_cells(row))
    console.print(table)
    for row in rows:
        console.print(f"{row['name']}: {row['what']}{_scaled(row)}", highlight=False)
    used = f"torch {torch.__version__}, {torch.get_num_threads()} threads"
    console.print(f"{used}; MB: the memory of ours at its peak", highlight=False)


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row["name"],
        str(row["n"]),
        _digits(row["baseline_seconds"]),
        _digits(row["seconds"]),
        _times(row["ratio"]),
        _digits(row["target"]),
        _times(row["possible_ratio"]),
        {True: "yes", False: "NO", None: NOTHING}[row["equal"]],
        NOTHING if row["peak_mb"] is None else f"{row['peak_mb']:.0f}",
    )


def _scaled(row: Row) -> str:
    timed = row["plain_n"]
    return NOTHING if timed is None else f"; the plain loop timed on {timed} of them, and scaled"


def _digits(number: float | None) -> str:
    if number is None:
        return NOTHING
    return f"{number:.3g}" if number < WHOLE_FROM else f"{number:,.0f}"


def _times(ratio: float | None) -> str:
    return NOTHING if ratio is None else f"{ratio:.1f}"
