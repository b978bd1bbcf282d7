"""`assay corpora` and `assay probes`: lists of what is available.

A table of eight columns is unreadable on 80 characters. So each entry has a first line to skim and
an indented text below it that wraps at words. Nothing is cut off at any width.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from assay.cli.app import app
from assay.errors import UserError, nearest

Row = Mapping[str, str]
_INDENT = 4
_NAME = 14
_STATUS = 11
_DATA_FOLDER = "DATA is a folder of your choice: pass it with --data DATA or set ASSAY_DATA"
_USER_TABLE = "table"  # the corpus that reads a file of the user


def probe_rows() -> list[dict[str, str]]:
    """The declaration of every probe."""
    from assay.probes import PROBES

    return [
        {
            "name": probe.name,
            "question": probe.question,
            "null": probe.null,
            "paper": probe.paper,
            "needs": probe.needs,
            "quantities": ", ".join(q.name for q in probe.quantities if not q.detail),
        }
        for probe in PROBES.values()
    ]


def corpus_rows(data: Path | None, name: str | None) -> list[dict[str, str]]:
    """All corpora, or the named one with its options and their defaults."""
    from assay.data.catalog import corpora_table
    from assay.data.sources import SOURCES

    rows = corpora_table(data)
    if name is None:
        return rows
    if name not in SOURCES:
        raise UserError(f"there is no corpus '{name}': {nearest(name, SOURCES)}.")
    defaults = SOURCES[name].options.items()
    options = ", ".join(f"{key}={value}" if value else key for key, value in defaults)
    return [{**row, "options": options} for row in rows if row["name"] == name]


def show_corpora(console: Console, rows: list[dict[str, str]]) -> None:
    """Print corpora in three groups: ready to use, the user's own table, files missing."""
    own = [row for row in rows if row["name"] == _USER_TABLE]
    others = [row for row in rows if row not in own]
    ready = [row for row in others if row["status"] != "missing"]
    missing = [row for row in others if row["status"] == "missing"]
    _show_group(console, "Ready to use", ready, with_get=False)
    _show_group(console, "Your own file", own, with_get=True)
    _show_group(
        console,
        "Missing: put the files into a folder DATA; then pass --data DATA or set ASSAY_DATA",
        missing,
        with_get=True,
    )
    _print(console, "assay corpora NAME shows one in full: license, files, options.", indent=0)


def show_entries(console: Console, rows: Iterable[Row]) -> None:
    """Print all fields of each entry, one per line."""
    for row in rows:
        console.print(Text(row["name"], style="bold"))
        for field, value in row.items():
            if field != "name" and value:
                _print(console, f"{field}: {value}")
        console.print()


def _show_group(
    console: Console, title: str, rows: list[dict[str, str]], *, with_get: bool
) -> None:
    if not rows:
        return
    console.print(Text(title, style="bold underline"))
    for row in rows:
        head = Text(f"{row['name']:<{_NAME}}", style="bold")
        head.append(f"{_status(row):<{_STATUS}}{row['task']}", style="not bold")
        console.print(head)
        _print(console, f"{row['title']}; {row['size']}")
        if with_get:
            _print(console, row["get"])
    console.print()


def _status(row: Row) -> str:
    """The user's own table is never missing: it only needs --data."""
    needs_data = row["name"] == _USER_TABLE and row["status"] == "missing"
    return "--data" if needs_data else row["status"]


def _print(console: Console, text: str, indent: int = _INDENT) -> None:
    console.print(Padding(Text(text), (0, 0, 0, indent), expand=False))


@app.command()
def corpora(
    name: Annotated[str | None, typer.Argument(help="Show only this corpus, in full.")] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the corpus files; or $ASSAY_DATA.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the corpora, with where to get missing files and where to put them.

    Examples:
      assay corpora
      assay corpora sst
      assay corpora --data DATA --json
    """
    rows = corpus_rows(data, name)
    if as_json:
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    elif name is not None:
        show_entries(Console(), rows)
        if "DATA" in rows[0]["get"]:
            _print(Console(), f"{_DATA_FOLDER}.", indent=0)
    else:
        show_corpora(Console(), rows)


@app.command()
def probes(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the probes, with their questions and papers.

    Examples:
      assay probes
      assay probes --json
    """
    if as_json:
        typer.echo(json.dumps(probe_rows(), indent=2, ensure_ascii=False))
    else:
        show_entries(Console(), probe_rows())
