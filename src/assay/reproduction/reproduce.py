"""Reproduction of a paper's tables: train the missing models, compare, and write the page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.config import Execution
from assay.data.files import write_file
from assay.engines import engine_faults
from assay.errors import UserError
from assay.papers.declared import REFERENCE, Paper, read_paper
from assay.papers.published import Reruns, read_numbers, read_reruns
from assay.reproduction.comparison import Beside
from assay.reproduction.conclusions import quantities_of
from assay.reproduction.execution import ReproductionRun, RunOutcome, reproduce_runs
from assay.reproduction.figures import document_drawings, draw_figures
from assay.reproduction.finished_runs import complete_runs
from assay.reproduction.models import DeclaredModel, ModelSelection, seeds_of, selected_models, slug
from assay.reproduction.overall import agreement_sentence, program_cells
from assay.reproduction.page import Places, format_command, format_page, terminal_lines
from assay.reproduction.results import PaperResults, Reasons, collect_results, missing_files
from assay.reproduction.stored_runs import (
    store_environment,
    store_runs,
    stored_drawings,
    stored_runs,
)

Log = Callable[[str], None]
RUNS = Path("runs")
RERUN_PAPER = "jain-wallace"


@dataclass(frozen=True)
class Reproduction:
    """The result of one call: lines for the terminal, the page, and the outcome of every run."""

    lines: tuple[str, ...]
    page: Path
    outcomes: tuple[RunOutcome, ...]

    @property
    def refused(self) -> int:
        """The number of runs that are missing for a reason the user can remove."""
        return sum(outcome.state == "refused" for outcome in self.outcomes)

    @property
    def failed(self) -> int:
        """The number of runs that failed because of a bug in assay."""
        return sum(outcome.state == "failed" for outcome in self.outcomes)


def reproduce(
    name: str,
    *,
    selection: ModelSelection | None = None,
    execution: Execution | None = None,
    out: Path | None = None,
    page_file: Path | None = None,
    log: Log = lambda line: None,
    reference: Path = REFERENCE,
) -> Reproduction:
    """Train the missing models of PAPER or PAPER/TABLE, compare them, and write the page.

    Everything is written below `out` (default: `runs/PAPER`): the runs, the page `PAPER.md` and its
    `figures`. With `page_file` the page and its figures go there instead.
    """
    selection, execution = selection or ModelSelection(), execution or Execution()
    paper, tables = read_paper(name, reference)
    places = Places(out or RUNS / paper.name, execution.data, selection.vectors, page_file)
    page_file = page_file or places.out / f"{paper.name}.md"
    _check(selection, execution, places.out, page_file)
    models = selected_models(paper, selection)
    missing = missing_files(execution.data)
    outcomes = _train(paper, models, selection, execution, places.out, missing, log)
    failures = {m: _last_line(each.message) for m, each in outcomes if not each.is_available}
    vectors = None if selection.vectors is None else selection.vectors.name
    numbers = Beside(read_numbers(reference, paper.name), _reruns(reference, paper.name))
    reasons = Reasons(missing, failures).of
    results = collect_results(paper, complete_runs(places.out), vectors, numbers, reasons)
    _write_page(results, numbers, format_command(name, selection, places), page_file, places)
    requested = [table for table in results.tables if table.table in tables]
    lines = tuple(terminal_lines(requested, set(models)))
    return Reproduction(lines, page_file, tuple(outcome for _, outcome in outcomes))


def stored_results(
    name: str, stored: Path, reference: Path = REFERENCE
) -> tuple[PaperResults, Beside]:
    """The results of a paper from stored numbers, without runs and without data."""
    paper, _ = read_paper(name, reference)
    numbers = Beside(read_numbers(reference, paper.name), _reruns(reference, paper.name))
    runs = stored_runs(stored / paper.name)
    return collect_results(paper, runs, None, numbers, Reasons({}, {}).of), numbers


def rebuild(name: str, stored: Path, page_file: Path, reference: Path = REFERENCE) -> PaperResults:
    """Write the page of a paper from stored numbers."""
    results, numbers = stored_results(name, stored, reference)
    places = Places(RUNS, page=page_file, results=stored)
    command = format_command(results.paper.name, ModelSelection(), places)
    _write_page(results, numbers, command, page_file, places)
    return results


def export(
    name: str,
    out: Path | None,
    folder: Path,
    data: Path | None = None,
    reference: Path = REFERENCE,
) -> int:
    """Store the numbers of all finished runs below `out`; returns how many runs there are.

    With `data`, the checksums of the corpora's files are stored as well.
    """
    paper, _ = read_paper(name, reference)
    numbers = Beside(read_numbers(reference, paper.name), _reruns(reference, paper.name))
    runs = complete_runs(out or RUNS / paper.name)
    results = collect_results(paper, runs, None, numbers, Reasons({}, {}).of)
    store_environment(results, data, folder / paper.name)
    quantities, drawings = quantities_of(paper, reference), document_drawings(results)
    return store_runs(results, quantities, drawings, folder / paper.name)


def _reruns(reference: Path, paper: str) -> Reruns:
    """Only Jain & Wallace's program was run again."""
    return read_reruns(reference) if paper == RERUN_PAPER else Reruns({}, {})


def _write_page(
    results: PaperResults, numbers: Beside, command: str, page_file: Path, places: Places
) -> None:
    paper = results.paper.name
    stored = {} if places.results is None else stored_drawings(places.results / paper)
    drawn = draw_figures(results, numbers.published, stored)
    figures = _write_figures(drawn, page_file.parent)
    first = agreement_sentence(program_cells(results, numbers.reruns))
    _write(page_file, places.hide(format_page(results, command, figures, first)))


def _write_figures(drawings: Mapping[str, tuple[str, str]], folder: Path) -> dict[str, str]:
    """Write the figures; returns the file of each drawn table."""
    for file, drawing in drawings.values():
        _write(folder / file, drawing)
    return {table: file for table, (file, _) in drawings.items()}


def _write(path: Path, text: str) -> None:
    write_file(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def _check(selection: ModelSelection, execution: Execution, out: Path, page_file: Path) -> None:
    faults = list(engine_faults(execution.engine, execution.ray_address))
    for option, value in (("seeds", selection.seeds), ("jobs", execution.workers)):
        if value is not None and value < 1:
            faults.append(f"--{option} {value} is too low: pass a whole number from 1 up.")
    if selection.vectors is not None and not selection.vectors.is_file():
        faults.append(f"--vectors {selection.vectors} is no file: check the path, or omit it.")
    if execution.data is not None and not execution.data.exists():
        faults.append(f"--data {execution.data} does not exist: check the path.")
    if out.exists() and not out.is_dir():
        faults.append(f"--out {out} is a file: pass a folder.")
    if page_file.is_dir():
        faults.append(f"--page {page_file} is a folder: pass a file.")
    if faults:
        raise UserError("\n       ".join(faults))


def _train(
    paper: Paper,
    models: list[DeclaredModel],
    selection: ModelSelection,
    execution: Execution,
    out: Path,
    missing: Mapping[str, str],
    log: Log,
) -> list[tuple[DeclaredModel, RunOutcome]]:
    """Execute every run; returns each model with the outcomes of its runs."""
    owners: dict[str, DeclaredModel] = {}
    runs: list[ReproductionRun] = []
    outcomes: list[RunOutcome] = []
    for model in models:
        for seed in seeds_of(model, selection):
            settings = model.settings(paper, seed)
            owners[slug(settings)] = model
            if model.grid.name in missing:
                outcomes.append(RunOutcome(settings, "refused", missing[model.grid.name]))
            else:
                runs.append(ReproductionRun(settings, out, execution.data, selection.vectors))
    for corpus in dict.fromkeys(outcome.settings.corpus for outcome in outcomes):
        log(f"{corpus}: {missing[corpus]}")
    outcomes += reproduce_runs(runs, execution, lambda outcome: log(_outcome_line(outcome)))
    return [(owners[slug(outcome.settings)], outcome) for outcome in outcomes]


def _outcome_line(outcome: RunOutcome) -> str:
    return ": ".join(filter(None, (slug(outcome.settings), outcome.state, outcome.message)))


def _last_line(message: str) -> str:
    """The last line of a message: of a traceback, the line that names the error."""
    return message.strip().splitlines()[-1]
