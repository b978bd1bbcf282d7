"""Errors that the user's own code raises, as sentences with the line that raised them."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.errors import UserError

PACKAGE = Path(__file__).resolve().parents[1]
LIBRARIES = ("site-packages", "dist-packages")


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
