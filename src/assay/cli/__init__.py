"""The command line of assay.

Exit code 0: success. 2: a mistake the user can correct, explained without a traceback. 1: a bug in
assay, with a traceback. 130: interrupted from the keyboard. Results go to standard output,
everything else to standard error.

Each command has its own file and is registered here. Modules that take seconds to import (torch,
polars, altair) are imported inside the command functions, so that `--help` answers at once.
"""

import sys

from assay.cli import bench, controls, lists, report, reproduce, run, vectors
from assay.cli.app import app, say, speak_plainly
from assay.errors import UserError

# Importing a module registers its commands.
COMMANDS = (run, report, lists, bench, reproduce, vectors, controls)


def main() -> None:
    """Run the command line; a `UserError` exits with code 2 and without a traceback."""
    speak_plainly()
    try:
        app()
    except UserError as mistake:
        say(f"assay: {mistake}", style="bold red", event="error")
        sys.exit(2)


__all__ = ["app", "main"]
