"""Judgement of a paper's numbers by the criterion.

The variance between seeds is pooled over the models of a kind: the same quantity, encoder and kind
of vectors, on all corpora and with every kind of attention.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from assay.papers.declared import Measure, Part
from assay.papers.published import Published
from assay.reproduction.comparison import ComparedNumber, ComparedRow, Judgement
from assay.reproduction.criterion import (
    LEAST_FREEDOM,
    WORDS,
    Difference,
    Margin,
    Spread,
    difference,
    margin_of,
    pooled_spread,
    verdict_on,
)
from assay.reproduction.models import DeclaredModel

JudgedPart = tuple[Part, tuple[ComparedRow, ...]]
Kind = tuple[object, ...]
TOO_FEW_SEEDS = "too few seeds"
NO_MARGIN = "the criterion has no margin for it"


@dataclass(frozen=True)
class Cell:
    """One measured number with its place, and with what stands beside it."""

    part: Part
    row: ComparedRow
    measure: Measure
    number: ComparedNumber

    @property
    def model(self) -> DeclaredModel:
        return self.row.model

    @property
    def margin(self) -> Margin | None:
        return margin_of(self.measure)

    @property
    def kind(self) -> Kind:
        """Cells of one kind share the variance between seeds."""
        measure, model = self.measure, self.model
        quantity = measure.data or measure.quantity or model.grid.score
        encoder = self.part.encoders or model.encoder
        return quantity, measure.less, measure.statistic, measure.group, encoder, model.vectors


def cells_of(parts: Iterable[JudgedPart]) -> Iterator[Cell]:
    """Every cell that was measured."""
    for part, rows in parts:
        for row in rows:
            for measure, number in zip(part.measures, row.numbers, strict=True):
                if number.values:
                    yield Cell(part, row, measure, number)


def spreads_of(cells: Iterable[Cell]) -> dict[Kind, Spread]:
    """The pooled variance between seeds of every kind."""
    kinds: dict[Kind, dict[DeclaredModel, list[Sequence[float]]]] = {}
    for cell in cells:
        kinds.setdefault(cell.kind, {}).setdefault(cell.model, []).append(cell.number.values)
    return {kind: pooled_spread(list(models.values())) for kind, models in kinds.items()}


def judged_parts(parts: Sequence[JudgedPart]) -> tuple[JudgedPart, ...]:
    """The parts with a judgement for every number that has a printed one."""
    spreads = spreads_of(cells_of(parts))
    return tuple(
        (part, tuple(_judged_row(part, row, spreads) for row in rows)) for part, rows in parts
    )


def _judged_row(part: Part, row: ComparedRow, spreads: dict[Kind, Spread]) -> ComparedRow:
    numbers = tuple(
        replace(number, judgement=_judgement(Cell(part, row, measure, number), spreads))
        for measure, number in zip(part.measures, row.numbers, strict=True)
    )
    return replace(row, numbers=numbers)


def _judgement(cell: Cell, spreads: dict[Kind, Spread]) -> Judgement | None:
    published = cell.number.published
    if published is None or not cell.number.values:
        return None
    found = difference_to_print(cell, published, spreads[cell.kind])
    reason = _not_judged(cell, spreads[cell.kind])
    if reason or cell.margin is None:
        return Judgement(found, "not judged", reason or NO_MARGIN)
    return Judgement(found, verdict_on(found, cell.margin.limit * cell.measure.times))


def difference_to_print(cell: Cell, published: Published, spread: Spread) -> Difference:
    """Ours minus a published number, which is from one run."""
    values = cell.number.values
    return difference(
        sum(values) / len(values),
        published.value,
        spread,
        (len(values), 1),
        unit=published.unit,
        documents=2 * cell.number.documents_variance,
    )


def _not_judged(cell: Cell, spread: Spread) -> str:
    """Why a number is shown and not judged; empty if it is judged."""
    published, grid = cell.number.published, cell.model.grid
    assert published is not None, "a judgement is of a published number"
    if not published.is_printed:
        return published.trust
    if published.of:
        return f"of {published.of}"
    if grid.another_sample:
        return "another sample"
    return TOO_FEW_SEEDS if spread.freedom < LEAST_FREEDOM else ""


def verdict_counts(parts: Iterable[JudgedPart]) -> str:
    """How many numbers have each verdict, such as "3 equivalent, 1 different"."""
    judgements = [cell.number.judgement for cell in cells_of(parts)]
    counts = Counter(each.verdict for each in judgements if each is not None)
    return ", ".join(f"{counts[word]} {word}" for word in WORDS if counts[word])
