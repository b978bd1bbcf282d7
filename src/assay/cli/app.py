"""The typer application and what all commands share."""

import os
import sys
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.console import Console

from assay.config import VERSION
from assay.json_log import JsonLog
from assay.progress import Stage, Track, Watching, progress_tracker, progress_watcher, unannounced

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",  # keeps the line breaks of the examples
    pretty_exceptions_enable=False,
    help=(
        "May this model's attention weights be shown as the reason for its prediction?\n\n"
        "Start with:\n"
        "assay run --out runs/demo                      the built-in film reviews\n"
        "assay run table --data my.csv --out runs/mine  your own texts and labels\n"
        "assay audit hf:FOLDER --data my.csv            your own model\n"
        "assay corpora                                  all corpora\n"
        "assay controls                                 check the verdict itself"
    ),
)
MOST_WORKERS = 8  # by default: each worker holds the corpus and half a gigabyte of libraries
console = Console(stderr=True)


@dataclass
class _StandardError:
    """How messages are written to standard error: as plain lines, or as JSON objects."""

    json: JsonLog | None = None


_standard_error = _StandardError()


def say(line: str, style: str = "", event: str = "message") -> None:
    """Print a line to standard error without wrapping it, so that paths stay whole."""
    if _standard_error.json is not None:
        _standard_error.json.message(line, event)
        return
    console.print(line, style=style, markup=False, highlight=False, soft_wrap=True)


def reset_log() -> None:
    """Undo `--log-json` of an earlier command in this process."""
    _standard_error.json = None


@dataclass(frozen=True)
class Display:
    """How a command shows the progress of its work on standard error."""

    track: Track
    watching: Watching
    stage: Stage = unannounced


def display(quiet: bool, log_json: bool = False) -> Display:
    """Bars on a terminal, lines in a log, JSON objects with `--log-json`; `quiet` shows nothing."""
    if log_json:
        log = _standard_error.json = JsonLog(_write_line)
        if not quiet:
            return Display(log.track, log.watching, log.stage)
    return Display(progress_tracker(console, quiet), progress_watcher(console, quiet))


def _write_line(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


WithoutText = Annotated[
    bool,
    typer.Option(
        "--without-text",
        help="Leave all texts out of the run directory and the page, to share them.",
    ),
]
LogJson = Annotated[
    bool,
    typer.Option("--log-json", help="On standard error, write one JSON object per line instead."),
]


def _parse_integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"'{text}' is not a whole number.") from None


WHOLE: dict[str, Any] = {"parser": _parse_integer, "metavar": "<int>"}  # keywords of typer.Option


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"assay {VERSION}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    pass


def cores(jobs: int | None) -> int:
    """The number of workers: `jobs` if given, otherwise all cores up to `MOST_WORKERS`."""
    return min(os.cpu_count() or 1, MOST_WORKERS) if jobs is None else jobs
