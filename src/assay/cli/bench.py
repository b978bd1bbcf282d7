"""`assay bench`: assay's routes timed against the papers' plain loops."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.app import app, console, say


@app.command()
def bench(
    file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write the rows here.")
    ] = None,
    long: Annotated[bool, typer.Option("--long", help="Also measure the expensive rows.")] = False,
    grid: Annotated[
        bool,
        typer.Option("--grid", help="Only measure a whole grid of trainings: up to 45 minutes."),
    ] = False,
) -> None:
    """Time assay's routes against the papers' plain loops, and check that the results agree.

    Examples:
      assay bench
      assay bench --long --json bench.json
      assay bench --grid
    """
    from assay.bench import run_and_report
    from assay.progress import progress_tracker

    if not run_and_report(file, long=long, grid=grid, track=progress_tracker(console, quiet=False)):
        say("assay: a fast route and its plain loop disagree, which is a bug in assay.")
        raise typer.Exit(1)
