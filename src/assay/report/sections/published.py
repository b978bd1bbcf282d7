"""Published numbers for this corpus and this kind of model, as sentences.

The papers' tables are declared once, in `assay.papers`, with the probe that each number belongs
to. Here the numbers that can be compared with this run are looked up.
"""

from collections import defaultdict
from collections.abc import Iterator

from assay.papers.declared import ALL, REFERENCE, Grid, Paper, Part, known, read_paper
from assay.papers.published import OVERALL, Numbers, Published, beside, read_numbers, spelt
from assay.report import text as words
from assay.runs.directory import RunRecord

Found = dict[str, Published]  # by heading


def published(record: RunRecord) -> dict[str, list[str]]:
    """By probe, a sentence per printed row; empty for a corpus or model that no paper has."""
    lines: dict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(each.partition("/")[0] for each in known()):
        paper, _ = read_paper(name)
        numbers = read_numbers(REFERENCE, name)
        for grid in _grids(paper, record):
            for probe, line in _lines(paper, grid, numbers, record):
                lines[probe].append(line)
    return {probe: list(dict.fromkeys(sentences)) for probe, sentences in lines.items()}


def _grids(paper: Paper, record: RunRecord) -> list[Grid]:
    """The paper's experiments on this corpus with a model like this one."""
    corpus = record.manifest.corpus.text("name")
    encoder, attention = _model(record)
    return [
        grid
        for grid in paper.corpora
        if (grid.name, encoder in grid.encoders, attention in grid.attentions)
        == (corpus, True, True)
    ]


def _model(record: RunRecord) -> tuple[str, str]:
    settings = record.manifest.settings
    return settings.text("encoder") or "", settings.text("attention") or ""


def _lines(
    paper: Paper, grid: Grid, numbers: Numbers, record: RunRecord
) -> Iterator[tuple[str, str]]:
    for table in paper.tables:
        cited = f"{_opening(paper.title, ',')}, {_lowered(_opening(table.title, ':'))}"
        for part in table.parts:
            for group, predicted in _rows(part, grid, record):
                for probe, found in _found(part, grid, numbers, group, record).items():
                    yield probe, f"{cited}, {_lowered(part.title)}{predicted}: {_numbers(found)}."


def _rows(part: Part, grid: Grid, record: RunRecord) -> Iterator[tuple[str, str]]:
    """The groups of published.csv, with the words for each."""
    yield OVERALL, ""
    if (part.rows or grid.rows) != ALL:
        for number, name in enumerate(record.classes):
            yield str(number), f", predicted {words.in_figure(name)}"


def _found(
    part: Part, grid: Grid, numbers: Numbers, group: str, record: RunRecord
) -> dict[str, Found]:
    """By probe, the numbers of one printed row; no single run has a difference of two models."""
    found: dict[str, Found] = defaultdict(dict)
    for measure in () if part.encoders else part.measures:
        number = beside(numbers, part, grid, spelt(*_model(record)), group, measure)
        if measure.probe is not None and number is not None:
            found[measure.probe][words.statistic(measure.heading)] = number
    return found


def _numbers(found: Found) -> str:
    """The numbers with their caveats; a caveat that all of them share stands once, at the end."""
    caveats = {number.caveat for number in found.values()}
    if len(caveats) > 1:
        return ", ".join(f"{heading} = {number}" for heading, number in found.items())
    numbers = ", ".join(f"{heading} = {number.digits}" for heading, number in found.items())
    return "".join([numbers, *(f" ({caveat})" for caveat in caveats if caveat)])


def _opening(title: str, end: str) -> str:
    return title.partition(end)[0]


def _lowered(title: str) -> str:
    """A title as it stands within a sentence; F1 stays F1."""
    return title[:1].lower() + title[1:] if title[1:2].islower() else title
