"""Measure the processor time and the largest memory of each stage of `assay run`.

    python scripts/measure_stages.py --documents 100000 --out DIR -- --encoder average --sample 0

The table has generated documents of 20 words, as in `assay bench --scale`. What follows the two
dashes is passed to `assay run`, which runs in this process, on one thread and without worker
processes. Processor time is that of this process, so other work beside it counts little. The memory
is the resident one of the whole process, with Python and torch: before the stage, after it, and the
largest in between.
"""

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SELF = Path("/proc/self")
SERIAL = ("--engine", "serial", "--threads", "1", "--quiet")


def megabytes(name: str) -> int:
    """A line of the status of this process, such as VmHWM, the largest resident memory."""
    found = re.search(rf"{name}:\s+(\d+)", (SELF / "status").read_text(encoding="utf-8"))
    assert found is not None, f"/proc/self/status has no {name}"
    return int(found[1]) // 2**10


def forget_peak() -> None:
    """Let the largest resident memory start again."""
    (SELF / "clear_refs").write_text("5", encoding="utf-8")


@contextmanager
def measured(name: str) -> Iterator[None]:
    """Print what a stage needed."""
    forget_peak()
    before, start = megabytes("VmRSS"), time.process_time()
    try:
        yield
    finally:
        seconds, after, peak = time.process_time() - start, megabytes("VmRSS"), megabytes("VmHWM")
        memory = f"{before:6,} MB -> {after:6,} MB, most {peak:6,} MB"
        print(f"{name:20} {seconds:8.1f} s {memory}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("options", nargs="*")
    given = parser.parse_args()
    from assay import cli
    from assay.bench.whole_run import TextShape, table_arguments, write_texts
    from assay.runs.timing import RunTiming

    stage = RunTiming.stage

    @contextmanager
    def watched(timing: RunTiming, name: str) -> Iterator[None]:
        with measured(name), stage(timing, name):
            yield

    RunTiming.stage = watched  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder:
        table = write_texts(Path(folder) / "texts.csv", TextShape(given.documents, 20))
        own = ["run", *table_arguments(table), *SERIAL, "--out", given.out, *given.options]
        sys.argv = ["assay", *own]
        with measured("all; memory of page"):  # each stage lets the largest memory start again
            cli.main()


if __name__ == "__main__":
    main()
