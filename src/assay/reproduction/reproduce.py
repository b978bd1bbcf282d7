"""Why does a declared model have no numbers?

How is a paper's table made again, and put beside what was published?
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.config import Execution
from assay.data.files import write_file
from assay.engines import engine_faults
from assay.errors import UserError
from assay.papers.declared import REFERENCE, Paper, read_paper
from assay.papers.published import read_numbers
from assay.reproduction.execution import ReproductionRun, RunOutcome, reproduce_runs
from assay.reproduction.figures import drawn_figures
from assay.reproduction.models import DeclaredModel, ModelSelection, seeds_of, selected_models, slug
from assay.reproduction.page import command, page, printed_lines, without_places
from assay.reproduction.results import Reasons, collect, missing_files

Say = Callable[[str], None]
PAGES = Path("docs") / "reproduction"
RUNS = Path("runs")


@dataclass(frozen=True)
class Reproduced:
    """What came of it: lines for the terminal, the page, and whether all models are there."""

    lines: tuple[str, ...]
    page: Path
    outcomes: tuple[RunOutcome, ...]

    @property
    def refused(self) -> int:
        """Runs that the user can mend."""
        return sum(outcome.state == "refused" for outcome in self.outcomes)

    @property
    def failed(self) -> int:
        """Runs whose failure is our fault."""
        return sum(outcome.state == "failed" for outcome in self.outcomes)


def reproduce(
    name: str,
    *,
    choice: ModelSelection | None = None,
    execution: Execution | None = None,
    out: Path | None = None,
    page_file: Path | None = None,
    say: Say = lambda line: None,
    reference: Path = REFERENCE,
) -> Reproduced:
    """Train what PAPER or PAPER/TABLE needs and is not there yet; compare; write the page."""
    choice, execution = choice or ModelSelection(), execution or Execution()
    paper, tables = read_paper(name, reference)
    out = out or RUNS / paper.name
    page_file = page_file or PAGES / f"{paper.name}.md"
    _check(choice, execution, page_file)
    cells = selected_models(paper, choice)
    missing = missing_files(execution.data)
    outcomes = _train(paper, cells, choice, execution, out, missing, say)
    failures = {cell: _last_line(each.words) for cell, each in outcomes if not each.done}
    reasons = Reasons(missing, failures)
    vectors = None if choice.vectors is None else choice.vectors.name
    numbers = read_numbers(reference, paper.name)
    collected = collect(paper, out, vectors, numbers, reasons.of)
    typed = command(name, choice, execution, out)
    drawings = drawn_figures(collected, numbers)
    for file, drawing in drawings.values():
        _write(page_file.parent / file, drawing)
    files = {table: file for table, (file, _) in drawings.items()}
    _write(page_file, without_places(page(collected, typed, files), choice, execution, out))
    wanted = [printed for printed in collected.tables if printed.table in tables]
    lines = tuple(printed_lines(wanted, set(cells)))
    return Reproduced(lines, page_file, tuple(outcome for _, outcome in outcomes))


def _write(place: Path, text: str) -> None:
    write_file(place, lambda path: path.write_text(text, encoding="utf-8"))


def _check(choice: ModelSelection, execution: Execution, page_file: Path) -> None:
    faults = list(engine_faults(execution.engine, execution.ray_address))
    for option, value in (("seeds", choice.seeds), ("jobs", execution.workers)):
        if value is not None and value < 1:
            faults.append(f"--{option} {value} is too low: pass a whole number from 1 up.")
    if choice.vectors is not None and not choice.vectors.is_file():
        faults.append(f"--vectors {choice.vectors} is no file: check the path, or leave it out.")
    if execution.data is not None and not execution.data.exists():
        faults.append(f"--data {execution.data} does not exist: check the path.")
    if page_file.is_dir():
        faults.append(f"--page {page_file} is a folder: pass a file.")
    if faults:
        raise UserError("\n       ".join(faults))


def _train(
    paper: Paper,
    cells: list[DeclaredModel],
    choice: ModelSelection,
    execution: Execution,
    out: Path,
    missing: Mapping[str, str],
    say: Say,
) -> list[tuple[DeclaredModel, RunOutcome]]:
    """The outcome of every run, with the model it belongs to."""
    owners: dict[str, DeclaredModel] = {}
    tasks: list[ReproductionRun] = []
    outcomes: list[RunOutcome] = []
    for cell in cells:
        for seed in seeds_of(cell, choice):
            settings = cell.settings(paper, seed)
            owners[slug(settings)] = cell
            if cell.grid.name in missing:
                outcomes.append(RunOutcome(settings, "refused", missing[cell.grid.name]))
            else:
                tasks.append(ReproductionRun(settings, out, execution.data, choice.vectors))
    for name in dict.fromkeys(outcome.settings.corpus for outcome in outcomes):
        say(f"{name}: {missing[name]}")
    outcomes += reproduce_runs(tasks, execution, lambda outcome: say(_told(outcome)))
    return [(owners[slug(outcome.settings)], outcome) for outcome in outcomes]


def _told(outcome: RunOutcome) -> str:
    return ": ".join(filter(None, (slug(outcome.settings), outcome.state, outcome.words)))


def _last_line(words: str) -> str:
    """A sentence as it is; of a traceback the line that says what happened."""
    return words.strip().splitlines()[-1]
