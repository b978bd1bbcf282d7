"""`assay controls`: the verdict on models whose answer is known."""

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
        Path | None, typer.Option(help="Keep the run directories there; else they are thrown away.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write all answers there too.")
    ] = None,
    engine: Annotated[str, typer.Option(help="serial, processes or ray.")] = "processes",
    jobs: Annotated[
        int | None, typer.Option(help="Models side by side; as many as cores, up to 8.", **WHOLE)
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Judge four models whose answer is known, on two kinds of data each.

    Exit code 1 if the verdict was wrong on one of them.

    Examples:
      assay controls
      assay controls --out runs/controls --json controls.json
    """
    from assay.config import Execution
    from assay.controls.answers import as_record, run_controls, told, wrong_answers
    from assay.data.files import write_json
    from assay.progress import progress_watcher

    workers = cores(jobs)
    _check(out, file, engine, workers)
    execution = Execution(engine=engine, workers=workers, watching=progress_watcher(console, quiet))
    kept = tempfile.TemporaryDirectory() if out is None else nullcontext(out)
    with kept as folder:
        answers, standings = run_controls(Path(folder), execution)
    if file is not None:
        write_json(file, as_record(answers, standings))
    if not quiet:
        for line in told(answers, standings):
            typer.echo(line)
    wrong = wrong_answers(answers)
    for one in wrong:
        say(f"assay: '{one.claim}' came out {one.finding} on {one.control}, {one.data}, and must "
            f"be {one.known}: {one.because}")  # fmt: skip
    if wrong:
        raise typer.Exit(1)


def _check(out: Path | None, file: Path | None, engine: str, workers: int) -> None:
    """All faults at once, before minutes of work."""
    from assay.engines import engine_faults

    faults = list(engine_faults(engine))
    if workers < 1:
        faults.append(f"--jobs {workers} is too low: pass a whole number from 1 up.")
    if out is not None and out.exists() and not out.is_dir():
        faults.append(f"--out {out} is a file: pass a folder.")
    if file is not None and (file.is_dir() or not file.absolute().parent.is_dir()):
        faults.append(f"--json {file} cannot be a file there: pass one in a folder that exists.")
    if faults:
        raise UserError("\n       ".join(faults))
