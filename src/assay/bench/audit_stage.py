"""The audit stage of a whole run beside the audit of the battery row, on the same documents.

The battery row audits in one process and writes nothing. The stage of a run divides the documents
into jobs, computes more scores and asks more probes. Their seconds, shared by the workers, are
subtracted from those of the stage. What remains is the battery's work and everything that jobs add
to it: starting workers, loading the model, files and tables.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from assay.bench import battery
from assay.bench.material import truncate
from assay.data.corpus import Corpus, Document
from assay.models.build import load_model

MOST_AUDIT_RATIO = 1.3  # seconds per document of the stage, relative to the battery
PROBES = ("agreement", "permutation", "adversary")


@dataclass(frozen=True)
class AuditComparison:
    """Seconds for the same scores and probes on the same documents."""

    documents: int
    stage_seconds: float
    battery_seconds: float

    @property
    def ratio(self) -> float:
        """The stage relative to the battery."""
        return self.stage_seconds / self.battery_seconds

    def __str__(self) -> str:
        stage, alone = (
            seconds / self.documents for seconds in (self.stage_seconds, self.battery_seconds)
        )
        return (
            f"audit stage, scores and probes of the battery: {stage:.4f} s a document, "
            f"the battery alone {alone:.4f} s, ratio {self.ratio:.2f} "
            f"(at most {MOST_AUDIT_RATIO})"
        )


def compare_audit(out: Path, timing: Mapping[str, Any]) -> AuditComparison:
    """Audit the documents of a finished run once more, as the battery row does."""
    network, corpus = load_model(out).network, audited_corpus(out)
    battery.run_optimized(network, truncate(corpus, test=1))  # warm-up: late imports
    start = time.perf_counter()
    battery.run_optimized(network, corpus)
    seconds = time.perf_counter() - start
    return AuditComparison(len(corpus.test), battery_part(timing), seconds)


def audited_corpus(out: Path) -> Corpus:
    """The audited documents of a run directory as the test split of a corpus."""
    trained = load_model(out)
    classes = trained.network.classes
    table = pl.read_parquet(out / "instances.parquet", columns=["id", "tokens", "label"])
    documents = tuple(
        Document(name, tuple(tokens), classes.index(label))
        for name, tokens, label in table.iter_rows()
    )
    return Corpus(
        out.name,
        "classification",
        classes,
        train=(),
        dev=(),
        test=documents,
        vocabulary=trained.vocabulary,
        licence="",
        source=str(out),
        dropped={},
    )


def battery_part(timing: Mapping[str, Any]) -> float:
    """The seconds of the audit stage without the scores and probes that the battery has not."""
    others = [
        seconds for name, seconds in timing["scores"].items() if name not in battery.SCORE_NAMES
    ]
    others += [seconds for name, seconds in timing["probes"].items() if name not in PROBES]
    return float(timing["stages"]["audit"] - sum(others) / timing["jobs"]["audit"]["workers"])
