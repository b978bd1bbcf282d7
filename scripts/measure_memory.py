"""Measure the largest memory of every probe on documents of 4,000 items.

    python scripts/measure_memory.py
    python scripts/measure_memory.py input_erasure,states --encoder cnn --seconds 600

The corpus is generated: four test documents of the given length and short ones for training, with
two long ones among them so that training meets them too. Every probe is one `assay run` with the
model in its default size, on one thread and in one process. Its largest resident memory is that
which Linux records, with Python and torch. A run that takes longer than the given seconds is
stopped, and its row says so.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LONG_DOCUMENTS, SHORT_DOCUMENTS, SHORT = 4, 24, 20
WORDS = 2000


def write_table(path: Path, length: int) -> None:
    """Documents of random words in two classes; a word of its class stands in every tenth place."""
    import numpy as np

    rng = np.random.default_rng(0)
    lengths = [(split, SHORT) for split in ("train", "dev") for _ in range(SHORT_DOCUMENTS)]
    lengths += [("train", length)] * 2 + [("test", length)] * LONG_DOCUMENTS
    with path.open("w", encoding="utf-8") as file:
        file.write("split,label,text\n")
        for row, (split, size) in enumerate(lengths):
            label = "ab"[row % 2]
            items = [f"word{word}" for word in rng.integers(WORDS, size=size)]
            items[::10] = [f"sign{label}"] * len(items[::10])
            file.write(f"{split},{label},{' '.join(items)}\n")


def peak_megabytes(process: int) -> int:
    """The largest resident memory of a process so far; 0 if it has just ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    found = [int(line.split()[1]) for line in lines if line.startswith("VmHWM:")]
    return found[0] // 2**10 if found else 0


def run(command: list[str], seconds: float, log: Path) -> tuple[str, int, float]:
    """How a command ended, its largest memory in MB, and how long it took."""
    start, peak = time.monotonic(), 0
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        while process.poll() is None:
            peak = max(peak, peak_megabytes(process.pid))
            if time.monotonic() - start > seconds:
                process.kill()
                process.wait()
                return "stopped", peak, time.monotonic() - start
            time.sleep(0.2)
    ended = "finished" if process.returncode == 0 else log.read_text(encoding="utf-8")[-300:]
    return ended, peak, time.monotonic() - start


def main() -> None:
    from assay.probes import PROBES

    parser = argparse.ArgumentParser()
    parser.add_argument("probes", nargs="?", default=",".join(PROBES))
    parser.add_argument("--length", type=int, default=4000)
    parser.add_argument("--encoder", default="bilstm")
    parser.add_argument("--sample", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1800)
    given = parser.parse_args()
    print(f"{given.encoder}, {LONG_DOCUMENTS} test documents of {given.length:,} items")
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.csv"
        write_table(table, given.length)
        for probe in given.probes.split(","):
            out = Path(folder) / probe
            command = [sys.executable, "-m", "assay", "run", "table", "--data", str(table)]
            command += ["--encoder", given.encoder, "--probes", probe, "--seeds", "1"]
            command += ["--sample", str(given.sample), "--engine", "serial", "--threads", "1"]
            command += ["--out", str(out)]
            ended, peak, seconds = run(command, given.seconds, Path(folder) / "log.txt")
            print(f"{probe:20} {peak:6,} MB {seconds:6.0f} s  {ended}", flush=True)


if __name__ == "__main__":
    main()
