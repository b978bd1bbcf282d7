"""What do all commands share: the program, its two streams, and how it reads a number?"""

import os
from typing import Annotated, Any

import typer
from rich.console import Console

from assay.config import VERSION

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode="rich",  # keeps the line breaks of the examples
    pretty_exceptions_enable=False,
    help=(
        "May this model's attention weights be shown as the reason for its prediction?\n\n"
        "Start with:\n"
        "assay run --out runs/demo                      the built-in film reviews\n"
        "assay run table --data my.csv --out runs/mine  your own texts and labels\n"
        "assay corpora                                  what else there is\n"
        "assay controls                                 is the verdict itself right?"
    ),
)
MOST_WORKERS = 8  # unless told: each holds the corpus and half a gigabyte of libraries
console = Console(stderr=True)


def say(line: str, style: str = "") -> None:
    """To standard error, and never broken in the middle of a path."""
    console.print(line, style=style, markup=False, highlight=False, soft_wrap=True)


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"'{text}' is not a whole number.") from None


WHOLE: dict[str, Any] = {"parser": _whole, "metavar": "<int>"}


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"assay {VERSION}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    pass


def cores(jobs: int | None) -> int:
    """How many work side by side: as told, else all there are, within reason."""
    return min(os.cpu_count() or 1, MOST_WORKERS) if jobs is None else jobs
