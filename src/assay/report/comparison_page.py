"""The comparison of several runs, as a page and as lines for a terminal.

The page is one file that opens offline. It has no script: its figures are pictures, and every
number in them stands in the table above.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

from markupsafe import Markup

from assay.config import VERSION
from assay.data.files import write_text
from assay.errors import UserError
from assay.report.charts.intervals import Effect, effect_forest
from assay.report.charts.style import data_uri
from assay.report.comparison import (
    ClaimRow,
    Side,
    claims,
    declarations,
    differences,
    summaries,
    warnings,
)
from assay.report.page import COMPARISON_STYLES, environment, page_style
from assay.report.text import shown
from assay.runs.directory import ClaimFinding
from assay.verdict import NOTIONS

WIDTH = 80
NAME = 24  # characters of the claim's column
CELL = 27  # of a run's column: an effect with its interval


def comparison_lines(sides: Sequence[Side], width: int = WIDTH) -> Iterator[str]:
    """The runs, then findings and effects by claim; runs that do not fit come in a later block."""
    for side in sides:
        yield f"{side.letter}  {shown(side.name)}: {shown(side.description)}"
    all_rows = [row for notion in claims(sides).values() for row in notion]
    rows = [row for row in all_rows if row.tested]
    per_block = max(1, (width - NAME) // CELL)
    for first in range(0, len(sides), per_block):
        block = range(first, min(first + per_block, len(sides)))
        yield ""
        yield _line("", [sides[place].letter for place in block])
        for row in rows:
            cells = [row.cells[place] for place in block]
            yield _line(row.claim, [cell.finding if cell else "-" for cell in cells])
            if any(cell is not None and cell.effect is not None for cell in cells):
                yield _line("", [_effect(cell) for cell in cells])
    untested = [shown(row.claim, NAME) for row in all_rows if not row.tested]
    if untested:
        yield from ("", *wrap(f"Not tested in any of these runs: {', '.join(untested)}.", width))


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
        raise UserError(f"--out {out} is not an HTML file: pass one, such as comparison.html")
    write_text(out, render_comparison(sides))
    return out


def render_comparison(sides: Sequence[Side]) -> str:
    """The page as text. The same runs give the same bytes."""
    by_notion = claims(sides)
    rows = [row for notion in by_notion.values() for row in notion]
    template = environment().get_template("compare.html")
    return template.render(
        css=Markup(page_style(COMPARISON_STYLES)),  # our own files: nothing from the data
        sides=sides,
        warnings=list(warnings(sides)),
        differences=differences(sides),
        claims=by_notion,
        tested=any(row.tested for row in rows),
        untested=[row for row in rows if not row.tested],
        notions=NOTIONS,
        pictures=list(_pictures(sides, rows)),
        summaries=summaries(sides),
        probes=declarations(sides),
        version=VERSION,
    )


def _pictures(sides: Sequence[Side], rows: Sequence[ClaimRow]) -> Iterator[dict[str, Any]]:
    """A forest plot for each claim that has an effect in some run."""
    for row in rows:
        lines = [
            Effect(f"{side.letter} {side.name}", cell if cell and cell.effect is not None else None)
            for side, cell in zip(sides, row.cells, strict=True)
        ]
        if any(line.claim for line in lines):
            figure = effect_forest(row.says, lines)
            yield {"row": row, "image": data_uri(figure), "description": figure.description}
