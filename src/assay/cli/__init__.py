"""Which commands are there, and what do their mistakes cost?

Exit code 0: done. 2: something the user can mend, told in one sentence. 1: our fault, with a
traceback. 130: stopped from the keyboard. Results go to standard output, all else to standard
error. One file per command, and here one line to name it; what takes seconds to import is imported
by the command itself when it is called, so that `--help` answers at once.
"""

import sys

from assay.cli import bench, controls, lists, report, reproduce, run, vectors
from assay.cli.app import app, say
from assay.errors import UserError

# Importing one registers it.
COMMANDS = (run, report, lists, bench, reproduce, vectors, controls)


def main() -> None:
    """The entry point: the user's mistakes leave with 2 and without a traceback."""
    try:
        app()
    except UserError as mistake:
        say(f"assay: {mistake}", style="bold red")
        sys.exit(2)


__all__ = ["app", "main"]
