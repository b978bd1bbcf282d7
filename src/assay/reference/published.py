"""Which number was published, and how far is it to be trusted?"""

import csv
from dataclasses import dataclass
from pathlib import Path

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
