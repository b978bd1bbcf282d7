"""The child process of the Parquet reader as a fork, so that many files can be read in a test.

A new process needs most of a second to import polars; a fork has it already. Limits, reading and
error messages are those of `assay.data.parquet`. Fork only from a process that has not used polars
yet: the threads of polars do not survive a fork.
"""

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from assay.data import parquet


def install() -> None:
    """Let `assay.data.parquet` read in forks of this process."""
    parquet._child = forked_child


@contextmanager
def forked_child(path: Path, columns: Sequence[str]) -> Iterator[IO[str]]:
    """The lines that the fork writes."""
    read_end, write_end = os.pipe()
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            os.close(read_end)
            _read(path, columns, write_end, errors.fileno())
        os.close(write_end)
        try:
            with os.fdopen(read_end, encoding="utf-8") as lines:
                yield lines
        finally:
            status = os.waitpid(child, 0)[1]
        errors.seek(0)
        said = errors.read().strip().splitlines()
    parquet.check_exit(path, os.waitstatus_to_exitcode(status), said)


def _read(path: Path, columns: Sequence[str], output: int, errors: int) -> None:
    """What the child does; it never returns."""
    os.dup2(output, 1)
    os.dup2(errors, 2)
    code = 1
    try:
        sys.stdout, sys.stderr = os.fdopen(1, "w", encoding="utf-8"), os.fdopen(2, "w")
        parquet._limit_resources(path.stat().st_size)
        parquet._write_rows(str(path), columns)
        code = 0
    except SystemExit as refusal:
        code = int(str(refusal.code))
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)
