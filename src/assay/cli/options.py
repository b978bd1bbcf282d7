"""Options that several commands have in common."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.app import WHOLE

Out = Annotated[Path, typer.Option(help="The run directory.")]
ExactBelow = Annotated[
    int,
    typer.Option(help="Leave-one-out is exact for documents with fewer items than this.", **WHOLE),
]
Threads = Annotated[
    int | None,
    typer.Option(
        help="Threads of torch; the number can change the last digits of results.",
        show_default="all cores",
        **WHOLE,
    ),
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")]
Explain = Annotated[bool, typer.Option("--explain", help="Print the reason of every finding.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]
SkipBadRows = Annotated[
    bool, typer.Option("--skip-bad-rows", help="Leave out malformed rows and list them.")
]
