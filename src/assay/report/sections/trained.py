"""Results of whole models: those trained for a probe."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from assay.report import text as words
from assay.report.sections.tables import EVERYTHING, meaning_of
from assay.runs.directory import RunRecord, SummaryRow

OVER_SEEDS, OVER_DOCUMENTS = "mean_over_seeds", "over_documents"
STATISTICS = (OVER_SEEDS, OVER_DOCUMENTS)
FEWEST_FOR_INTERVAL = 5  # models
HALF_TVD = "mean_half_tvd"  # half of the mean TVD, as a paper printed it: for its tables only
OLDER_NAMES: Mapping[tuple[str, str], str] = {("guide", "leak"): "unseen"}  # groups
HEADINGS: Mapping[str, str] = {
    "f1": "F1",
    "mean_jsd": "mean JSD",
    "mean_tvd": "mean TVD",
    "mean_mass": "mass on marked items",
    "accuracy_without_marked": "accuracy without them",
}

DEFINITIONS: Mapping[str, str] = {  # where the probe's own words are for readers of the method
    "f1": "quality on the test documents (1: every prediction is right)",
    "accuracy": "share of the test documents that are predicted correctly",
    "mean_jsd": "mean distance between the heat maps of these models and of this model (0: the "
    "same, 0.69: as far as possible)",
    "mean_tvd": "mean distance between their predictions, in probability (0: the same, 1: as far "
    "as possible)",
}


@dataclass(frozen=True)
class Column:
    name: str
    meaning: str


@dataclass(frozen=True)
class OverModels:
    """A mean over models. Of few models the values are shown, because an interval says nothing."""

    row: SummaryRow
    single: tuple[float, ...]  # empty where there are enough models, or only one


@dataclass(frozen=True)
class ModelLine:
    """One kind of model, the number of models, and a cell per quantity; None if it has none."""

    name: str
    models: int
    cells: tuple[OverModels | None, ...]


@dataclass(frozen=True)
class KindTable:
    """Models by what the probe varied."""

    columns: tuple[Column, ...]
    lines: tuple[ModelLine, ...]


@dataclass(frozen=True)
class Total:
    """One number over all models of a probe."""

    meaning: str
    over_seeds: OverModels
    over_documents: SummaryRow | None


@dataclass(frozen=True)
class TrainedSection:
    kinds: KindTable
    totals: tuple[Total, ...]

    @property
    def resampled(self) -> bool:
        """Whether a total has an interval over documents."""
        return any(total.over_documents is not None for total in self.totals)


def trained_sections(record: RunRecord) -> dict[str, TrainedSection]:
    """The sections of the probes that train models, by probe."""
    found: dict[str, list[SummaryRow]] = {}
    for row in without_repeated(record.summary):
        whole = row.statistic in STATISTICS and row.predicted == EVERYTHING
        if whole and row.quantity != HALF_TVD:
            found.setdefault(row.probe, []).append(row)
    return {probe: _trained(record, probe, rows) for probe, rows in found.items()}


def without_repeated(summary: Sequence[SummaryRow]) -> list[SummaryRow]:
    """The rows without those that say the same again under an older name."""
    groups = {(row.probe, row.group) for row in summary}
    again = {(probe, old) for (probe, old), new in OLDER_NAMES.items() if (probe, new) in groups}
    return [row for row in summary if (row.probe, row.group) not in again]


def without_models(summary: Iterable[SummaryRow]) -> list[SummaryRow]:
    """The rows of the summary that are about documents."""
    return [row for row in summary if row.statistic not in STATISTICS]


def values_by_model(record: RunRecord, probe: str, quantity: str) -> dict[tuple[str, int], float]:
    """The value of every model, by (group, seed), in the order of the evidence."""
    rows = record.rows(
        pl.col("instance").is_null(),
        pl.col("group").is_not_null(),
        pl.col("value").is_not_null(),
        probe=probe,
        quantity=quantity,
    )
    return {(row["group"], row["seed"]): row["value"] for row in rows.iter_rows(named=True)}


def over_models(record: RunRecord, row: SummaryRow) -> OverModels:
    """A row over seeds, with the values of its models where they are fewer than five."""
    if row.n is None or not 1 < row.n < FEWEST_FOR_INTERVAL:
        return OverModels(row, ())
    own = record.rows(
        pl.col("instance").is_null(),
        pl.col("group").eq_missing(pl.lit(row.group, dtype=pl.String)),
        pl.col("value").is_not_null(),
        probe=row.probe,
        quantity=row.quantity,
    )
    return OverModels(row, tuple(own.sort("seed", maintain_order=True)["value"]))


def _trained(record: RunRecord, probe: str, rows: list[SummaryRow]) -> TrainedSection:
    cells = {(row.group, row.quantity): row for row in rows if row.group is not None}
    groups, quantities = (tuple(dict.fromkeys(key[i] for key in cells)) for i in (0, 1))
    lines = [
        ModelLine(
            words.group(group, probe),
            max(row.n or 0 for (other, _), row in cells.items() if other == group),
            tuple(
                over_models(record, row) if (row := cells.get((group, quantity))) else None
                for quantity in quantities
            ),
        )
        for group in groups
        if group is not None
    ]
    columns = tuple(
        Column(
            HEADINGS.get(name) or words.plain(name),
            DEFINITIONS.get(name) or words.quantity(probe, name, meaning_of(name, rows)),
        )
        for name in quantities
        if name is not None
    )
    return TrainedSection(KindTable(columns, tuple(lines)), tuple(_totals(record, probe, rows)))


def _totals(record: RunRecord, probe: str, rows: list[SummaryRow]) -> Iterable[Total]:
    alone = {(row.quantity, row.statistic): row for row in rows if row.group is None}
    for (name, statistic), row in alone.items():
        if statistic == OVER_SEEDS:
            over_documents = alone.get((name, OVER_DOCUMENTS))
            meaning = words.quantity(probe, name, row.meaning)
            yield Total(meaning, over_models(record, row), over_documents)
