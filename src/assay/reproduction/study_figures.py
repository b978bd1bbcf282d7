"""The three figures of the study: by corpus, bias, and vectors."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from assay.report.charts.intervals import Dots, IntervalLine, Marks, dot_figure, marks_figure
from assay.report.charts.style import ATTENTION, COMPARISON, Figure
from assay.reproduction.judgement import Cell
from assay.reproduction.models import RANDOM
from assay.reproduction.overall import MEAN_TAU, Bias, VectorsEffect
from assay.reproduction.page import short_vectors
from assay.statistics.intervals import Interval, seeds_interval

GREY = "#7a7a7a"
ENCODER = "bilstm"
BY_CORPUS_CAPTION = """\
Mean tau of the BiLSTM with additive attention, by corpus and predicted class. Circles with lines \
are ours, the mean over seeds with its 95 % interval: orange with pretrained vectors, blue with \
random ones. Grey marks are theirs: squares are print, diamonds the authors' later run, triangles \
their program on our data with random vectors."""
BIAS_CAPTION = """\
Ours minus print, averaged over corpora with equal weight; lines are 95 % intervals over corpora. \
All cells with a printed number enter, judged or not."""
VECTORS_CAPTION = """\
Every mark is one seed: orange with pretrained vectors, blue with random ones. Attention is \
additive."""


def by_corpus_figure(cells: Iterable[Cell]) -> Figure | None:
    """Ours, print and their program, one line per corpus and class, one panel per measure."""
    panels: dict[str, list[IntervalLine]] = {}
    for cell in cells:
        is_tau = cell.margin is not None and cell.margin.name == MEAN_TAU
        if is_tau and cell.model.encoder == ENCODER and cell.number.published is not None:
            panels.setdefault(cell.part.title, []).extend(_marks_of(cell))
    drawn = [Marks(title, "mean tau", lines) for title, lines in panels.items()]
    return marks_figure("study-by-corpus", drawn) if drawn else None


def _marks_of(cell: Cell) -> Iterator[IntervalLine]:
    number, model = cell.number, cell.model
    name = f"{model.grid.label}: {cell.row.class_name}"
    theirs = {
        "square": ("print", None if number.published is None else number.published.value),
        "diamond": ("their later run", number.later),
        "triangle-up": (
            "their program",
            float(np.mean(number.program)) if number.program else None,
        ),
    }
    for shape, (label, value) in theirs.items():
        if value is not None:
            yield IntervalLine(name, value, None, None, f"{name}, {label} {value:.3f}", GREY, shape)
    ours = seeds_interval(number.values)
    hue = COMPARISON if model.vectors == RANDOM else ATTENTION
    tooltip = f"{name}, ours, {short_vectors(model.vectors)} {ours.value:.3f}"
    yield IntervalLine(name, ours.value, ours.low, ours.high, tooltip, hue)


def bias_figure(found: Sequence[Bias]) -> Figure | None:
    """The bias of every quantity, one panel per encoder."""
    panels = []
    for encoder in dict.fromkeys(bias.encoder for bias in found):
        lines = tuple(
            (f"{bias.quantity}, {short_vectors(bias.vectors)}", _interval(bias))
            for bias in found
            if bias.encoder == encoder
        )
        panels.append(Dots(encoder, "ours − print", lines))
    return dot_figure("study-bias", panels) if panels else None


def _interval(bias: Bias) -> Interval:
    low, high = bias.found.interval()
    return Interval(bias.found.value, low, high, bias.corpora)


def vectors_figure(effects: Iterable[VectorsEffect]) -> Figure | None:
    """The seeds of every model with both kinds of vectors, one panel per quantity."""
    panels: dict[str, list[IntervalLine]] = {}
    for effect in effects:
        if effect.model.attention != "additive":
            continue
        name = f"{effect.model.grid.label}: {effect.model.encoder}"
        arms = ((RANDOM, COMPARISON, effect.random), ("pretrained", ATTENTION, effect.pretrained))
        panels.setdefault(effect.quantity, []).extend(
            IntervalLine(name, value, None, None, f"{name}, {kind} {value:.3f}", hue)
            for kind, hue, values in arms
            for value in values
        )
    drawn = [Marks(title, title, lines) for title, lines in panels.items()]
    return marks_figure("study-vectors", drawn) if drawn else None
