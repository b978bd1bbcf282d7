"""What did a paper print for this corpus and this kind of model?

The papers' tables are declared once, in `reference`, with the probe that each number is of; here
those are looked up that stand beside this run.
"""

from collections import defaultdict
from collections.abc import Iterator

from assay.papers.declared import ALL, REFERENCE, Grid, Paper, Part, known, read_paper
from assay.papers.published import OVERALL, Numbers, Published, beside, read_numbers, spelt
from assay.report import text as words
from assay.runs.directory import RunRecord

Found = dict[str, Published]  # by heading


def published(record: RunRecord) -> dict[str, list[str]]:
    """By probe, a sentence per printed row; nothing for a corpus or model that no paper has."""
    lines: dict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(each.partition("/")[0] for each in known()):
        paper, _ = read_paper(name)
        numbers = read_numbers(REFERENCE, name)
        for grid in _grids(paper, record):
            for probe, line in _lines(paper, grid, numbers, record):
                lines[probe].append(line)
    return {probe: list(dict.fromkeys(said)) for probe, said in lines.items()}


def _grids(paper: Paper, record: RunRecord) -> list[Grid]:
    """Where the paper has this corpus and a model like this one."""
    corpus = record.manifest.section("corpus").text("name")
    encoder, attention = _model(record)
    return [
        grid
        for grid in paper.corpora
        if (grid.name, encoder in grid.encoders, attention in grid.attentions)
        == (corpus, True, True)
    ]


def _model(record: RunRecord) -> tuple[str, str]:
    settings = record.manifest.section("settings")
    return settings.text("encoder") or "", settings.text("attention") or ""


def _lines(
    paper: Paper, grid: Grid, numbers: Numbers, record: RunRecord
) -> Iterator[tuple[str, str]]:
    for table in paper.tables:
        cited = f"{_opening(paper.title, ',')}, {_lowered(_opening(table.title, ':'))}"
        for part in table.parts:
            for group, predicted in _rows(part, grid, record):
                for probe, found in _found(part, grid, numbers, group, record).items():
                    yield probe, f"{cited}, {_lowered(part.title)}{predicted}: {_said(found)}."


def _rows(part: Part, grid: Grid, record: RunRecord) -> Iterator[tuple[str, str]]:
    """The groups of published.csv, and how they are said."""
    yield OVERALL, ""
    if (part.rows or grid.rows) != ALL:
        for number, name in enumerate(record.classes):
            yield str(number), f", predicted {words.in_figure(name)}"


def _found(
    part: Part, grid: Grid, numbers: Numbers, group: str, record: RunRecord
) -> dict[str, Found]:
    """By probe the numbers of one printed row; a difference of two models is no single run's."""
    found: dict[str, Found] = defaultdict(dict)
    for measure in () if part.encoders else part.measures:
        number = beside(numbers, part, grid, spelt(*_model(record)), group, measure)
        if measure.probe is not None and number is not None:
            found[measure.probe][words.statistic(measure.heading)] = number
    return found


def _said(found: Found) -> str:
    """Doubts that all numbers of a row share are told once."""
    doubts = {number.doubt for number in found.values()}
    if len(doubts) > 1:
        return ", ".join(f"{heading} = {number}" for heading, number in found.items())
    said = ", ".join(f"{heading} = {number.digits}" for heading, number in found.items())
    return "".join([said, *(f" ({doubt})" for doubt in doubts if doubt)])


def _opening(title: str, end: str) -> str:
    return title.partition(end)[0]


def _lowered(title: str) -> str:
    """As it stands within a sentence; F1 stays F1."""
    return title[:1].lower() + title[1:] if title[1:2].islower() else title
