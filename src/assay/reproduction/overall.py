"""Agreement over all cells of a paper: with the authors' program, in bias and in correlation.

A cell is one number of one model, corpus and class; see `docs/reproduction/criterion.md`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from assay.papers.declared import ALL, Measure
from assay.papers.published import Reruns
from assay.reproduction.criterion import (
    Difference,
    bias_over,
    bias_word,
    correlation,
    correlation_change,
)
from assay.reproduction.finished_runs import FinishedRun
from assay.reproduction.judgement import Cell, cells_of
from assay.reproduction.models import RANDOM, DeclaredModel
from assay.reproduction.results import PaperResults
from assay.statistics.intervals import Interval

MEAN_TAU = "mean tau"  # the name of its margin
QUANTITIES = {  # of the vector study
    "tau with the gradient": Measure("", "agreement", "tau_attention_gradient", "mean"),
    "tau with leave-one-out": Measure("", "agreement", "tau_attention_leave_one_out", "mean"),
    "score on test": Measure("score"),
}
Number = Callable[[Cell], float | None]


@dataclass(frozen=True)
class ProgramCell:
    """A mean tau by the authors' program and by ours: same data and the same kind of vectors."""

    model: DeclaredModel
    quantity: str
    class_name: str
    theirs: tuple[float, ...]  # by seed
    ours: tuple[float, ...]

    @property
    def difference(self) -> float:
        return float(np.mean(self.ours) - np.mean(self.theirs))


def program_cells(results: PaperResults, reruns: Reruns) -> list[ProgramCell]:
    """Every mean tau that their program gave on our data; classes where it has them."""
    found = []
    for (corpus, name, quantity, group, statistic), kinds in reruns.program.items():
        by_class = (corpus, name, quantity, "0", statistic) in reruns.program
        if statistic != "mean" or not quantity.startswith("tau_") or (by_class and group == ALL):
            continue
        measure = Measure("", "agreement", quantity, statistic)
        for model, runs in results.runs.items():
            kind = next((kind for kind in kinds if kind in model.vectors), None)
            if (model.grid.name, model.name) == (corpus, name) and kind is not None and runs:
                class_name = ALL if group == ALL else runs[0].classes[int(group)]
                ours = _values(measure, class_name, model, runs)
                found.append(ProgramCell(model, quantity, class_name, kinds[kind], ours))
    return [cell for cell in found if cell.ours]


def agreement_sentence(cells: Sequence[ProgramCell]) -> str:
    """How far the two programs are apart; empty without cells."""
    if not cells:
        return ""
    apart = [abs(cell.difference) for cell in cells]
    return (
        "On the same data and with the same kind of vectors, our mean tau and that of Jain & "
        f"Wallace's own program are {np.mean(apart):.3f} apart on average over {len(apart)} cells, "
        f"and {max(apart):.3f} at most."
    )


def _values(
    measure: Measure, class_name: str, model: DeclaredModel, runs: Sequence[FinishedRun]
) -> tuple[float, ...]:
    found = [run.value(measure, class_name, model.grid.score) for run in runs]
    return tuple(each.value for each in found if each is not None)


def paper_cells(results: PaperResults) -> list[Cell]:
    """Every measured cell of the paper, those with pretrained vectors first."""
    cells = cells_of(part for table in results.tables for part in table.parts)
    return sorted(cells, key=lambda cell: cell.model.vectors == RANDOM)


def mean(cell: Cell) -> float:
    """Our number of a cell."""
    return float(np.mean(cell.number.values))


def printed(cell: Cell) -> float | None:
    """The printed number of a cell; None if it was recalled or read off a figure."""
    published = cell.number.published
    usable = published is not None and published.is_printed and not published.of
    return published.value if usable and published is not None else None


def printed_and_judged(cell: Cell) -> float | None:
    judgement = cell.number.judgement
    is_judged = judgement is not None and judgement.verdict != "not judged"
    return printed(cell) if is_judged else None


def later(cell: Cell) -> float | None:
    return cell.number.later


@dataclass(frozen=True)
class Bias:
    """The mean signed difference of one quantity, encoder and kind of vectors."""

    quantity: str
    encoder: str
    vectors: str
    cells: int
    corpora: int
    found: Difference
    word: str


def biases(cells: Iterable[Cell], one: Number, other: Number) -> list[Bias]:
    """The mean of `one` minus `other` over the cells that have both, by kind of cells."""
    groups: dict[tuple[str, str, str], list[tuple[Cell, float]]] = {}
    for cell in cells:
        first, second = one(cell), other(cell)
        if cell.margin is not None and first is not None and second is not None:
            key = (_quantity(cell), cell.model.encoder, cell.model.vectors)
            groups.setdefault(key, []).append((cell, first - second))
    found = []
    for (quantity, encoder, vectors), own in groups.items():
        corpora: dict[str, list[float]] = {}
        for cell, difference in own:
            corpora.setdefault(cell.model.grid.name, []).append(difference)
        bias, margin = bias_over(corpora), own[0][0].margin
        assert margin is not None, "cells without a margin were left out"
        word = bias_word(bias, margin.limit * own[0][0].measure.times)
        found.append(Bias(quantity, encoder, vectors, len(own), len(corpora), bias, word))
    return found


def _quantity(cell: Cell) -> str:
    """What the cell measures, in words, such as "attention and gradient, mean"."""
    if cell.measure.quantity is None:
        return "score on test"
    title = cell.part.title[0].lower() + cell.part.title[1:]
    return f"{title}: {cell.measure.heading}"


@dataclass(frozen=True)
class Correlations:
    """How mean tau varies over cells, beside print; all arms have the same cells."""

    encoder: str
    cells: int
    corpora: int
    with_print: dict[str, Interval]  # arm, or "their later run" -> correlation
    change: Difference | None  # of Fisher's z, pretrained minus random


LATER = "their later run"


def correlations(cells: Iterable[Cell]) -> Iterator[Correlations]:
    """The correlation of mean tau with print, for every encoder that has printed numbers."""
    taus = [
        cell
        for cell in cells
        if cell.margin is not None and cell.margin.name == MEAN_TAU and printed(cell) is not None
    ]
    for encoder in dict.fromkeys(cell.model.encoder for cell in taus):
        arms: dict[str, dict[tuple[str, ...], Cell]] = {}
        for cell in taus:
            if cell.model.encoder == encoder:
                arms.setdefault(cell.model.vectors, {})[_place(cell)] = cell
        yield _correlations(encoder, arms)


def _place(cell: Cell) -> tuple[str, ...]:
    model = cell.model
    return model.grid.label, model.name, cell.row.class_name, cell.measure.quantity or ""


def _correlations(encoder: str, arms: dict[str, dict[tuple[str, ...], Cell]]) -> Correlations:
    common = [
        place for place in next(iter(arms.values())) if all(place in a for a in arms.values())
    ]
    corpora = [place[0] for place in common]
    any_arm = next(iter(arms.values()))
    print_ = [printed(any_arm[place]) or 0.0 for place in common]
    ours = {name: [mean(arm[place]) for place in common] for name, arm in arms.items()}
    found = {name: correlation(values, print_, corpora) for name, values in ours.items()}
    again = [(later(any_arm[place]), at) for at, place in enumerate(common)]
    known = [(value, at) for value, at in again if value is not None]
    if len(known) > 2:
        found[LATER] = correlation(
            [value for value, _ in known],
            [print_[at] for _, at in known],
            [corpora[at] for _, at in known],
        )
    pretrained = [name for name in ours if name != RANDOM]
    change = None
    if RANDOM in ours and pretrained:
        pair = (ours[pretrained[0]], ours[RANDOM])
        change = correlation_change(pair, print_, corpora)
    return Correlations(encoder, len(common), len(set(corpora)), found, change)


@dataclass(frozen=True)
class VectorsEffect:
    """One quantity of one model with random and with pretrained vectors, by seed."""

    model: DeclaredModel  # with pretrained vectors
    quantity: str
    random: tuple[float, ...]
    pretrained: tuple[float, ...]

    @property
    def difference(self) -> Difference:
        """Pretrained minus random; Welch's interval over seeds."""
        one, other = np.array(self.pretrained), np.array(self.random)
        if min(len(one), len(other)) < 2:
            return Difference(float(one.mean() - other.mean()), float("nan"), 0)
        if np.ptp(one) == 0 and np.ptp(other) == 0:
            return Difference(float(one.mean() - other.mean()), 0.0, len(one) + len(other) - 2)
        test = stats.ttest_ind(one, other, equal_var=False)
        error = np.sqrt(one.var(ddof=1) / len(one) + other.var(ddof=1) / len(other))
        return Difference(float(one.mean() - other.mean()), float(error), float(test.df))

    @property
    def between_seeds(self) -> float:
        """The standard deviation between seeds, pooled over both kinds; NaN with one seed each."""
        groups = [np.array(each) for each in (self.random, self.pretrained) if len(each) > 1]
        freedom = sum(len(each) - 1 for each in groups)
        squares = sum(float(each.var(ddof=1)) * (len(each) - 1) for each in groups)
        return float(np.sqrt(squares / freedom)) if freedom else float("nan")


def vectors_effects(results: PaperResults) -> Iterator[VectorsEffect]:
    """Every model that was trained with both kinds of vectors, by quantity."""
    for name, measure in QUANTITIES.items():
        for model, runs in results.runs.items():
            other = results.runs.get(replace(model, vectors=RANDOM), ())
            if model.vectors != RANDOM and runs and other:
                pretrained = _values(measure, ALL, model, runs)
                random = _values(measure, ALL, model, other)
                if pretrained and random:
                    yield VectorsEffect(model, name, random, pretrained)
