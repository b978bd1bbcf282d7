"""The command line of assay.

Exit code 0: success. 1: a requirement is not met (`assay audit --require`, the comparisons of
`assay controls`, `bench` and `reproduce`), or a bug in assay, which has a traceback. 2: a mistake
the user can correct, explained without a traceback. 130: interrupted from the keyboard. 143: ended
by another program with SIGTERM, such as a cluster's scheduler. Both of these say how to continue.
Results go to standard output, everything else to standard error.

Each command has its own file and is registered here. Modules that take seconds to import (torch,
polars, altair) are imported inside the command functions, so that `--help` answers at once.
"""

import gc
import signal
import sys
from typing import NoReturn

from assay.cli import audit, bench, check, controls, lists, report, reproduce, run, vectors
from assay.cli.app import app, reset_log, say
from assay.errors import UserError

# Importing a module registers its commands.
COMMANDS = (run, audit, check, report, lists, bench, reproduce, vectors, controls)


OBJECTS_BEFORE_COLLECTION = 50_000
TERMINATED = 128 + signal.SIGTERM


def main() -> None:
    """Run the command line; a `UserError` exits with code 2 and without a traceback."""
    reset_log()
    # The libraries create many objects that live until the end. Python searches them for garbage
    # while it imports and again when it exits, which takes a noticeable part of a short command.
    gc.set_threshold(OBJECTS_BEFORE_COLLECTION, 20, 20)
    ended: list[int] = []

    def terminate(number: int, frame: object) -> NoReturn:
        """Stop as after Ctrl-C, so that a terminated run also says how to continue."""
        ended.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        app()
    except UserError as mistake:
        say(f"assay: {mistake}", style="bold red", event="error")
        sys.exit(2)
    except SystemExit:
        if ended:
            sys.exit(TERMINATED)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)
        gc.freeze()  # leaves all objects out of the search at exit


__all__ = ["app", "main"]
