"""What does `assay run` do and tell, once it is known what was asked?"""

from dataclasses import replace
from pathlib import Path

import typer

from assay.asked import check_asked
from assay.cli.app import say
from assay.corpora import Corpus
from assay.description import describe_corpus
from assay.report import write_report
from assay.report.faded import fading_lines
from assay.runs import run
from assay.settings import Settings, Ways
from assay.spoken import claim_lines, corpus_lines, model_line
from assay.store import read_json


def run_and_tell(settings: Settings, ways: Ways, out: Path, *, resume: bool, quiet: bool) -> None:
    """The run and its report; `quiet` tells nothing but mistakes."""
    check_asked(settings, ways, out)
    try:
        run(settings, out, ways=ways if quiet else replace(ways, tell=_read), resume=resume)
    except KeyboardInterrupt:
        say(f"assay: stopped. The same command with --resume goes on from what is in {out}.")
        raise
    page = write_report(out)
    if not quiet:
        _tell(out, page)


def _read(corpus: Corpus) -> None:
    """Guesses are said before the long work, while there is still time to stop it."""
    for line in corpus_lines(describe_corpus(corpus)):
        say(line)


def _tell(out: Path, page: Path) -> None:
    say(model_line(read_json(out / "run.json")))
    for line in claim_lines(read_json(out / "verdict.json")):
        typer.echo(line)
    for line in fading_lines(read_json(out / "summary.json")):
        typer.echo(line)
    typer.echo(f"Report: {page}")
