"""Which number was published, and how far is it to be trusted?

Under which names does the file of published numbers hold what stands beside one of ours?
"""

import csv
from dataclasses import dataclass, replace
from pathlib import Path

from assay.papers.declared import Grid, Measure, Part

PRINTED = "printed"  # every other word of the column `trust` is shown beside the number
OVERALL = "overall"
PLACES = 2  # at least: the file writes 0.4 for a printed 0.40


@dataclass(frozen=True)
class Published:
    text: str
    trust: str
    of: str = ""  # another corpus than ours

    @property
    def value(self) -> float:
        return float(self.text)

    @property
    def digits(self) -> str:
        whole, _, places = self.text.partition(".")
        return f"{whole}.{places.ljust(PLACES, '0')}"

    @property
    def doubt(self) -> str:
        """What a reader must know before trusting it; nothing for one that was printed of ours."""
        notes = [note for note in (self.trust, self.of and f"of {self.of}") if note != PRINTED]
        return ", ".join(filter(None, notes))

    def __str__(self) -> str:
        return f"{self.digits} ({self.doubt})" if self.doubt else self.digits


@dataclass(frozen=True)
class Numbers:
    """The published numbers of one paper."""

    held: dict[tuple[str, str, str, str, str], Published]

    def find(
        self, table: str, corpus: str, setting: str, group: str, statistic: str
    ) -> Published | None:
        """A setting that ends in * stands for the one that begins so."""
        if setting.endswith("*"):
            found = self.beginning(table, corpus, setting.removesuffix("*"))
            assert len(found) < 2, f"{setting!r} of {table}, {corpus} is not one setting: {found}"
            setting = found[0] if found else setting
        return self.held.get((table, corpus, setting, group, statistic))

    def beginning(self, table: str, corpus: str, start: str) -> list[str]:
        """The settings of this table and corpus that begin so, in the file's order."""
        keys = [key for key in self.held if key[:2] == (table, corpus)]
        return list(dict.fromkeys(key[2] for key in keys if key[2].startswith(start)))

    def groups(self, table: str, corpus: str, setting: str) -> list[str]:
        """The classes, or `overall`, for which something was published of this model."""
        place = (table, corpus, setting)
        return list(dict.fromkeys(key[3] for key in self.held if key[:3] == place))


def read_numbers(reference: Path, paper: str) -> Numbers:
    with (reference / "published.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["paper"] == paper]
    return Numbers(
        {
            (row["table"], row["corpus"], row["setting"], row["group"], row["statistic"]):
            Published(row["value"], row["trust"])
            for row in rows
        }
    )  # fmt: skip


ADDITIVE = "additive"  # the attention of every layered model that was published


def spelt(encoder: str, attention: str) -> str:
    """A model as published.csv names it: `bilstm+dot`, and of the layered ones `han+rnn`."""
    if "-" in encoder and attention == ADDITIVE:
        return encoder.replace("-", "+")
    return f"{encoder}+{attention}"


def beside(
    numbers: Numbers, part: Part, grid: Grid, model: str, group: str, measure: Measure
) -> Published | None:
    """The number printed for this model and class; `of` names its corpus, if that is another."""
    place = measure.published or (group, measure.statistic or grid.score)
    corpus = grid.beside or grid.name
    found = numbers.find(part.published, corpus, measure.setting or model, *place)
    return None if found is None else replace(found, of=grid.beside)
