"""`assay report`: draw again from evidence."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.app import app


@app.command()
def report(
    directory: Annotated[Path, typer.Argument(help="A run directory.")],
    figures: Annotated[
        bool, typer.Option("--figures", help="Also as SVG and PDF, as wide as a paper's column.")
    ] = False,
) -> None:
    """Draw the report again from a run's evidence.

    Examples:
      assay report runs/demo
      assay report runs/demo --figures
    """
    from assay.report import write_figures, write_report

    typer.echo(f"Report: {write_report(directory)}")
    if figures:
        drawn = write_figures(directory)
        typer.echo(f"Figures: {directory / 'figures'} ({len(drawn)} files)")
