"""Reproduction of a paper's tables: train the missing models, compare, and write the page."""

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
from assay.reproduction.figures import draw_figures
from assay.reproduction.models import DeclaredModel, ModelSelection, seeds_of, selected_models, slug
from assay.reproduction.page import Places, format_command, format_page, terminal_lines
from assay.reproduction.results import Reasons, collect_results, missing_files

Log = Callable[[str], None]
RUNS = Path("runs")


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
    numbers = read_numbers(reference, paper.name)
    results = collect_results(paper, places.out, vectors, numbers, Reasons(missing, failures).of)
    figures = _write_figures(draw_figures(results, numbers), page_file.parent)
    page = format_page(results, format_command(name, selection, places), figures)
    _write(page_file, places.hide(page))
    requested = [table for table in results.tables if table.table in tables]
    lines = tuple(terminal_lines(requested, set(models)))
    return Reproduction(lines, page_file, tuple(outcome for _, outcome in outcomes))


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
