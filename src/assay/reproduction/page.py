"""The Markdown page of a paper and the lines for the terminal.

The terminal shows one line per number, so that grep works. Folders of this machine are replaced by
words such as DATA and OUT.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.papers.declared import ALL, Measure, Part
from assay.reproduction.comparison import (
    NO_CLASSES,
    NOTHING,
    RULE,
    ComparedNumber,
    ComparedRow,
    format_interval,
)
from assay.reproduction.figures import caption
from assay.reproduction.finished_runs import FinishedRun
from assay.reproduction.judgement import verdict_counts
from assay.reproduction.models import DeclaredModel, ModelSelection
from assay.reproduction.results import ComparedTable, PaperResults
from assay.reproduction.sensitivity import continuation_lines, vectors_lines
from assay.statistics.intervals import Interval

DATA, OUT, PAGE, RESULTS = "DATA", "OUT", "PAGE", "RESULTS"
SPLITS = ("train", "dev", "test")
Lines = Iterator[str]


@dataclass(frozen=True)
class Places:
    """The files and folders of one call."""

    out: Path
    data: Path | None = None
    vectors: Path | None = None
    page: Path | None = None  # only if the user chose it
    results: Path | None = None  # stored numbers that are read instead of runs

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
        "--out": None if places.results is not None else _relative_or(OUT, places.out),
        "--results": None if places.results is None else _relative_or(RESULTS, places.results),
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
        remark = "" if published is None else f" | published {published} {_verdict(number)}"
        seeds = f"{row.seeds} seed{'s' if row.seeds > 1 else ''} {format_interval(number.seeds)}"
        documents = f"documents {format_interval(number.documents)}"
        yield f"{model}: {heading}: {seeds} | {documents}{remark}"


def format_page(
    results: PaperResults, command: str, figures: Mapping[str, str], first: str = ""
) -> str:
    """The whole page; `figures` maps the names of drawn tables to files.

    `first` is a sentence to begin with.

    The page has no date, so that the same runs give the same bytes.
    """
    lines = [*_opening_lines(results, command, first), "## How to read this page", "", RULE, ""]
    for table in results.tables:
        lines += _table_lines(table, figures.get(table.table.name))
    lines += continuation_lines(results)
    lines += vectors_lines(results)
    lines += _not_run_lines(results)
    lines += data_lines(results)
    lines += vectors_file_lines(results)
    return "\n".join([*lines, version_line(results), ""])


def _opening_lines(results: PaperResults, command: str, first: str) -> Lines:
    paper = results.paper
    yield from (f"# {paper.title}: reproduced and published numbers", "")
    if first:
        yield from (first, "")
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
        yield from (caption(table.table), "")
    if counts := verdict_counts(table.parts):
        yield from (f"Verdicts on the printed numbers: {counts}.", "")
    for part, rows in table.parts:
        yield from (f"### {part.title}", "")
        yield from _part_lines(part, rows)


def _part_lines(part: Part, rows: Sequence[ComparedRow]) -> Lines:
    run_rows = [row for row in rows if not row.not_run]
    if run_rows and not any(row.is_measured for row in run_rows):
        names = sorted({f"`{m.quantity}` of the probe `{m.probe}`" for m in part.measures})
        yield from (f"The finished runs do not contain {', '.join(names)}.", "")
        return
    compared = [row for row in run_rows if row.is_compared]
    others = [row for row in rows if row not in compared]
    for place, measure in enumerate(part.measures if compared else ()):
        beside = [row for row in compared if row.numbers[place].is_compared]
        table = list(_comparison_lines(measure, place, beside))
        yield from _folded(f"{measure.heading}, beside print", table, is_open=place == 0)
    heading = "Models without a published number, and models that were not run"
    own = list(_own_lines(part, others)) if others else []
    yield from _folded(heading, own, is_open=not compared)
    documents = list(_documents_lines(part, run_rows))
    yield from _folded("Over documents, first seed", documents, is_open=False)


def _folded(summary: str, table: Sequence[str], is_open: bool) -> Lines:
    """A table; unless it is open, a reader has to unfold it."""
    if not table:
        return
    if is_open:
        yield from (*table, "")
        return
    yield from ('<details markdown="1">', f"<summary>{summary}</summary>", "")
    yield from (*table, "", "</details>", "")


def _comparison_lines(measure: Measure, place: int, rows: Sequence[ComparedRow]) -> Lines:
    """One measure of every model with a published number: theirs, ours, and the verdict."""
    numbers = [row.numbers[place] for row in rows]
    with_later = any(number.later is not None for number in numbers)
    with_program = any(number.program for number in numbers)
    headings = ["corpus", "model", "vectors", "seeds", f"{measure.heading}, print"]
    headings += ["their later run"] * with_later + ["their program"] * with_program
    headings += ["ours", "ours − print", "verdict"]
    yield _line(headings)
    yield _line(["---"] * len(headings))
    for row, number in zip(rows, numbers, strict=True):
        beside = [NOTHING if number.published is None else str(number.published)]
        beside += [_plain(number.later)] * with_later
        beside += [_plain(_mean(number.program))] * with_program
        own = [format_interval(_own(measure, number)), _difference(number), _verdict(number)]
        yield _line([*_place(row), str(max(row.seeds, len(number.values))), *beside, *own])


def _own_lines(part: Part, rows: Sequence[ComparedRow]) -> Lines:
    headings = [measure.heading for measure in part.measures]
    yield _line(["corpus", "model", "vectors", "seeds", *headings])
    yield _line(["---"] * (4 + len(headings)))
    for row in rows:
        cells = [
            format_interval(_own(measure, number))
            for measure, number in zip(part.measures, row.numbers, strict=True)
        ]
        if row.not_run:
            printed = ", ".join(str(n.published) for n in row.numbers if n.published is not None)
            remark = f" (print: {printed})" if printed else ""
            cells = [f"not run: {row.not_run}{remark}", *cells[1:]]
        yield _line([*_place(row), str(row.seeds), *cells])


def _documents_lines(part: Part, rows: Sequence[ComparedRow]) -> Lines:
    """Intervals over documents, which do not contain the variation between seeds."""
    places = [place for place, measure in enumerate(part.measures) if not measure.of_models]
    if not places or not any(row.seeds > 1 for row in rows):
        return
    yield _line(["corpus", "model", "vectors", *(part.measures[at].heading for at in places)])
    yield _line(["---"] * (3 + len(places)))
    for row in rows:
        cells = [format_interval(row.numbers[at].documents) for at in places]
        yield _line([*_place(row), *cells])


def _place(row: ComparedRow) -> list[str]:
    model = row.model
    corpus = model.grid.label
    of_class = corpus if row.class_name in (ALL, NO_CLASSES) else f"{corpus}, {row.class_name}"
    return [of_class, row.model_name, short_vectors(model.vectors)]


def short_vectors(name: str) -> str:
    """The first word of the name of a vectors file."""
    return name.partition(".")[0]


def _own(measure: Measure, number: ComparedNumber) -> Interval | None:
    return number.interval if measure.of_models else number.seeds


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _plain(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3f}"


def _difference(number: ComparedNumber) -> str:
    if number.judgement is None:
        return NOTHING
    found = number.judgement.difference
    low, high = found.interval()
    return f"{found.value:+.3f}" + ("" if low != low else f" [{low:+.3f}, {high:+.3f}]")


def _verdict(number: ComparedNumber) -> str:
    """The verdict, or why there is none."""
    judgement = number.judgement
    if judgement is None:
        return NOTHING
    if judgement.verdict == "not judged":
        return f"shown, not judged: {judgement.reason}"
    return f"**{judgement.verdict}**" if judgement.verdict == "different" else judgement.verdict


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _not_run_lines(results: PaperResults) -> Lines:
    if not results.not_run:
        return
    yield from ("## Models that were not run", "")
    for models, reason in results.not_run:
        yield f"- {models}: {reason}"
    yield ""
