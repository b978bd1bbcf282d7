"""Measure the largest memory of drawing the page of a run with many documents.

    python scripts/measure_page.py DIR --copies 50

DIR is a finished run. Its documents and what was measured on them are repeated under other ids, in
a temporary folder, by another process, whose memory does not count. Summary and verdict are those
of the run. The largest resident memory is that of the process that draws, with Python.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from assay.data.files import read_parquet
from assay.runs.tables import EVIDENCE, EVIDENCE_ROWS, INSTANCE_ITEMS, INSTANCES

IDS = {INSTANCES: "id", EVIDENCE: "instance"}


def repeat(run: Path, target: Path, copies: int) -> None:
    """Write a run directory in which every document occurs so many times."""
    import polars as pl

    for path in run.iterdir():
        if path.is_file() and path.name not in IDS:
            shutil.copyfile(path, target / path.name)
    items = read_parquet(run / INSTANCES)["tokens"].list.len().mean()
    rows = {INSTANCES: int(INSTANCE_ITEMS / items), EVIDENCE: EVIDENCE_ROWS}
    for name, column in IDS.items():
        table = read_parquet(run / name)
        renamed = [table.with_columns(pl.col(column) + f" {n}") for n in range(copies)]
        pl.concat(renamed).write_parquet(target / name, row_group_size=rows[name])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("run", type=Path)
    parser.add_argument("--copies", type=int, default=50)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.into is not None:
        repeat(given.run, given.into, given.copies)
        return
    from assay.report.page import write_report

    with tempfile.TemporaryDirectory() as folder:
        own = [sys.executable, __file__, str(given.run), f"--copies={given.copies}"]
        subprocess.run([*own, f"--into={folder}"], check=True)
        start = time.process_time()
        write_report(Path(folder))
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    found = re.search(r"VmHWM:\s+(\d+)", status)
    assert found is not None, "/proc/self/status has no VmHWM"
    print(f"{int(found[1]) // 2**10:,} MB, {time.process_time() - start:.0f} s of processor time")


if __name__ == "__main__":
    main()
