"""How is a number written so that digits align and nothing small passes for nothing?"""

import math

MISSING = "–"
MINUS = "−"


def number(value: float | None, places: int = 3) -> str:
    """Three decimals; what rounds to zero without being zero is said to be smaller."""
    if value is None or not math.isfinite(value):
        return MISSING
    sign = MINUS if value < 0 else ""
    if 0 < abs(value) < 0.5 * 10**-places:
        return f"<{10**-places:.{places}f}" if value > 0 else f">{MINUS}{10**-places:.{places}f}"
    return f"{sign}{abs(value):,.{places}f}"


def count(value: int | None) -> str:
    return MISSING if value is None else f"{value:,}"


def percent(value: float) -> str:
    return f"{100 * value:.1f} %"
