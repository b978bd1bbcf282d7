"""Is the number a user gave for a generator's knob one the generator can use?"""

import math
from collections.abc import Mapping

from assay.corpora.source import Request
from assay.errors import UserError


def whole_number(
    request: Request, defaults: Mapping[str, str], name: str, *, low: int, high: int
) -> int:
    """The option as an integer in [low, high]."""
    given = request.options.get(name, defaults[name])
    # isdecimal alone takes digits of every script, and int() refuses absurdly long ones.
    fits = given.isascii() and given.isdecimal() and len(given) <= len(str(high))
    if not fits or not low <= int(given) <= high:
        raise UserError(
            f"{name}={given} is not possible: give a whole number from {low} to {high}, "
            f"such as {name}={defaults[name]}."
        )
    return int(given)


def real_number(
    request: Request, defaults: Mapping[str, str], name: str, *, low: float, high: float
) -> float:
    """The option as a finite number in [low, high]."""
    given = request.options.get(name, defaults[name])
    try:
        number = float(given)
    except ValueError:
        number = math.nan
    if not low <= number <= high:  # also refuses nan
        raise UserError(
            f"{name}={given} is not possible: give a number from {low:g} to {high:g}, "
            f"such as {name}={defaults[name]}."
        )
    return number
