"""`assay bench`: assay's routes timed against the papers' plain loops, and whole runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.app import LogJson, app, display, say
from assay.errors import UserError

if TYPE_CHECKING:
    from assay.bench.measurement import Bench


@app.command()
def bench(
    file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write the rows here.")
    ] = None,
    rows: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="Only measure these rows.")
    ] = None,
    long: Annotated[bool, typer.Option("--long", help="Also measure the expensive rows.")] = False,
    grid: Annotated[
        bool,
        typer.Option("--grid", help="Only measure a whole grid of trainings: up to 45 minutes."),
    ] = False,
    run: Annotated[
        bool,
        typer.Option("--run", help="Only measure whole runs, by stage: about 10 minutes."),
    ] = False,
    scale: Annotated[
        bool,
        typer.Option("--scale", help="Only measure how a run grows: about 25 minutes."),
    ] = False,
    cells: Annotated[
        str | None,
        typer.Option(
            metavar="NxT,...",
            help="With --scale: only measure runs of N documents of T items. "
            "Those of the --json file are kept.",
        ),
    ] = None,
    own: Annotated[
        bool,
        typer.Option("--own", help="Only measure an attached transformer: about 3 minutes."),
    ] = False,
    model: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="With --own: a Hugging Face classifier like BERT."),
    ] = None,
    write: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="With --scale: write the documentation page here."),
    ] = None,
    log_json: LogJson = False,
) -> None:
    """Time assay's routes against the papers' plain loops, and check that the results agree.

    Examples:
      assay bench
      assay bench --long --json bench.json
      assay bench --rows battery,battery_imdb
      assay bench --grid
      assay bench --run
      assay bench --own
      assay bench --scale --json scale.json --write docs/scale.md
      assay bench --scale --cells 10000x175 --json scale.json --write docs/scale.md
    """
    from assay.bench import named_benches, report_growth, report_runs, run_and_report

    asked = {"rows": rows is not None, "grid": grid, "run": run, "scale": scale, "own": own}
    modes = [name for name, given in asked.items() if given]
    if len(modes) > 1:
        raise UserError(f"--{modes[0]} and --{modes[1]} measure different things: pass one of them")
    if write is not None and not scale:
        raise UserError(f"--write {write} is the page of --scale: add --scale")
    if cells is not None and not scale:
        raise UserError(f"--cells {cells} are runs of --scale: add --scale")
    if model is not None and not own:
        raise UserError(f"--model {model} is the model of --own: add --own")
    benches = _own_rows(model) if own else None if rows is None else named_benches(rows)
    track = display(quiet=False, log_json=log_json).track
    if scale:
        report_growth(file, write, cells, track=track)
    elif run:
        slow = report_runs(file, track=track)
        for row in slow:
            say(f"assay: {row['name']} took {row['ratio']:.2f} times its own arithmetic.")
        if slow:
            raise typer.Exit(1)
    elif not run_and_report(file, benches, long=long, grid=grid, track=track):
        say("assay: a fast route and its plain loop disagree, which is a bug in assay.")
        raise typer.Exit(1)


def _own_rows(model: Path | None) -> "tuple[Bench, ...]":
    from assay.bench.own import own_benches

    return own_benches(model)
