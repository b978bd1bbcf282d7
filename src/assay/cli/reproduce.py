"""`assay reproduce`: a paper's table, ours beside the published numbers."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.app import WHOLE, app, console, say


@app.command()
def reproduce(
    name: Annotated[
        str | None, typer.Argument(metavar="TABLE", help="PAPER/TABLE, or PAPER for all of it.")
    ] = None,
    data: Annotated[Path | None, typer.Option(help="The corpora's files; or $ASSAY_DATA.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where the runs are; runs/PAPER.")] = None,
    seeds: Annotated[
        int | None, typer.Option(help="For every model; else as declared.", **WHOLE)
    ] = None,
    only: Annotated[str, typer.Option(help="Corpora, joined by commas.")] = "",
    encoder: Annotated[str, typer.Option(help="Encoders, joined by commas.")] = "",
    vectors: Annotated[
        Path | None, typer.Option(help="For the models that are declared with vectors of a file.")
    ] = None,
    page: Annotated[Path | None, typer.Option(help="The page; docs/reproduction/PAPER.md.")] = None,
    engine: Annotated[str, typer.Option(help="serial; processes or ray: models side by side.")] = (
        "serial"
    ),
    jobs: Annotated[
        int, typer.Option(help="Workers of the processes and ray engines.", **WHOLE)
    ] = 2,
    ray_address: Annotated[
        str | None, typer.Option(help="A cluster to join; else Ray starts on this machine.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
    show: Annotated[bool, typer.Option("--list", help="Only list what is declared.")] = False,
) -> None:
    """Make a paper's table again, ours beside the published numbers.

    What is finished is not trained again: stop it when you like, and give the same command.

    Examples:
      assay reproduce --list
      assay reproduce jain-wallace/table2 --only sst --encoder average --seeds 1 --data DATA
      assay reproduce jain-wallace --data DATA --vectors FILE --engine processes
    """
    from assay.config import Execution
    from assay.papers.declared import known
    from assay.progress import progress_tracker, progress_watcher
    from assay.reproduction.models import ModelSelection, names_in
    from assay.reproduction.reproduce import reproduce as make_again

    if show or name is None:
        for table, title in known().items():
            typer.echo(f"{table}  {title}")
        return
    choice = ModelSelection(names_in(only), names_in(encoder), seeds, vectors)
    execution = Execution(data, None, engine, jobs, progress_tracker(console, quiet),
                ray_address=ray_address, watching=progress_watcher(console, quiet))  # fmt: skip
    made = make_again(name, choice=choice, execution=execution, out=out, page_file=page,
                      say=(lambda line: None) if quiet else say)  # fmt: skip
    if not quiet:
        for line in made.lines:
            typer.echo(line)
        typer.echo(f"Page: {made.page}")
    if made.refused or made.failed:
        say(f"assay: {made.refused + made.failed} of {len(made.outcomes)} runs are missing; "
             "the page says why.")  # fmt: skip
        raise typer.Exit(1 if made.failed else 2)
