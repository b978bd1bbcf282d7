"""`assay reproduce`: the tables of a paper, compared with the published numbers."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.app import WHOLE, LogJson, app, display, say


@app.command()
def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="TABLE",
            help="PAPER/TABLE, PAPER for all its tables, or study for all papers together.",
        ),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="The folder of the corpora; or $ASSAY_DATA.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The folder for runs, page and figures; default runs/PAPER."),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(help="Seeds per model; default: as declared.", **WHOLE)
    ] = None,
    only: Annotated[str, typer.Option(help="Corpora, separated by commas.")] = "",
    encoder: Annotated[str, typer.Option(help="Encoders, separated by commas.")] = "",
    vectors: Annotated[
        Path | None, typer.Option(help="The file for models declared with a vectors file.")
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(help="Write the page here, figures beside it; default OUT/PAPER.md."),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(help="Train nothing; store the numbers of the runs in --out in this folder."),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(help="Train nothing; write the page from the numbers stored in this folder."),
    ] = None,
    engine: Annotated[
        str, typer.Option(help="serial, processes or ray; the last two train in parallel.")
    ] = "serial",
    jobs: Annotated[
        int, typer.Option(help="Workers of the processes and ray engines.", **WHOLE)
    ] = 2,
    ray_address: Annotated[
        str | None, typer.Option(help="A Ray cluster to join; default: start Ray here.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
    log_json: LogJson = False,
    show: Annotated[bool, typer.Option("--list", help="Only list the declared tables.")] = False,
) -> None:
    """Reproduce a paper's table and compare it with the published numbers.

    Everything is written below --out. Finished runs are kept: to continue,
    give the same command again.

    Examples:
      assay reproduce --list
      assay reproduce jain-wallace/table2 --only sst --encoder average --seeds 1 --data DATA
      assay reproduce jain-wallace --data DATA --vectors FILE --engine processes
      assay reproduce jain-wallace --out RUNS --export RESULTS
      assay reproduce jain-wallace --results RESULTS --page jain-wallace.md
      assay reproduce study --results RESULTS --page study.md
    """
    from assay.config import Execution
    from assay.papers.declared import known
    from assay.reproduction.models import ModelSelection, split_names
    from assay.reproduction.reproduce import reproduce as reproduce_paper

    if show or name is None:
        for table, title in known().items():
            typer.echo(f"{table}  {title}")
        return
    if export is not None or results is not None or name == STUDY:
        say(_without_training(name, export, results, out=out, page=page, data=data))
        return
    shown = display(quiet, log_json)
    execution = Execution(
        data,
        engine=engine,
        workers=jobs,
        track=shown.track,
        ray_address=ray_address,
        watching=shown.watching,
    )
    result = reproduce_paper(
        name,
        selection=ModelSelection(split_names(only), split_names(encoder), seeds, vectors),
        execution=execution,
        out=out,
        page_file=page,
        log=(lambda line: None) if quiet else say,
    )
    if not quiet:
        for line in result.lines:
            typer.echo(line)
        typer.echo(f"Page: {result.page}")
    missing = result.refused + result.failed
    if missing:
        say(f"assay: {missing} of {len(result.outcomes)} runs are missing; the page says why.")
        raise typer.Exit(1 if result.failed else 2)


STUDY = "study"


def _without_training(
    name: str,
    export: Path | None,
    results: Path | None,
    *,
    out: Path | None,
    page: Path | None,
    data: Path | None,
) -> str:
    """Store the numbers of finished runs, or write a page from stored ones; says what was done."""
    from assay.errors import UserError
    from assay.reproduction.reproduce import export as export_runs
    from assay.reproduction.reproduce import rebuild
    from assay.reproduction.study import write_study

    if export is not None and results is not None:
        raise UserError("--export reads runs and --results replaces them: pass one of the two.")
    if export is not None:
        if name == STUDY:
            raise UserError("--export stores the runs of one paper: name a paper, not 'study'.")
        runs = export_runs(name, out, export, data=data)
        return f"{runs} runs stored in {export / name.partition('/')[0]}"
    if results is None:
        raise UserError("study reads stored numbers: pass their folder with --results.")
    page = page or Path(f"{name.partition('/')[0]}.md")
    if name == STUDY:
        write_study(results, page)
    else:
        rebuild(name, results, page)
    return f"Page: {page}"
