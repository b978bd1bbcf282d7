"""How is a number with its interval written, and a command without this machine's paths?

On which documents, with which model and with which versions were the numbers made?

What does a person at the terminal see of a table? One line per number, so that grep works.

How does a paper's page look: ours beside the published numbers, in Markdown?
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from assay.config import Execution
from assay.papers.declared import Measure, Part
from assay.reproduction.comparison import NOTHING, RULE, Compared, ComparedRow, number
from assay.reproduction.figures import CAPTION, FRONTIER
from assay.reproduction.models import DeclaredModel, ModelSelection, Run
from assay.reproduction.results import Collected, Printed
from assay.reproduction.sensitivity import continuation_lines, vectors_lines

DATA, OUT = "DATA", "OUT"


def command(name: str, choice: ModelSelection, execution: Execution, out: Path) -> str:
    """What was typed, as anyone may type it: folders of this machine become words."""
    given = {
        "--data": DATA if execution.data is not None else None,
        "--out": str(out) if not out.is_absolute() else OUT,
        "--only": ",".join(choice.only),
        "--encoder": ",".join(choice.encoders),
        "--seeds": choice.seeds,
        "--vectors": choice.vectors.name if choice.vectors is not None else None,
    }
    options = [f"{option} {value}" for option, value in given.items() if value]
    return " ".join(["assay reproduce", name, *options])


def without_places(text: str, choice: ModelSelection, execution: Execution, out: Path) -> str:
    """The same text without folders of this machine; relative ones are everyone's."""
    places = {DATA: execution.data, OUT: out.absolute()}
    if choice.vectors is not None:
        places[choice.vectors.name] = choice.vectors
    for word, place in places.items():
        if place is not None and place.is_absolute():
            text = text.replace(str(place), word)
    return text


SPLITS = ("train", "dev", "test")


def data_lines(collected: Collected) -> Iterator[str]:
    """Sizes after cleaning, and what each reader said and left out."""
    first = _first_runs(collected)
    if not first:
        return
    yield from ("## Data", "", "| corpus | train | dev | test | words | notes |",
                "|---|---:|---:|---:|---:|---|")  # fmt: skip
    notes = {grid.label: grid.note for grid in collected.paper.corpora}
    for name, run in first.items():
        corpus = run.record["corpus"]
        sizes = " | ".join(f"{corpus['sizes'][split]:,}" for split in SPLITS)
        left_out = [f"left out {n:,}: {reason}" for reason, n in corpus["dropped"].items()]
        said = [words.rstrip(".") for words in (notes[name], *corpus["said"], *left_out) if words]
        yield f"| {name} | {sizes} | {corpus['words']:,} | {'; '.join(said).replace('|', '/')} |"
    yield ""


def model_lines(collected: Collected) -> Iterator[str]:
    """What the vectors files brought, as far as runs used any."""
    found = {
        (run.vectors, cell.grid.label): run.record["vectors"]
        for cell, runs in collected.runs.items()
        for run in runs
        if run.record["vectors"]["kind"] == "file"
    }
    for (name, corpus), held in found.items():
        yield (
            f"`{name}` has {held['dimension']} dimensions and holds {held['found']:,} of the "
            f"{held['words']:,} words of {corpus}; the others start at zero."
        )
    if found:
        yield ""


def version_line(collected: Collected) -> str:
    """All versions under which the runs were made."""
    made: dict[str, set[str]] = {}
    for runs in collected.runs.values():
        for run in runs:
            for library, version in run.record["versions"].items():
                made.setdefault(library, set()).add(version)
    listed = ", ".join(f"{library} {' and '.join(sorted(v))}" for library, v in made.items())
    return f"Made with {listed}." if made else "No run is finished yet."


def _first_runs(collected: Collected) -> dict[str, Run]:
    first: dict[str, Run] = {}
    for cell, runs in collected.runs.items():
        for run in runs:
            first.setdefault(cell.grid.label, run)
    return first


def printed_lines(tables: Sequence[Printed], cells: Collection[DeclaredModel]) -> Iterator[str]:
    """The rows of these models."""
    for printed in tables:
        yield printed.table.title
        for part, rows in printed.parts:
            yield f"  {part.title}"
            headings = [measure.heading for measure in part.measures]
            for row in rows:
                if row.cell in cells:
                    yield from (f"    {line}" for line in _row_lines(row, headings))


def _row_lines(row: ComparedRow, headings: Sequence[str]) -> Iterator[str]:
    model = f"{row.cell.grid.label} {row.model} {row.cell.vectors} {row.name}"
    if row.not_run:
        yield f"{model}: not run: {row.not_run}"
        return
    for heading, each in zip(headings, row.numbers, strict=True):
        published = "" if each.published is None else f" | published {each.published} {each.mark}"
        seeds = f"{row.seeds} seed{'s' if row.seeds > 1 else ''} {number(each.seeds)}"
        yield f"{model}: {heading}: {seeds} | documents {number(each.instances)}{published}"


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


def _part_lines(part: Part, rows: Sequence[ComparedRow]) -> Lines:
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


def _cells(part: Part, row: ComparedRow, beside: bool) -> Iterator[str]:
    for place, (measure, each) in enumerate(zip(part.measures, row.numbers, strict=True)):
        ours = [each.interval] if measure.of_models else [each.seeds, each.instances]
        if beside:
            yield _published(each, row)
        if row.not_run:
            yield f"not run: {row.not_run}" if place == 0 else NOTHING
            yield from [NOTHING] * (len(ours) - 1)
        else:
            yield from map(number, ours)


def _published(each: Compared, row: ComparedRow) -> str:
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
