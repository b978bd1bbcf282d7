"""Measure the largest memory of every probe and every costly score on documents of 4,000 items.

    python scripts/measure_memory.py
    python scripts/measure_memory.py input_erasure,states,lime --documents 4 --seconds 600
    python scripts/measure_memory.py lime,kernel_shap --samples 200
    python scripts/measure_memory.py lime,kernel_shap --encoder average

Each is computed by the audit of a run, in a process of its own and on one thread, with a network of
the default size that is not trained, because training changes no shapes. A probe reads the scores
that are not costly. The documents consist of random words. A batch holds one document of this
length, so further documents should take longer and need no more memory. The largest resident memory
is the one that Linux records for the whole process, with Python and torch. What takes longer than
the given seconds is stopped, and its row shows the largest memory until then.

LIME and kernel SHAP read 8,256 samples of a document of 4,000 items, in passes of a fixed size.
`--samples` makes them fewer, which takes less time and leaves the passes and the normal equations
as large as they are.
"""

import argparse
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path


def measure(name: str, documents: int, items: int, encoder: str, samples: int | None) -> None:
    """Compute one probe with the cheap scores, or one score, and print what it cost."""
    import torch

    from assay.bench.length import EMBEDDING, SEED, SIZE, WORDS, DocumentShape, random_documents
    from assay.config import EXACT_BELOW
    from assay.data.vocabulary import SPECIALS, Vocabulary
    from assay.models.build import build_model
    from assay.models.classifier import ModelConfig
    from assay.probes import PROBES
    from assay.runs.audit import audit_documents
    from assay.scores import SCORES, surrogates
    from assay.scores.score import RunDocuments

    torch.set_num_threads(1)
    if samples is not None:
        surrogates.SAMPLES, surrogates.SAMPLES_PER_ITEM = samples, 0
    vocabulary = Vocabulary(SPECIALS + tuple(f"word{i}" for i in range(WORDS)))
    config = ModelConfig(
        task="classification",
        encoder=encoder,
        attention="additive",
        embedding=EMBEDDING,
        size=SIZE,
        classes=("negative", "positive"),
        words=len(vocabulary),
    )
    drawn = random_documents(DocumentShape(documents, items), vocabulary)
    of_run = RunDocuments.of(drawn)
    # Of the long documents of a run the shortest is computed both ways, which takes minutes here.
    other = replace(of_run, ids=(*of_run.ids, "other"), lengths=(*of_run.lengths, EXACT_BELOW))
    cheap = tuple(score.name for score in SCORES.values() if not score.costly)
    start = time.process_time()
    found = audit_documents(
        build_model(config, SEED).eval(),
        drawn,
        vocabulary,
        probes=(name,) if name in PROBES else ("agreement",),
        scores=cheap if name in PROBES else ("attention", name),
        sample=0 if name == "agreement" else len(other.ids),
        run=other,
        seed=SEED,
        model_seed=SEED,
    )
    seconds = time.process_time() - start
    absent = found.not_applicable.get(name, "")
    print(f"{seconds:6.0f} s  {len(found.evidence):,} rows {absent}", flush=True)


def peak_megabytes(process: int) -> int:
    """The largest resident memory of a process so far; 0 if it has just ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) // 2**10


def watch(command: list[str], seconds: float) -> tuple[str, int]:
    """What a command printed, and its largest memory in MB."""
    peak, end = 0, time.monotonic() + seconds
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    while process.poll() is None:
        peak = max(peak, peak_megabytes(process.pid))
        if time.monotonic() > end:
            process.kill()
        time.sleep(0.05)
    printed, _ = process.communicate()
    return printed.strip() or f"stopped, return code {process.returncode}", peak


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="?", help="probes and scores; all without it")
    parser.add_argument("--documents", type=int, default=1)
    parser.add_argument("--items", type=int, default=4000)
    parser.add_argument("--encoder", default="bilstm")
    parser.add_argument("--samples", type=int, help="of LIME and kernel SHAP, per document")
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        measure(given.names, given.documents, given.items, given.encoder, given.samples)
        return
    from assay.probes import PROBES
    from assay.scores import SCORES

    probes = [name for name, probe in PROBES.items() if probe.measure and not probe.heads]
    costly = [name for name, score in SCORES.items() if score.costly]
    print(f"{given.documents} document(s) of {given.items:,} items, {given.encoder}", flush=True)
    for name in given.names.split(",") if given.names else probes + costly:
        own = [sys.executable, __file__, name, "--one", f"--documents={given.documents}"]
        own += [f"--items={given.items}", f"--encoder={given.encoder}"]
        own += [] if given.samples is None else [f"--samples={given.samples}"]
        printed, peak = watch(own, given.seconds)
        print(f"{name:22} {peak:6,} MB {printed}", flush=True)


if __name__ == "__main__":
    main()
