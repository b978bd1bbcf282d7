"""`assay report` and `assay compare`: pages drawn from the files of finished runs."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.app import app, console, say
from assay.cli.results import print_results
from assay.errors import UserError


@app.command()
def report(
    directory: Annotated[Path, typer.Argument(help="A run directory.")],
    figures: Annotated[
        bool,
        typer.Option(
            "--figures",
            help="Also write figures as SVG, PDF, PNG and CSV, and tables as CSV and LaTeX.",
        ),
    ] = False,
    without_text: Annotated[
        bool,
        typer.Option("--without-text", help="Copy the run into --out, without any text."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The folder of the copy without texts.", show_default="DIRECTORY-without-text"
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print every finding with its reason.")
    ] = False,
) -> None:
    """Redraw the report from the files of a run directory.

    Examples:
      assay report runs/demo
      assay report runs/demo --explain
      assay report runs/demo --figures
      assay report runs/demo --without-text --out to-share
    """
    from assay.report.exports import write_figures
    from assay.report.page import write_report
    from assay.report.page_tables import write_tables
    from assay.runs.directory import try_tables
    from assay.runs.without_text import copy_without_text

    try_tables(directory)  # the directory may come from somebody else
    if without_text:
        directory = copy_without_text(directory, out)
    elif out is not None:
        raise UserError(f"--out {out} belongs to --without-text: add it, or leave --out out")
    page = write_report(directory)
    if explain:
        print_results(directory, page, explain=True)
    else:
        typer.echo(f"Report: {page}")
    if figures:
        drawn = write_figures(directory)
        typer.echo(f"Figures: {directory / 'figures'} ({len(drawn)} files)")
        tables = write_tables(page)
        typer.echo(f"Tables: {directory / 'tables'} ({len(tables)} files)")


@app.command()
def compare(
    runs: Annotated[
        list[Path], typer.Argument(metavar="DIR DIR...", help="Two or more run directories.")
    ],
    out: Annotated[Path, typer.Option(help="The HTML file to write.")] = Path("comparison.html"),
) -> None:
    """Show several finished runs side by side: verdicts, effects, summaries and differences.

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
