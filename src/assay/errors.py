"""The exception for mistakes that the user can correct, and suggestions for unknown names."""

from collections.abc import Iterable
from difflib import get_close_matches


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
