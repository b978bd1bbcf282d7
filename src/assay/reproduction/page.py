"""How does a paper's page look: ours beside the published numbers, in Markdown?"""

from collections.abc import Iterator, Mapping, Sequence

from assay.reference.declared import Measure, Part
from assay.reproduction.collected import Collected, Printed
from assay.reproduction.compare import RULE, Compared, Row
from assay.reproduction.continuation import continuation_lines
from assay.reproduction.figures import FRONTIER
from assay.reproduction.frontier import CAPTION
from assay.reproduction.provenance import data_lines, model_lines, version_line
from assay.reproduction.sensitivity import vectors_lines
from assay.reproduction.spelled import NOTHING, number

Lines = Iterator[str]
DRAWN = """\
Dots are means, lines 95 % intervals: over seeds where a model was trained with several, else over \
documents."""


def page(collected: Collected, command: str, figures: Mapping[str, str]) -> str:
    """The whole page, with the files of the tables that are drawn.

    It has no date: the same runs give the same bytes.
    """
    paper = collected.paper
    lines = [f"# {paper.title}: ours beside the published numbers", "", paper.opening.strip(), ""]
    before = ["The vectors were made by", "", f"    {paper.before}", ""] if paper.before else []
    lines += ["This page is written by a program from finished runs.", *before,
              "It was last written by", "", f"    {command}", "",
              f"`assay reproduce {paper.name}` makes all tables; runs that are finished are not "
              "made again.", "", "## How to read it", "", RULE, ""]  # fmt: skip
    for printed in collected.tables:
        lines += _table_lines(printed, figures.get(printed.table.name))
    lines += continuation_lines(collected)
    lines += vectors_lines(collected)
    lines += _not_run_lines(collected)
    lines += data_lines(collected)
    lines += model_lines(collected)
    return "\n".join([*lines, version_line(collected), ""])


def _table_lines(printed: Printed, figure: str | None) -> Lines:
    yield from (f"## {printed.table.title}", "", printed.table.words.strip(), "")
    if figure is not None:
        yield from (f"![{printed.table.title} The numbers stand in the tables.]({figure})", "")
        yield from (CAPTION if printed.table.drawing == FRONTIER else DRAWN, "")
    marks = [n.mark for _, rows in printed.parts for row in rows for n in row.numbers]
    inside, outside = marks.count("inside"), marks.count("outside")
    if inside + outside:
        yield from (f"{inside} of {inside + outside} published numbers are inside.", "")
    for part, rows in printed.parts:
        yield from (f"### {part.title}", "")
        yield from _part_lines(part, rows)
        yield ""


def _part_lines(part: Part, rows: Sequence[Row]) -> Lines:
    ran = [row for row in rows if not row.not_run]
    if ran and all(n.seeds is None for row in ran for n in row.numbers):
        names = sorted({f"`{m.quantity}` of the probe `{m.probe}`" for m in part.measures})
        yield f"The finished runs do not hold {', '.join(names)}: they were not asked for it."
        return
    beside = any(number.published for row in rows for number in row.numbers)
    headings = [h for measure in part.measures for h in _headings(measure, beside)]
    yield _line(["corpus", "model", "vectors", "class", "seeds", *headings])
    yield _line(["---"] * (5 + len(headings)))
    for row in rows:
        first = [row.cell.grid.label, row.model, f"`{row.cell.vectors}`", row.name]
        yield _line([*first, str(row.seeds), *_cells(part, row, beside)])


def _headings(measure: Measure, beside: bool) -> list[str]:
    heading = measure.heading
    ours = [f"{heading}, over seeds", "over documents, first seed"]
    if measure.of_models:
        ours = [f"{heading}, over models"]
    return [f"{heading}, published", *ours] if beside else ours


def _cells(part: Part, row: Row, beside: bool) -> Iterator[str]:
    for place, (measure, each) in enumerate(zip(part.measures, row.numbers, strict=True)):
        ours = [each.interval] if measure.of_models else [each.seeds, each.instances]
        if beside:
            yield _published(each, row)
        if row.not_run:
            yield f"not run: {row.not_run}" if place == 0 else NOTHING
            yield from [NOTHING] * (len(ours) - 1)
        else:
            yield from map(number, ours)


def _published(each: Compared, row: Row) -> str:
    if each.published is None:
        return NOTHING
    mark = each.mark
    if row.not_run or not mark:
        return str(each.published)
    return f"{each.published} **{mark}**" if mark == "outside" else f"{each.published} {mark}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _not_run_lines(collected: Collected) -> Lines:
    if not collected.not_run:
        return
    yield from ("## What was not run, and why", "")
    for names, words in collected.not_run:
        yield f"- {names}: {words}"
    yield ""
