"""What does a comparison say on a terminal, in a log and in a pipe?"""

from collections.abc import Iterator, Sequence
from textwrap import wrap

from assay.report.comparison.beside import claims
from assay.report.comparison.sides import Side
from assay.report.record import Claim
from assay.report.words import shown

WIDTH = 80
NAME = 24  # characters of the claim's column
CELL = 27  # of a run's: an effect with its interval


def comparison_lines(sides: Sequence[Side], width: int = WIDTH) -> Iterator[str]:
    """The runs, then claim by run; runs that do not fit beside each other come below."""
    for side in sides:
        yield f"{side.letter}  {shown(side.name)}: {shown(side.described)}"
    known = [row for notion in claims(sides).values() for row in notion]
    rows = [row for row in known if row.tested]
    together = max(1, (width - NAME) // CELL)
    for first in range(0, len(sides), together):
        chosen = range(first, min(first + together, len(sides)))
        yield ""
        yield _line("", [sides[place].letter for place in chosen])
        for row in rows:
            cells = [row.cells[place] for place in chosen]
            yield _line(row.claim, [cell.finding if cell else "-" for cell in cells])
            if any(cell is not None and cell.effect is not None for cell in cells):
                yield _line("", [_effect(cell) for cell in cells])
    untested = [shown(row.claim, NAME) for row in known if not row.tested]
    if untested:
        yield from ("", *wrap(f"Tested in none of them: {', '.join(untested)}.", width))


def _effect(claim: Claim | None) -> str:
    if claim is None or claim.effect is None:
        return ""
    if claim.low is None or claim.high is None:
        return f"{claim.effect:.3f}"
    return f"{claim.effect:.3f} [{claim.low:.3f}, {claim.high:.3f}]"


def _line(name: str, cells: Sequence[str]) -> str:
    return (f"{shown(name, NAME):<{NAME}}" + "".join(f"{cell:<{CELL}}" for cell in cells)).rstrip()
