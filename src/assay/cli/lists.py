"""`assay corpora` and `assay probes`: what is there?"""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from assay.cli.app import app


@app.command()
def corpora(
    name: Annotated[str | None, typer.Argument(help="Only this one, in full.")] = None,
    data: Annotated[Path | None, typer.Option(help="Where to look; or $ASSAY_DATA.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """List the corpora: what is here, what is missing, where to get it and where to put it.

    Examples:
      assay corpora
      assay corpora sst
      assay corpora --data DATA --json
    """
    from assay.listing import corpus_rows, show_corpora, show_entries

    rows = corpus_rows(data, name)
    if as_json:
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    elif name is not None:
        show_entries(Console(), rows)
    else:
        show_corpora(Console(), rows)


@app.command()
def probes(
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """List the probes: what each asks, and of which paper.

    Examples:
      assay probes
      assay probes --json
    """
    from assay.listing import probe_rows, show_entries

    if as_json:
        typer.echo(json.dumps(probe_rows(), indent=2, ensure_ascii=False))
    else:
        show_entries(Console(), probe_rows())
