"""How is a paper's table made again, and put beside what was published?"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.engines import engine_faults
from assay.errors import UserError
from assay.reference.declared import REFERENCE, Paper, read_paper
from assay.reference.published import read_numbers
from assay.reproduction.cells import Cell, Choice, chosen_cells, seeds_of, slug
from assay.reproduction.collected import collect
from assay.reproduction.execute import Outcome, Task, run_tasks
from assay.reproduction.figures import drawn_figures
from assay.reproduction.lines import printed_lines
from assay.reproduction.page import page
from assay.reproduction.spelled import command, without_places
from assay.reproduction.why import Reasons, missing_files
from assay.settings import Ways
from assay.store import write_file

Say = Callable[[str], None]
PAGES = Path("docs") / "reproduction"
RUNS = Path("runs")


@dataclass(frozen=True)
class Reproduced:
    """What came of it: lines for the terminal, the page, and whether all models are there."""

    lines: tuple[str, ...]
    page: Path
    outcomes: tuple[Outcome, ...]

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
    choice: Choice | None = None,
    ways: Ways | None = None,
    out: Path | None = None,
    page_file: Path | None = None,
    say: Say = lambda line: None,
    reference: Path = REFERENCE,
) -> Reproduced:
    """Train what PAPER or PAPER/TABLE needs and is not there yet; compare; write the page."""
    choice, ways = choice or Choice(), ways or Ways()
    paper, tables = read_paper(name, reference)
    out = out or RUNS / paper.name
    page_file = page_file or PAGES / f"{paper.name}.md"
    _check(choice, ways, page_file)
    cells = chosen_cells(paper, choice)
    missing = missing_files(ways.data)
    outcomes = _train(paper, cells, choice, ways, out, missing, say)
    failures = {cell: _last_line(each.words) for cell, each in outcomes if not each.done}
    reasons = Reasons(missing, failures)
    vectors = None if choice.vectors is None else choice.vectors.name
    numbers = read_numbers(reference, paper.name)
    collected = collect(paper, out, vectors, numbers, reasons.of)
    typed = command(name, choice, ways, out)
    drawings = drawn_figures(collected, numbers)
    for file, drawing in drawings.values():
        _write(page_file.parent / file, drawing)
    files = {table: file for table, (file, _) in drawings.items()}
    _write(page_file, without_places(page(collected, typed, files), choice, ways, out))
    wanted = [printed for printed in collected.tables if printed.table in tables]
    lines = tuple(printed_lines(wanted, set(cells)))
    return Reproduced(lines, page_file, tuple(outcome for _, outcome in outcomes))


def _write(place: Path, text: str) -> None:
    write_file(place, lambda path: path.write_text(text, encoding="utf-8"))


def _check(choice: Choice, ways: Ways, page_file: Path) -> None:
    faults = list(engine_faults(ways.engine, ways.ray_address))
    for option, value in (("seeds", choice.seeds), ("jobs", ways.workers)):
        if value is not None and value < 1:
            faults.append(f"--{option} {value} is too low: pass a whole number from 1 up.")
    if choice.vectors is not None and not choice.vectors.is_file():
        faults.append(f"--vectors {choice.vectors} is no file: check the path, or leave it out.")
    if ways.data is not None and not ways.data.exists():
        faults.append(f"--data {ways.data} does not exist: check the path.")
    if page_file.is_dir():
        faults.append(f"--page {page_file} is a folder: pass a file.")
    if faults:
        raise UserError("\n       ".join(faults))


def _train(
    paper: Paper,
    cells: list[Cell],
    choice: Choice,
    ways: Ways,
    out: Path,
    missing: Mapping[str, str],
    say: Say,
) -> list[tuple[Cell, Outcome]]:
    """The outcome of every run, with the model it belongs to."""
    owners: dict[str, Cell] = {}
    tasks: list[Task] = []
    outcomes: list[Outcome] = []
    for cell in cells:
        for seed in seeds_of(cell, choice):
            settings = cell.settings(paper, seed)
            owners[slug(settings)] = cell
            if cell.grid.name in missing:
                outcomes.append(Outcome(settings, "refused", missing[cell.grid.name]))
            else:
                tasks.append(Task(settings, out, ways.data, choice.vectors))
    for name in dict.fromkeys(outcome.settings.corpus for outcome in outcomes):
        say(f"{name}: {missing[name]}")
    outcomes += run_tasks(tasks, ways, lambda outcome: say(_told(outcome)))
    return [(owners[slug(outcome.settings)], outcome) for outcome in outcomes]


def _told(outcome: Outcome) -> str:
    return ": ".join(filter(None, (slug(outcome.settings), outcome.state, outcome.words)))


def _last_line(words: str) -> str:
    """A sentence as it is; of a traceback the line that says what happened."""
    return words.strip().splitlines()[-1]
