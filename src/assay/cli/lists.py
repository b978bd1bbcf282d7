"""How is a list shown so that nothing in it is cut, at any width?

A table of eight columns is unreadable on 80 characters. So: one entry below the other, a first
line that can be skimmed, and indented text that wraps at words.

`assay corpora` and `assay probes`: what is there?
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
from assay.data.catalog import corpora_table
from assay.data.sources import SOURCES
from assay.data.sources.table import SOURCE as OWN_FILE
from assay.errors import UserError, nearest
from assay.probes import PROBES

Row = Mapping[str, str]
_INDENT = 4
_NAME = 14
_STATUS = 11


def probe_rows() -> list[dict[str, str]]:
    """What each probe declares of itself."""
    return [
        {"name": p.name, "question": p.question, "null": p.null, "paper": p.paper,
         "needs": p.needs, "quantities": ", ".join(q.name for q in p.quantities if not q.detail)}
        for p in PROBES.values()
    ]  # fmt: skip


def corpus_rows(data: Path | None, name: str | None) -> list[dict[str, str]]:
    """All corpora, or the one that was named, with its options and their defaults."""
    rows = corpora_table(data)
    if name is None:
        return rows
    if name not in SOURCES:
        raise UserError(f"there is no corpus '{name}': {nearest(name, SOURCES)}.")
    options = ", ".join(f"{key}={value}" for key, value in SOURCES[name].options.items())
    return [{**row, "options": options} for row in rows if row["name"] == name]


def show_corpora(console: Console, rows: list[dict[str, str]]) -> None:
    """Those that can be used now, the user's own, and those whose files must be fetched."""
    own = [row for row in rows if row["name"] == OWN_FILE.name]
    others = [row for row in rows if row not in own]
    here = [row for row in others if row["status"] != "missing"]
    missing = [row for row in others if row["status"] == "missing"]
    _show_group(console, "Ready to use", here, with_get=False)
    _show_group(console, "Your own file", own, with_get=True)
    _show_group(
        console,
        "Missing: put the files below a folder DATA; then --data DATA, or set ASSAY_DATA",
        missing,
        with_get=True,
    )
    _say(console, "assay corpora NAME tells all about one: licence, files, options.", indent=0)


def show_entries(console: Console, rows: Iterable[Row]) -> None:
    """Everything that is known of each entry, a field a line."""
    for row in rows:
        console.print(Text(row["name"], style="bold"))
        for field, value in row.items():
            if field != "name" and value:
                _say(console, f"{field}: {value}")
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
        _say(console, f"{row['title']}; {row['size']}")
        if with_get:
            _say(console, row["get"])
    console.print()


def _status(row: Row) -> str:
    """A user's own file is not missing: it was not named."""
    unnamed = row["name"] == OWN_FILE.name and row["status"] == "missing"
    return "--data" if unnamed else row["status"]


def _say(console: Console, text: str, indent: int = _INDENT) -> None:
    console.print(Padding(Text(text), (0, 0, 0, indent), expand=False))


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
    pass

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
    pass

    if as_json:
        typer.echo(json.dumps(probe_rows(), indent=2, ensure_ascii=False))
    else:
        show_entries(Console(), probe_rows())
