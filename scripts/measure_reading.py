"""Measure how long a large table takes to read and how much memory that needs.

    python scripts/measure_reading.py 1000000 csv
    python scripts/measure_reading.py 1000000 parquet --limit 10000

The table has documents of 20 words, drawn from 30,000 with Zipf's law, in two classes. It is
written to a temporary folder. The peak is that of the process that holds the corpus, with Python
and torch; a Parquet file is read by another process, whose peak is printed beside it.
"""

import argparse
import resource
import tempfile
import time
from pathlib import Path

WORDS, LENGTH, WRITTEN_AT_ONCE = 30_000, 20, 100_000


def write_table(path: Path, rows: int) -> None:
    """Write the table in parts, so that writing it needs little memory."""
    import numpy as np

    rng = np.random.default_rng(0)
    weights = 1 / np.arange(1, WORDS + 1)
    vocabulary = np.array([f"word{i}" for i in range(WORDS)])
    with path.open("w", encoding="utf-8") as file:
        file.write("label,text\n")
        for start in range(0, rows, WRITTEN_AT_ONCE):
            count = min(WRITTEN_AT_ONCE, rows - start)
            drawn = vocabulary[rng.choice(WORDS, (count, LENGTH), p=weights / weights.sum())]
            file.writelines(f"{'ab'[i % 2]},{' '.join(row)}\n" for i, row in enumerate(drawn))


def to_parquet(path: Path) -> Path:
    """The same table as Parquet, written by another process, whose memory does not count."""
    import subprocess
    import sys

    target = path.with_suffix(".parquet")
    code = "import sys, polars as p; p.scan_csv(sys.argv[1]).sink_parquet(sys.argv[2])"
    subprocess.run([sys.executable, "-c", code, str(path), str(target)], check=True)
    return target


def megabytes(who: int) -> int:
    return resource.getrusage(who).ru_maxrss // 2**10


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=int)
    parser.add_argument("format", choices=("csv", "parquet"))
    parser.add_argument("--limit", type=int)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        write_table(path, given.rows)
        converted = to_parquet(path) if given.format == "parquet" else path
        writing = megabytes(resource.RUSAGE_CHILDREN)
        from assay.data.catalog import load_corpus

        start, loaded = time.process_time(), megabytes(resource.RUSAGE_SELF)
        corpus = load_corpus("table", data=converted, limit=given.limit)
        seconds = time.process_time() - start
    sizes = [len(part) for part in (corpus.train, corpus.dev, corpus.test)]
    child = megabytes(resource.RUSAGE_CHILDREN)
    print(f"{given.rows:,} rows of {given.format}, limit {given.limit}: {sizes} documents")
    print(f"  {seconds:.0f} s of processor time, peak {megabytes(resource.RUSAGE_SELF):,} MB")
    print(
        f"  before reading {loaded:,} MB; largest other process {child:,} MB (writer {writing:,})"
    )


if __name__ == "__main__":
    main()
