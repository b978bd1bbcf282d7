"""`assay controls`: a test of the verdict on models whose answers are known."""

import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.app import WHOLE, app, console, cores, say
from assay.errors import UserError


@app.command()
def controls(
    out: Annotated[
        Path | None, typer.Option(help="Keep the run directories here; default: delete them.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write all answers here.")
    ] = None,
    engine: Annotated[str, typer.Option(help="serial, processes or ray.")] = "processes",
    jobs: Annotated[
        int | None, typer.Option(help="Parallel models; default: all cores, up to 8.", **WHOLE)
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Test the verdict on four models whose answers are known, on two kinds of data each.

    The exit code is 1 if the verdict is wrong on one of them.

    Examples:
      assay controls
      assay controls --out runs/controls --json controls.json
    """
    from assay.config import Execution
    from assay.controls.answers import as_record, run_controls, table_lines, wrong_answers
    from assay.data.files import write_json
    from assay.progress import progress_watcher

    workers = cores(jobs)
    _check(out, file, engine, workers)
    execution = Execution(engine=engine, workers=workers, watching=progress_watcher(console, quiet))
    with tempfile.TemporaryDirectory() if out is None else nullcontext(out) as folder:
        answers, models = run_controls(Path(folder), execution)
    if file is not None:
        write_json(file, as_record(answers, models))
    if not quiet:
        for line in table_lines(answers, models):
            typer.echo(line)
    wrong = wrong_answers(answers)
    for answer in wrong:
        say(
            f"assay: the finding of '{answer.claim}' on {answer.control}, {answer.data} is "
            f"{answer.finding} and should be {answer.known}: {answer.because}"
        )
    if wrong:
        raise typer.Exit(1)


def _check(out: Path | None, file: Path | None, engine: str, workers: int) -> None:
    """Report all mistakes at once, before minutes of work."""
    from assay.engines import engine_faults

    faults = list(engine_faults(engine))
    if workers < 1:
        faults.append(f"--jobs {workers} is too low: pass a whole number from 1 up.")
    if out is not None and out.exists() and not out.is_dir():
        faults.append(f"--out {out} is a file: pass a folder.")
    if file is not None and (file.is_dir() or not file.absolute().parent.is_dir()):
        faults.append(f"--json {file} cannot be written: pass a file in a folder that exists.")
    if faults:
        raise UserError("\n       ".join(faults))
