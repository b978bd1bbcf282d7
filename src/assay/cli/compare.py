"""`assay compare`: several runs side by side."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.app import app, console, say


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
    from assay.report.comparison import comparison_lines, read_sides, write_comparison
    from assay.report.comparison.differing import warnings
    from assay.report.comparison.lines import WIDTH

    sides = read_sides(runs)
    page = write_comparison(sides, out)
    for line in warnings(sides):
        say(f"Note: {line}")
    for line in comparison_lines(sides, max(WIDTH, console.width)):
        typer.echo(line)
    typer.echo(f"\nComparison: {page}")
