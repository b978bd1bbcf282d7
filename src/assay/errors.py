"""Whose mistake was it, and what is the cure?"""

from collections.abc import Iterable
from difflib import get_close_matches


class UserError(Exception):
    """Something the user can mend.

    The message repeats what was given and names the cure, because it is all the user will
    see: the command line prints it without a traceback and exits with 2.
    """


def nearest(given: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: the likeliest one meant, and all there are."""
    names = sorted(known)
    close = get_close_matches(given.lower(), names, n=1)
    hint = f"did you mean '{close[0]}'? " if close else ""
    return f"{hint}There are: {', '.join(names) if names else 'none'}"
