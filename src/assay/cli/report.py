"""`assay report`: draw again from evidence.

`assay compare`: several runs side by side.
"""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.app import app, console, say


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
    from assay.report.exports import write_figures
    from assay.report.page import write_report

    typer.echo(f"Report: {write_report(directory)}")
    if figures:
        drawn = write_figures(directory)
        typer.echo(f"Figures: {directory / 'figures'} ({len(drawn)} files)")


@app.command()
def compare(
    runs: Annotated[
        list[Path], typer.Argument(metavar="DIR DIR...", help="Run directories, two or more.")
    ],
    out: Annotated[Path, typer.Option(help="The page.")] = Path("comparison.html"),
) -> None:
    """Lay several finished runs side by side: verdicts, effects, summaries, what differs.

    Examples:
      assay compare runs/bilstm runs/average
      assay compare runs/sst-* --out runs/sst.html
    """
    from assay.report.comparison import read_sides, warnings
    from assay.report.comparison_page import WIDTH, comparison_lines, write_comparison

    sides = read_sides(runs)
    page = write_comparison(sides, out)
    for line in warnings(sides):
        say(f"Note: {line}")
    for line in comparison_lines(sides, max(WIDTH, console.width)):
        typer.echo(line)
    typer.echo(f"\nComparison: {page}")
