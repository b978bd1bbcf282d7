"""Which commands are there, and what do their mistakes cost?

Exit code 0: done. 2: something the user can mend, told in one sentence. 1: our fault, with a
traceback.
"""

import json
import sys
from pathlib import Path
from typing import Annotated

import torch
import typer
from rich.console import Console
from rich.table import Table

from assay.corpora import corpora_table
from assay.errors import UserError
from assay.probes import PROBES
from assay.progress import tracker
from assay.report import write_report
from assay.runs import run as run_audit
from assay.settings import Settings, Ways
from assay.version import VERSION

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="May this model's attention weights be shown as the reason for its prediction?",
)
console = Console(stderr=True)


def main() -> None:
    """The entry point: the user's mistakes leave with 2 and without a traceback."""
    try:
        app()
    except UserError as mistake:
        console.print(f"assay: {mistake}", style="bold red", markup=False, highlight=False)
        sys.exit(2)


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


@app.command()
def run(
    corpus: Annotated[str, typer.Argument(help="A name from `assay corpora`.")] = "reviews",
    out: Annotated[Path, typer.Option(help="The run directory.")] = Path("runs/latest"),
    data: Annotated[Path | None, typer.Option(help="The corpus's files; or $ASSAY_DATA.")] = None,
    encoder: Annotated[str, typer.Option(help="bilstm, cnn or average.")] = "bilstm",
    attention: Annotated[str, typer.Option(help="additive or dot.")] = "additive",
    probes: Annotated[str, typer.Option(help="Names joined by commas, or all.")] = "all",
    seed: Annotated[int, typer.Option(help="For weights, data order and draws.")] = 0,
    limit: Annotated[int | None, typer.Option(help="Documents over all splits.")] = None,
    vectors: Annotated[Path | None, typer.Option(help="word2vec, GloVe or fastText text.")] = None,
    preset: Annotated[str, typer.Option(help="quick, or paper for the papers' epochs.")] = "quick",
    option: Annotated[
        list[str] | None, typer.Option(help="The corpus's own, as name=value; repeatable.")
    ] = None,
    text_column: Annotated[str | None, typer.Option(help="For `table`.")] = None,
    label_column: Annotated[str | None, typer.Option(help="For `table`.")] = None,
    query_column: Annotated[str | None, typer.Option(help="For `table`: a second text.")] = None,
    split_column: Annotated[str | None, typer.Option(help="For `table`.")] = None,
    rationale_column: Annotated[str | None, typer.Option(help="For `table`.")] = None,
    engine: Annotated[str, typer.Option(help="serial or processes.")] = "serial",
    jobs: Annotated[int, typer.Option(help="Workers of the processes engine.")] = 2,
    threads: Annotated[int | None, typer.Option(help="Of torch; part of the result.")] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")] = "cpu",
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a killed run.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No bars, no prose.")] = False,
) -> None:
    """Train a model on a corpus, ask every probe of it, and write the report.

    Examples:

        assay run --out runs/demo

        assay run sst --data ~/data --encoder cnn --preset paper --out runs/sst-cnn

        assay run table --data reviews.csv --text-column review --out runs/mine
    """
    columns = {"text-column": text_column, "label-column": label_column,
               "query-column": query_column, "split-column": split_column,
               "rationale-column": rationale_column}  # fmt: skip
    given = {name: value for name, value in columns.items() if value is not None}
    settings = Settings(
        corpus=corpus,
        options=given | _pairs(option or []),
        encoder=encoder,
        attention=attention,
        probes=tuple(PROBES) if probes == "all" else tuple(probes.split(",")),
        seed=seed,
        limit=limit,
        preset=preset,
        device=_device(device),
        vectors=None if vectors is None else vectors.name,
        **({} if threads is None else {"threads": threads}),
    )
    ways = Ways(data, vectors, engine, jobs, tracker(console, quiet))
    run_audit(settings, out, ways=ways, resume=resume)
    page = write_report(out)
    if not quiet:
        typer.echo(f"Report: {page}")


@app.command()
def report(
    directory: Annotated[Path, typer.Argument(help="A run directory.")],
) -> None:
    """Draw the report again from a run's evidence.

    Example: assay report runs/demo
    """
    typer.echo(f"Report: {write_report(directory)}")


@app.command()
def corpora(
    data: Annotated[Path | None, typer.Option(help="Where to look; or $ASSAY_DATA.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """List the corpora: what is here, what is missing, where to get it and where to put it.

    Example: assay corpora --data ~/data
    """
    rows = corpora_table(data)
    if as_json:
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    _print_table(rows)


@app.command()
def probes(
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """List the probes: what each asks, and of which paper.

    Example: assay probes --json
    """
    rows = [
        {"name": p.name, "question": p.question, "null": p.null, "paper": p.paper,
         "needs": p.needs, "quantities": ", ".join(q.name for q in p.quantities)}
        for p in PROBES.values()
    ]  # fmt: skip
    if as_json:
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    _print_table(rows)


def _print_table(rows: list[dict[str, str]]) -> None:
    table = Table(*rows[0], show_lines=True)
    for row in rows:
        table.add_row(*row.values())
    Console().print(table)


def _pairs(given: list[str]) -> dict[str, str]:
    wrong = [text for text in given if "=" not in text]
    if wrong:
        raise UserError(f"--option {wrong[0]!r} is no name=value: write for example length=40")
    return dict(text.split("=", 1) for text in given)


def _device(name: str) -> str:
    there = {
        "cpu": True,
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
    }
    if name == "auto":
        return next(device for device in ("cuda", "mps", "cpu") if there[device])
    if name not in there:
        raise UserError(f"unknown device {name!r}: pass auto, cpu, cuda or mps")
    if not there[name]:
        raise UserError(f"--device {name} is not available on this machine: pass --device cpu")
    return name
