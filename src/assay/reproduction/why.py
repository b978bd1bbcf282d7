"""Why does a declared model have no numbers?"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.corpora import corpora_table
from assay.reproduction.cells import Cell

NOT_YET = "not yet: the same command without `--only`, `--encoder` and `--seeds` trains it"


@dataclass(frozen=True)
class Why:
    """A few words for a table's row, and the whole for the list below the tables."""

    short: str
    whole: str


def missing_files(data: Path | None) -> dict[str, str]:
    """Corpus -> what is missing and where to get it, for those that cannot be read here."""
    return {
        row["name"]: f"its files are not here. It reads {row['reads']}. {row['get']}"
        for row in corpora_table(data)
        if row["status"] == "missing"
    }


@dataclass(frozen=True)
class Reasons:
    """What is known of the models without runs: from this call, the declaration and the files."""

    missing: Mapping[str, str]
    failures: Mapping[Cell, str]

    def of(self, cell: Cell) -> Why:
        corpus = cell.grid.name
        if cell in self.failures and corpus not in self.missing:
            return Why("could not be run", self.failures[cell])
        if cell.grid.unless_named:
            return Why("see below", cell.grid.unless_named)
        if corpus in self.missing:
            return Why("files missing", self.missing[corpus])
        return Why("not yet", NOT_YET)
