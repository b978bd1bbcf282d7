"""The Markdown page of a paper and the lines for the terminal.

The terminal shows one line per number, so that grep works. Folders of this machine are replaced by
words such as DATA and OUT.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.papers.declared import Measure, Part
from assay.reproduction.comparison import (
    NOTHING,
    RULE,
    ComparedNumber,
    ComparedRow,
    format_interval,
)
from assay.reproduction.figures import FRONTIER, FRONTIER_CAPTION
from assay.reproduction.finished_runs import FinishedRun
from assay.reproduction.models import DeclaredModel, ModelSelection
from assay.reproduction.results import ComparedTable, PaperResults
from assay.reproduction.sensitivity import continuation_lines, vectors_lines

DATA, OUT, PAGE = "DATA", "OUT", "PAGE"
SPLITS = ("train", "dev", "test")
DOTS_CAPTION = """\
Dots are means and lines are 95 % intervals: over seeds if a model was trained with several seeds, \
otherwise over documents."""
Lines = Iterator[str]


@dataclass(frozen=True)
class Places:
    """The files and folders of one call."""

    out: Path
    data: Path | None = None
    vectors: Path | None = None
    page: Path | None = None  # only if the user chose it

    def hide(self, text: str) -> str:
        """The text without absolute paths of this machine; relative paths stay."""
        words = {DATA: self.data, OUT: self.out.absolute()}
        if self.vectors is not None:
            words[self.vectors.name] = self.vectors
        for word, path in words.items():
            if path is not None and path.is_absolute():
                text = text.replace(str(path), word)
        return text


def format_command(name: str, selection: ModelSelection, places: Places) -> str:
    """The command of this call, with folders of this machine replaced by words."""
    options = {
        "--data": DATA if places.data is not None else None,
        "--out": _relative_or(OUT, places.out),
        "--page": None if places.page is None else _relative_or(PAGE, places.page),
        "--only": ",".join(selection.only),
        "--encoder": ",".join(selection.encoders),
        "--seeds": selection.seeds,
        "--vectors": selection.vectors.name if selection.vectors is not None else None,
    }
    given = [f"{option} {value}" for option, value in options.items() if value]
    return " ".join(["assay reproduce", name, *given])


def _relative_or(word: str, path: Path) -> str:
    return word if path.is_absolute() else path.as_posix()


def data_lines(results: PaperResults) -> Lines:
    """The sizes of each corpus, and the notes of its reader on what was dropped."""
    first = _first_runs(results)
    if not first:
        return
    yield from ("## Data", "", "| corpus | train | dev | test | words | notes |")
    yield "|---|---:|---:|---:|---:|---|"
    notes = {grid.label: grid.note for grid in results.paper.corpora}
    for label, run in first.items():
        corpus = run.manifest.corpus
        sizes = " | ".join(f"{corpus.section('sizes').count(split):,}" for split in SPLITS)
        dropped = corpus.section("dropped").values
        left_out = [f"left out {count:,}: {reason}" for reason, count in dropped.items()]
        reader_notes = map(str, corpus.rows("said"))
        remarks = [note.rstrip(".") for note in (notes[label], *reader_notes, *left_out) if note]
        words = f"{corpus.count('words'):,}"
        yield f"| {label} | {sizes} | {words} | {'; '.join(remarks).replace('|', '/')} |"
    yield ""


def vectors_file_lines(results: PaperResults) -> Lines:
    """How many words each vectors file covers, for runs that used one."""
    found = {
        (run.vectors, model.grid.label): run.manifest.section("vectors")
        for model, runs in results.runs.items()
        for run in runs
        if run.manifest.section("vectors").text("kind") == "file"
    }
    for (name, corpus), vectors in found.items():
        yield (
            f"`{name}` has {vectors.count('dimension')} dimensions and contains "
            f"{vectors.count('found'):,} of the {vectors.count('words'):,} words of {corpus}; the "
            "other words start at zero."
        )
    if found:
        yield ""


def version_line(results: PaperResults) -> str:
    """All versions with which the runs were made."""
    versions: dict[str, set[str]] = {}
    for runs in results.runs.values():
        for run in runs:
            for library, version in run.manifest.section("versions").values.items():
                versions.setdefault(library, set()).add(str(version))
    listed = ", ".join(f"{library} {' and '.join(sorted(v))}" for library, v in versions.items())
    return f"The runs were made with {listed}." if versions else "No run is finished yet."


def _first_runs(results: PaperResults) -> dict[str, FinishedRun]:
    first: dict[str, FinishedRun] = {}
    for model, runs in results.runs.items():
        for run in runs:
            first.setdefault(model.grid.label, run)
    return first


def terminal_lines(tables: Sequence[ComparedTable], models: Collection[DeclaredModel]) -> Lines:
    """The rows of these models, one line per number."""
    for table in tables:
        yield table.table.title
        for part, rows in table.parts:
            yield f"  {part.title}"
            headings = [measure.heading for measure in part.measures]
            for row in rows:
                if row.model in models:
                    yield from (f"    {line}" for line in _row_lines(row, headings))


def _row_lines(row: ComparedRow, headings: Sequence[str]) -> Lines:
    model = f"{row.model.grid.label} {row.model_name} {row.model.vectors} {row.class_name}"
    if row.not_run:
        yield f"{model}: not run: {row.not_run}"
        return
    for heading, number in zip(headings, row.numbers, strict=True):
        published = number.published
        remark = "" if published is None else f" | published {published} {number.mark}"
        seeds = f"{row.seeds} seed{'s' if row.seeds > 1 else ''} {format_interval(number.seeds)}"
        documents = f"documents {format_interval(number.documents)}"
        yield f"{model}: {heading}: {seeds} | {documents}{remark}"


def format_page(results: PaperResults, command: str, figures: Mapping[str, str]) -> str:
    """The whole page; `figures` maps the names of drawn tables to files.

    The page has no date, so that the same runs give the same bytes.
    """
    lines = [*_opening_lines(results, command), "## How to read this page", "", RULE, ""]
    for table in results.tables:
        lines += _table_lines(table, figures.get(table.table.name))
    lines += continuation_lines(results)
    lines += vectors_lines(results)
    lines += _not_run_lines(results)
    lines += data_lines(results)
    lines += vectors_file_lines(results)
    return "\n".join([*lines, version_line(results), ""])


def _opening_lines(results: PaperResults, command: str) -> Lines:
    paper = results.paper
    yield from (f"# {paper.title}: reproduced and published numbers", "")
    yield from (paper.opening.strip(), "")
    if paper.before:
        yield from ("The vectors were trained with", "", f"    {paper.before}", "")
    yield from ("This page was generated from finished runs with", "", f"    {command}", "")
    yield (
        f"`assay reproduce {paper.name}` reproduces all tables. Finished runs are kept and not "
        "repeated."
    )
    yield ""


def _table_lines(table: ComparedTable, figure: str | None) -> Lines:
    yield from (f"## {table.table.title}", "", table.table.words.strip(), "")
    if figure is not None:
        yield from (f"![{table.table.title} The numbers are in the tables.]({figure})", "")
        yield from (FRONTIER_CAPTION if table.table.drawing == FRONTIER else DOTS_CAPTION, "")
    marks = [number.mark for _, rows in table.parts for row in rows for number in row.numbers]
    inside, outside = marks.count("inside"), marks.count("outside")
    if inside + outside:
        yield from (f"{inside} of {inside + outside} published numbers are inside.", "")
    for part, rows in table.parts:
        yield from (f"### {part.title}", "")
        yield from _part_lines(part, rows)
        yield ""


def _part_lines(part: Part, rows: Sequence[ComparedRow]) -> Lines:
    run_rows = [row for row in rows if not row.not_run]
    if run_rows and not any(row.is_measured for row in run_rows):
        names = sorted({f"`{m.quantity}` of the probe `{m.probe}`" for m in part.measures})
        yield f"The finished runs do not contain {', '.join(names)}."
        return
    with_published = any(row.is_published for row in rows)
    headings = [h for measure in part.measures for h in _headings(measure, with_published)]
    yield _line(["corpus", "model", "vectors", "class", "seeds", *headings])
    yield _line(["---"] * (5 + len(headings)))
    for row in rows:
        model = row.model
        first = [model.grid.label, row.model_name, f"`{model.vectors}`", row.class_name]
        yield _line([*first, str(row.seeds), *_cells(part, row, with_published)])


def _headings(measure: Measure, with_published: bool) -> list[str]:
    heading = measure.heading
    ours = [f"{heading}, over seeds", "over documents, first seed"]
    if measure.of_models:
        ours = [f"{heading}, over models"]
    return [f"{heading}, published", *ours] if with_published else ours


def _cells(part: Part, row: ComparedRow, with_published: bool) -> Lines:
    for place, (measure, number) in enumerate(zip(part.measures, row.numbers, strict=True)):
        ours = [number.interval] if measure.of_models else [number.seeds, number.documents]
        if with_published:
            yield _published(number, row)
        if row.not_run:
            yield f"not run: {row.not_run}" if place == 0 else NOTHING
            yield from [NOTHING] * (len(ours) - 1)
        else:
            yield from map(format_interval, ours)


def _published(number: ComparedNumber, row: ComparedRow) -> str:
    if number.published is None:
        return NOTHING
    mark = number.mark
    if row.not_run or not mark:
        return str(number.published)
    return f"{number.published} **{mark}**" if mark == "outside" else f"{number.published} {mark}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _not_run_lines(results: PaperResults) -> Lines:
    if not results.not_run:
        return
    yield from ("## Models that were not run", "")
    for models, reason in results.not_run:
        yield f"- {models}: {reason}"
    yield ""
