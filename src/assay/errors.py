"""Errors that the user can correct: assay's own, and those of the user's code as sentences.

The second kind names the line of the user's file that raised the error.
"""

import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
LIBRARIES = ("site-packages", "dist-packages")


class UserError(Exception):
    """A mistake that the user can correct.

    The message repeats the user's input and names the cure, because it is all that the user sees:
    the command line prints it without a traceback and exits with code 2.
    """


def nearest(given: str, known: Iterable[str]) -> str:
    """The end of an error message about an unknown name: the closest known name, then all names."""
    names = sorted(known)
    if not names:
        return "there are none"
    listed = ", ".join(names)
    close = get_close_matches(given.lower(), names, n=1)
    if close:
        return f"did you mean '{close[0]}'? Choose from {listed}"
    return f"choose from {listed}"


@contextmanager
def errors_of_model(what: str) -> Iterator[None]:
    """Turn an error of the user's model into a `UserError`; one of assay's own stays as it is."""
    try:
        yield
    except UserError:
        raise
    except RuntimeError as fault:
        if "same device" not in str(fault):
            _refuse(fault, what)
            raise
        raise UserError(
            f"{what}: the model and the documents are on different devices ({_first_line(fault)}). "
            "Move the model to the CPU, or name its device with --device."
        ) from fault
    except Exception as fault:
        _refuse(fault, what)
        raise


def place_of(fault: Exception) -> str:
    """The error and the last line outside of installed libraries that led to it."""
    frame = _own_frame(fault)
    return f"{_first_line(fault)} ({Path(frame.filename).name}, line {frame.lineno})"


def _refuse(fault: Exception, what: str) -> None:
    if PACKAGE not in Path(_own_frame(fault).filename).resolve().parents:
        raise UserError(f"{what}: {place_of(fault)}.") from fault


def _own_frame(fault: Exception) -> traceback.FrameSummary:
    frames = traceback.extract_tb(fault.__traceback__)
    own = [one for one in frames if not any(part in one.filename for part in LIBRARIES)]
    return (own or frames)[-1]


def _first_line(fault: Exception) -> str:
    lines = str(fault).strip().splitlines()
    return f"{type(fault).__name__}: {lines[0]}" if lines else type(fault).__name__
