"""What did a paper print for this corpus and this kind of model?"""

import csv
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

from assay.report.record import RunRecord
from assay.report.words import in_figure

OVERALL = "overall"
PRINTED = "printed"  # any other word of the column `trust` is said


@dataclass(frozen=True)
class Source:
    """A table of a paper whose numbers can stand beside a probe's."""

    paper: str
    table: str
    cited: str
    says: str


SOURCES = {  # probe: what was printed
    "agreement": (
        Source("jain-wallace", "table2/tau_g", "Jain & Wallace 2019, table 2",
               "τ of attention with gradient"),
        Source("jain-wallace", "table2/tau_loo", "Jain & Wallace 2019, table 2",
               "τ of attention with leave-one-out"),
    ),
}  # fmt: skip


def published(record: RunRecord) -> dict[str, list[str]]:
    """By probe, one sentence per printed row; nothing for a corpus that no paper has."""
    rows = _rows(record)
    found = {
        probe: [line for source in sources for line in _lines(source, rows, record)]
        for probe, sources in SOURCES.items()
    }
    return {probe: lines for probe, lines in found.items() if lines}


def _rows(record: RunRecord) -> list[dict[str, str]]:
    """The printed numbers of this corpus, encoder and attention."""
    settings = record.run.section("settings")
    corpus = record.run.section("corpus").text("name")
    setting = f"{settings.text('encoder')}+{settings.text('attention')}"
    table = files("assay.reference").joinpath("published.csv").read_text(encoding="utf-8")
    lines = csv.DictReader(table.splitlines())
    return [row for row in lines if (row["corpus"], row["setting"]) == (corpus, setting)]


def _lines(source: Source, rows: list[dict[str, str]], record: RunRecord) -> Iterator[str]:
    groups: dict[str, dict[str, dict[str, str]]] = defaultdict(dict)
    for row in rows:
        if (row["paper"], row["table"]) == (source.paper, source.table):
            groups[row["group"]][row["statistic"]] = row
    for group, cells in groups.items():
        if "mean" in cells:
            yield f"{source.cited}, {source.says}{_class(group, record)}: {_said(cells)}."


def _class(group: str, record: RunRecord) -> str:
    if group == OVERALL or not group.isdigit() or int(group) >= len(record.classes):
        return ""
    return f", predicted {in_figure(record.classes[int(group)])}"


def _said(cells: dict[str, dict[str, str]]) -> str:
    said = f"mean {float(cells['mean']['value']):.2f}"
    if "std" in cells:
        said += f", standard deviation {float(cells['std']['value']):.2f}"
    if "significant" in cells:
        said += f", p ≤ 0.05 in {float(cells['significant']['value']):.0%}"
    doubt = cells["mean"]["trust"]
    return said if doubt == PRINTED else f"{said} ({doubt})"
