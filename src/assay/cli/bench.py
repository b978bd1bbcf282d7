"""`assay bench`: our routes beside the papers' plain loops."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.app import app, console, say


@app.command()
def bench(
    file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the rows there too.")
    ] = None,
    long: Annotated[bool, typer.Option("--long", help="Add the expensive rows.")] = False,
    grid: Annotated[
        bool, typer.Option("--grid", help="Only a whole grid of trainings: up to 45 minutes.")
    ] = False,
) -> None:
    """Time our routes beside the papers' plain loops, and check that they agree.

    Examples:
      assay bench
      assay bench --long --json bench.json
      assay bench --grid
    """
    from assay.bench import bench_and_tell
    from assay.progress import progress_tracker

    if not bench_and_tell(file, long=long, grid=grid, track=progress_tracker(console, quiet=False)):
        say("assay: a fast route and its plain loop disagree: this is our fault.")
        raise typer.Exit(1)
