"""What does `assay bench` do, once its options are read?"""

from pathlib import Path

from rich.console import Console

from assay import bench
from assay.bench.length import growth
from assay.bench.row import Row
from assay.bench.table import show_rows
from assay.errors import UserError
from assay.store import write_json
from assay.training import Track


def bench_and_tell(json_file: Path | None, *, long: bool, grid: bool, track: Track) -> bool:
    """Time every row, show the table, write the rows. Were all results equal?"""
    # Said now, not after minutes of timing.
    if json_file is not None and (json_file.is_dir() or not json_file.parent.is_dir()):
        raise UserError(f"--json {json_file} is no file in a folder that exists: pass one")
    rows: list[Row] = []
    for row in bench.run_benches(long=long, grid=grid, track=track):
        rows.append(row)
        if json_file is not None:
            write_json(json_file, rows)  # after each: what is measured is not lost with the next
    console = Console()
    show_rows(console, rows)
    for line in growth(rows):
        console.print(line, highlight=False)
    return all(row["equal"] is not False for row in rows)
