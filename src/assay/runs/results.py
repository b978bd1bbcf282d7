"""Everything measured on one model, from which summary, verdict and run directory are computed."""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import polars as pl

from assay.data.files import write_file, write_json
from assay.probes import PROBES
from assay.runs.directory import PROBES_FILE
from assay.runs.manifest import Manifest
from assay.runs.tables import Tables, TableSource
from assay.runs.without_text import manifest_without_text, remove_private, tables_without_text
from assay.summary import summarize
from assay.verdict import judge


@dataclass(frozen=True)
class Results:
    """Everything measured on one model. The summary and the verdict are computed from it."""

    source: TableSource
    classes: tuple[str, ...]
    manifest: Manifest
    seed: int

    @cached_property
    def tables(self) -> Tables:
        """The tables of instances and of evidence."""
        return self.source.read()

    @cached_property
    def instances(self) -> pl.DataFrame:
        """One row per document: its items, label, prediction, and every value per item."""
        return self.tables.instances.collect()

    def evidence(self) -> pl.DataFrame:
        """The long table: one row per instance, probe and quantity."""
        return self.tables.evidence.collect()

    def summary(self) -> pl.DataFrame:
        """Statistics per quantity and predicted class, with 95 % intervals."""
        return self._summary

    @cached_property
    def _summary(self) -> pl.DataFrame:
        return summarize(self.tables.evidence, self.tables.instances, self.classes, self.seed)

    def verdict(self) -> list[dict[str, Any]]:
        """One finding per claim."""
        guesses = bool(self.manifest.test.values.get("guesses"))
        manifest = self.manifest
        return judge(
            self.tables.evidence,
            self.seed,
            manifest.not_applicable,
            guesses,
            manifest.not_measured,
        )

    def without_text(self) -> Self:
        """The same without the texts and ids of the documents, ready to be written and shared."""
        instances, evidence = tables_without_text(self.instances, self.evidence())
        tables = Tables(instances.lazy(), evidence.lazy())
        return replace(self, source=tables, manifest=manifest_without_text(self.manifest))

    def write(self, folder: Path) -> None:
        """Write the tables of a run directory, and last the manifest that calls it complete."""
        written = replace(self, source=self.source.write(folder))
        table = written.summary().write_csv()
        write_file(folder / "summary.csv", lambda path: path.write_text(table, encoding="utf-8"))
        write_json(folder / "summary.json", written.summary().to_dicts())
        write_json(folder / "verdict.json", written.verdict())
        # All of them: a report also has headings for probes that were not asked.
        write_json(folder / PROBES_FILE, [declaration(name) for name in PROBES])
        self.manifest.write(folder)


def declaration(name: str) -> dict[str, Any]:
    """What a probe declares of itself, so that a page can be drawn without importing probes."""
    probe = PROBES[name]
    shown = ("name", "meaning", "unit", "direction", "detail")
    return {
        "name": probe.name,
        "question": probe.question,
        "null": probe.null,
        "paper": probe.paper,
        "scores": probe.scores,
        "quantities": [{key: getattr(q, key) for key in shown} for q in probe.quantities],
    }


def write_results(results: Results, out: Path, without_text: bool) -> None:
    """Fill the run directory; without texts, also delete the jobs that hold them."""
    (results.without_text() if without_text else results).write(out)
    if without_text:
        remove_private(out)
