"""What do several runs say, side by side?

What does a comparison say on a terminal, in a log and in a pipe?

How do several runs become one page that opens anywhere, offline?

It has no script: the figures are pictures, and every number of theirs stands in the table above.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

from markupsafe import Markup

from assay.config import VERSION
from assay.data.files import write_text
from assay.errors import UserError
from assay.report import page as bundle
from assay.report import text as words
from assay.report.charts.intervals import Effect, effect_forest
from assay.report.charts.style import data_uri
from assay.report.comparison import (
    ClaimRow,
    Side,
    claims,
    differing,
    summaries,
    warnings,
)
from assay.report.page import environment
from assay.report.text import shown
from assay.runs.directory import ClaimFinding

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


def _effect(claim: ClaimFinding | None) -> str:
    if claim is None or claim.effect is None:
        return ""
    if claim.low is None or claim.high is None:
        return f"{claim.effect:.3f}"
    return f"{claim.effect:.3f} [{claim.low:.3f}, {claim.high:.3f}]"


def _line(name: str, cells: Sequence[str]) -> str:
    return (f"{shown(name, NAME):<{NAME}}" + "".join(f"{cell:<{CELL}}" for cell in cells)).rstrip()


SUFFIXES = (".html", ".htm")


def write_comparison(sides: Sequence[Side], out: Path) -> Path:
    """Write the page to `out`, whole or not at all."""
    if out.is_dir() or out.suffix.lower() not in SUFFIXES:
        raise UserError(f"--out {out} is no HTML file: name one, such as comparison.html")
    write_text(out, render_comparison(sides))
    return out


def render_comparison(sides: Sequence[Side]) -> str:
    """The page as text: the same runs give the same bytes."""
    found = claims(sides)
    rows = [row for notion in found.values() for row in notion]
    return environment().get_template("compare.html").render(
        css=Markup(bundle.page_style(bundle.BESIDE)),  # our own files: nothing from the data
        sides=sides,
        warnings=list(warnings(sides)),
        differing=differing(sides),
        claims=found,
        tested=any(row.tested for row in rows),
        untested=[row for row in rows if not row.tested],
        notions=words.NOTIONS,
        pictures=list(_pictures(sides, rows)),
        summaries=summaries(sides),
        probe=words.probe,
        version=VERSION,
    )  # fmt: skip


def _pictures(sides: Sequence[Side], rows: Sequence[ClaimRow]) -> Iterator[dict[str, Any]]:
    """A forest for each claim that has an effect in some run."""
    for row in rows:
        lines = [
            Effect(f"{side.letter} {side.name}", cell if cell and cell.effect is not None else None)
            for side, cell in zip(sides, row.cells, strict=True)
        ]
        if any(line.claim for line in lines):
            figure = effect_forest(row.says, lines)
            yield {"row": row, "image": data_uri(figure), "words": figure.words}
