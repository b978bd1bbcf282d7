"""Foreign Parquet files, read in a process of their own.

A damaged file can make a Parquet reader ask for more memory than there is, and then the whole
process ends without an exception. So the file is read by a child process with a limit on memory and
time, which writes the rows as JSON lines. If the child ends early, the user gets a sentence.

The child is this module, run with the path and the columns as arguments; without columns it lists
them. With the column `*` it reads everything and hands over nothing: a table of a stranger's run
directory is tried in this way before it is read as a whole.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

from assay.errors import UserError

if TYPE_CHECKING:
    import polars as pl

MEGABYTE = 2**20
# What the reader may take, beside a multiple of the file's size: a column is decompressed at once.
MEMORY_MEGABYTES = 768
MEMORY_PER_BYTE = 8
SECONDS = 8
SECONDS_PER_STEP = 60  # of the clock: a step takes part of a second
SECONDS_PER_MEGABYTE = 2
BATCH_ROWS = 10_000
EVERYTHING = "*"
UNPACKED_BYTES, UNPACKED_RATIO = 2**29, 100  # of a whole table
CELL_BYTES = 16  # of a text, beside its letters
Result = TypeVar("Result")
REFUSED = 3  # exit code of the child: the reader says what is wrong, on its last line


def parquet_columns(path: Path) -> list[str]:
    """The columns that can hold text, labels or lists of them; bytes are left out."""
    with _child(path, []) as lines:
        return [json.loads(line) for line in lines]


def read_parquet_rows(path: Path, columns: Sequence[str]) -> Iterator[Sequence[Any]]:
    """Yield the cells of these columns, row by row; a missing cell is None."""
    with _child(path, columns) as lines:
        for line in lines:
            yield json.loads(line)


def try_parquet(path: Path) -> None:
    """Read the whole table in a process of its own, so that reading it here cannot end this one."""
    with _child(path, [EVERYTHING]) as lines:
        for _ in lines:
            pass


@contextmanager
def _child(path: Path, columns: Sequence[str]) -> Iterator[IO[str]]:
    """The lines that the child writes; a child that fails becomes a `UserError`."""
    command = [sys.executable, "-m", __name__, str(path), *columns]
    environment = {**os.environ, "POLARS_MAX_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, encoding="utf-8", env=environment
        ) as child,
    ):
        assert child.stdout is not None
        try:
            yield child.stdout
        except BaseException:  # also where the caller has seen enough rows
            child.kill()
            raise
        code = child.wait()
        errors.seek(0)
        said = errors.read().strip().splitlines()
    check_exit(path, code, said)


def check_exit(path: Path, code: int, said: Sequence[str]) -> None:
    """Raise a `UserError` if the child failed; `said` are the lines that it wrote as errors."""
    if code:
        reason = said[-1] if code == REFUSED and said else "its reader broke down"
        raise UserError(
            f"{path} is a truncated or damaged Parquet file ({reason}): write it again."
        )


def _limit_resources(size: int) -> None:
    """Limit memory and time of this process; only where the operating system can."""
    try:
        import resource
    except ImportError:  # pragma: no cover - Windows has no such limits
        return
    memory = MEMORY_MEGABYTES * MEGABYTE + MEMORY_PER_BYTE * size
    seconds = SECONDS + SECONDS_PER_MEGABYTE * (size // MEGABYTE)
    for kind, limit in ((resource.RLIMIT_DATA, memory), (resource.RLIMIT_CPU, seconds)):
        resource.setrlimit(kind, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _in_time(step: Callable[[], Result]) -> Result:
    """Do one step of the reading; if it does not end, the system ends this process.

    The limit on processor time does not end a reader whose threads wait for each other. The alarm
    does; it is off while rows are handed over, because the caller may be slow.
    """
    if hasattr(signal, "alarm"):
        signal.alarm(SECONDS_PER_STEP)
    result = step()
    if hasattr(signal, "alarm"):
        signal.alarm(0)
    return result


def _write_rows(path: str, columns: Sequence[str]) -> None:
    """Write the rows, or the names of the columns, as JSON lines to standard output."""
    import polars as pl

    try:
        table = pl.scan_parquet(path, glob=False, hive_partitioning=False)
        if not columns:
            for name, kind in _in_time(table.collect_schema).items():
                if kind != pl.Binary:
                    print(json.dumps(name))
            return
        if list(columns) == [EVERYTHING]:
            _try_everything(table, Path(path).stat().st_size)
            return
        batches = table.select(columns).collect_batches(chunk_size=BATCH_ROWS)
        while (batch := _in_time(lambda: next(batches, None))) is not None:
            for row in batch.iter_rows():
                print(json.dumps(row, default=str))
    except (pl.exceptions.PolarsError, OSError, ValueError, TypeError) as fault:
        print(str(fault).splitlines()[0] if str(fault) else type(fault).__name__, file=sys.stderr)
        sys.exit(REFUSED)


def _try_everything(table: "pl.LazyFrame", size: int) -> None:
    """Read all columns; refuse a table that is out of proportion to its file."""
    left: float = UNPACKED_BYTES + UNPACKED_RATIO * size
    batches = table.collect_batches(chunk_size=BATCH_ROWS)
    while (batch := _in_time(lambda: next(batches, None))) is not None:
        left -= max(batch.estimated_size(), CELL_BYTES * batch.height * batch.width)
        if left < 0:
            raise ValueError(f"it unpacks to more than {UNPACKED_RATIO} times its size")


if __name__ == "__main__":
    _limit_resources(Path(sys.argv[1]).stat().st_size)
    _write_rows(sys.argv[1], sys.argv[2:])
